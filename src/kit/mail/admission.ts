import { sql } from 'kysely';
import type { PageLinks } from '../access/page-tokens.ts';
import type { Db, Postgres } from '../engines/postgres/open.ts';
import { transact } from '../engines/postgres/transaction.ts';
import type { Clock } from '../values/clock.ts';
import type { Config } from '../values/config.ts';
import { DAY_MS, HOUR_MS } from '../values/duration.ts';
import { foreignHosts, imitates, linksToImitation } from './imitation.ts';
import { findTemplate, isStoppable, newsKinds } from './kinds.ts';
import { type MailReason, type MailRow, withBrand } from './mails.ts';
import { renderMail } from './render.ts';

/** Mails that are due and were never checked, oldest first. */
async function listUnjudgedMails(db: Db, now: Date, limit: number): Promise<MailRow[]> {
  return await withBrand(db)
    .where('mails.state', '=', 'queued')
    .where('mails.admittedAt', 'is', null)
    .where('mails.nextAttemptAt', '<=', now)
    .orderBy('mails.nextAttemptAt')
    .orderBy('mails.id')
    .limit(limit)
    .execute();
}

interface MailRisk {
  isImitation: boolean;
  hasForeignLink: boolean;
  /** The recipient is not the brand itself. */
  isOutward: boolean;
  limits: Config['mailLimits'];
}

interface AdmissionTimes {
  now: Date;
  /** Mails admitted after this time count towards the limits. */
  since: Date;
  establishedBefore: Date;
  /** The time of the next check of a delayed mail. */
  again: Date;
}

/**
 * Proof that the owner of the address reads its mails: a reply, an opened brief, a confirmed parcel, work submitted
 * outside a contract, or a confirmed application. A signature does not count, because the API shows that link to the
 * brand.
 */
const HAS_ANSWERED = sql`(exists (
    select from creators where creators.brand_id = m.brand_id and lower(creators.email) = lower(m.to_email) and (
      exists (select from conversations c join messages on messages.conversation_id = c.id and messages.sender = 'creator'
        where c.brand_id = m.brand_id and c.creator_id = creators.id)
      or exists (select from brief_recipients r where r.brand_id = m.brand_id and r.creator_id = creators.id
        and r.viewed_at is not null)
      or exists (select from shipments s where s.brand_id = m.brand_id and s.creator_id = creators.id
        and s.confirmed_at is not null)
      or exists (select from deliverables d join deliverable_submissions on deliverable_submissions.deliverable_id = d.id
        where d.brand_id = m.brand_id and d.creator_id = creators.id and d.contract_id is null)))
  or exists (select from applications a join application_changes on application_changes.application_id = a.id
    where a.brand_id = m.brand_id and lower(a.creator_email) = lower(m.to_email)
      and application_changes.confirmed_at is not null))`;

/**
 * Decides on one mail in one statement: it is admitted and counted, delayed by an hour, or held. The two locks
 * serialise decisions on mails of a brand and on mails to an address.
 */
async function admitMail(
  db: Db,
  { id, brandId, toEmail }: MailRow,
  facts: MailRisk,
  times: AdmissionTimes,
): Promise<void> {
  const { isImitation, hasForeignLink, isOutward, limits } = facts;
  const { now, since, establishedBefore, again } = times;
  const countOthers = sql`select count(*) from mails o where o.admitted_at > ${since} and o.kind <> 'sign_in'`;
  // News counts towards the limits of news alone, so that five hundred codes delay no contract, brief or message.
  const alike = sql`(m.kind = any(${newsKinds()}::text[]) or o.kind <> all(${newsKinds()}::text[]))`;
  await transact(db, async (trx) => {
    await sql`select pg_advisory_xact_lock(hashtextextended(${`mails of ${brandId}`}, 0)),
      pg_advisory_xact_lock(hashtextextended(${`mails to ${toEmail.toLowerCase()}`}, 0))`.execute(trx);
    await sql`
      with facts as (
        select m.id, m.kind, ${HAS_ANSWERED} as is_known, b.mail_trusted_at is not null as is_trusted,
          case when b.mail_trusted_at is not null or b.created_at < ${establishedBefore}
            then ${limits.establishedBrand}::int else ${limits.brand}::int end as most_of_brand,
          (${countOthers} and o.brand_id = m.brand_id and ${alike}) as of_brand,
          (${countOthers} and o.brand_id = m.brand_id and o.kind = 'invitation') as invitations,
          (${countOthers} and lower(o.to_email) = lower(m.to_email)) as to_address,
          (${countOthers} and lower(o.to_email) = lower(m.to_email) and o.brand_id = m.brand_id
            and ${alike}) as of_brand_to_address
        from mails m join brands b on b.id = m.brand_id
        where m.id = ${id} and m.state = 'queued' and m.admitted_at is null
      ), judged as (
        select id, ${isOutward} and not is_known as to_stranger, case
          when kind = 'sign_in' then null
          when ${isImitation} and not is_trusted then 'imitation'
          when ${hasForeignLink} and not is_trusted and not is_known then 'foreign_link'
          when ${isOutward} and not is_known and of_brand_to_address >= ${limits.stranger}::int then 'stranger_limit'
          when kind = 'invitation' and invitations >= ${limits.invitations}::int then 'invitation_limit'
          when to_address >= ${limits.recipient}::int then 'recipient_limit'
          when of_brand >= most_of_brand then 'brand_limit' end as reason
        from facts
      )
      update mails set to_stranger = judged.to_stranger, reason = judged.reason,
        admitted_at = case when judged.reason is null then ${now}::timestamptz end,
        state = case when judged.reason in ('recipient_limit', 'brand_limit') or judged.reason is null
          then 'queued' else 'held' end,
        next_attempt_at = case when judged.reason is null then next_attempt_at
          when judged.reason in ('recipient_limit', 'brand_limit') then ${again}::timestamptz end
      from judged where mails.id = judged.id`.execute(trx);
  });
}

/** Releases held or delayed mails: these, or all held mails of a brand. Returns how many. */
export async function releaseMails(db: Db, which: { ids: readonly string[] } | { brandId: string }, now: Date) {
  const { numUpdatedRows } = await db
    .updateTable('mails')
    .set({ state: 'queued', reason: null, admittedAt: now, nextAttemptAt: now })
    .where('admittedAt', 'is', null)
    .$if('ids' in which, (query) => query.where('id', 'in', 'ids' in which ? which.ids : []))
    .$if('brandId' in which, (query) => query.where('brandId', '=', 'brandId' in which ? which.brandId : ''))
    .where('reason', 'is not', null)
    .executeTakeFirst();
  return Number(numUpdatedRows);
}

export async function setMailTrust(db: Db, brandId: string, trustedAt: Date | null): Promise<void> {
  await db.updateTable('brands').set({ mailTrustedAt: trustedAt }).where('id', '=', brandId).execute();
}

/** The engines that checking a mail needs. */
export interface JudgingEngines {
  postgres: Postgres;
  clock: Clock;
  config: Pick<Config, 'linksUrl' | 'apiUrl' | 'mailLimits'>;
  pageLinks: PageLinks;
}

const ESTABLISHED_AFTER_MS = 30 * DAY_MS;

/** The text for each reason, for operators and brands. */
export const REASONS: Readonly<Record<MailReason, string>> = {
  imitation: 'a name or link in it looks like that of another company',
  foreign_link: 'it links to a host that is not the brand’s, and the address has never answered the brand',
  stranger_limit: 'the address has never answered the brand and got several of its mails within the hour',
  invitation_limit: 'the brand sent too many invitations within the hour',
  recipient_limit: 'the address got too many mails within the hour; it is tried again an hour later',
  brand_limit: 'the brand sent too many mails within the hour; it is tried again an hour later',
};

/** True if the mail leaves the brand. */
function isOutward({ kind }: MailRow): boolean {
  const template = findTemplate(kind);
  return template !== undefined && isStoppable(template);
}

/** Reasons in the text to hold a mail, regardless of its recipient and of limits. */
function findSuspicions({ pageLinks, config }: JudgingEngines, row: MailRow) {
  const nothing = { isImitation: false, hasForeignLink: false };
  // A mail that cannot be rendered fails when it is sent, with the reason.
  if (!isOutward(row)) return nothing;
  const { subject, text } = renderMail(row, pageLinks);
  const fullText = `${subject}\n${text}`;
  const own = [config.linksUrl, config.apiUrl, row.brandWebsite, ...row.storefrontHosts];
  const inviter = row.kind === 'invitation' ? subject : '';
  return {
    isImitation:
      imitates(row.brandName) || imitates(inviter) || linksToImitation(`${fullText}\n${row.brandWebsite ?? ''}`),
    hasForeignLink: foreignHosts(fullText, own).length > 0,
  };
}

function judgeMail(engines: JudgingEngines, row: MailRow) {
  try {
    return findSuspicions(engines, row);
  } catch {
    return { isImitation: false, hasForeignLink: false };
  }
}

/**
 * Checks up to `limit` due mails that were not checked before: each is admitted, delayed by an hour, or held. Returns
 * how many. Every mail passes this check before it is sent, so limits are exact with any number of senders.
 */
export async function admitDueMails(engines: JudgingEngines, limit: number): Promise<number> {
  const { postgres, clock, config } = engines;
  const now = clock.now();
  const dueMails = await listUnjudgedMails(postgres.db, now, limit);
  const since = new Date(now.getTime() - HOUR_MS);
  const establishedBefore = new Date(now.getTime() - ESTABLISHED_AFTER_MS);
  const again = new Date(now.getTime() + HOUR_MS);
  for (const row of dueMails) {
    const facts = { ...judgeMail(engines, row), isOutward: isOutward(row), limits: config.mailLimits };
    await admitMail(postgres.db, row, facts, { now, since, establishedBefore, again });
  }
  return dueMails.length;
}
