import { type RawBuilder, type Selectable, sql } from 'kysely';
import { isFound } from '../engines/postgres/count.ts';
import type { MailsTable } from '../engines/postgres/database.ts';
import type { Db } from '../engines/postgres/open.ts';
import { notOfSuspended } from '../engines/postgres/suspended.ts';
import { DAY_MS } from '../values/duration.ts';

export const MAIL_STATES = ['queued', 'sent', 'failed', 'suppressed', 'held'] as const;
export type MailState = (typeof MAIL_STATES)[number];

/** Why a mail is queued or held. */
export const MAIL_REASONS = [
  ...(['imitation', 'foreign_link', 'stranger_limit', 'invitation_limit', 'recipient_limit', 'brand_limit'] as const),
] as const;
export type MailReason = (typeof MAIL_REASONS)[number];

export type MailRow = Selectable<MailsTable> & {
  brandName: string;
  brandWebsite: string | null;
  /** Hosts of the brand's connected stores. */
  storefrontHosts: string[];
  /** The version of the links to the creator's page; null if the mail does not go to the creator's address. */
  pageVersion: number | null;
};

export interface NewMailRow {
  id: string;
  kind: string;
  toEmail: string;
  creatorId: string | null;
  subjectRow: string;
  params: string;
  /** True if the recipient may have unsubscribed from the brand's mails. */
  mayBeSuppressed: boolean;
  isNews: boolean;
}

/** Matches a lower-case address among those suppressed, or the salted hash that an erasure left of it. */
const isAddress = (email: string | RawBuilder<unknown>) => sql<boolean>`(email = ${email} or email like 'sha256:%'
  and split_part(email, ':', 3) = encode(sha256(convert_to(split_part(email, ':', 2) || ${email}, 'UTF8')), 'hex'))`;

/** Queues mails of a brand in one statement. Those that were queued before, and news of an unfinished sample, are left out. */
export async function insertMails(
  db: Db,
  { brandId, createdAt }: { brandId: string; createdAt: Date },
  mails: readonly NewMailRow[],
): Promise<{ id: string; state: 'queued' | 'suppressed' }[]> {
  if (mails.length === 0) return [];
  const { rows } = await sql<{ id: string; state: 'queued' | 'suppressed' }>`
    insert into mails (id, brand_id, kind, to_email, creator_id, subject_row, params, created_at, state, next_attempt_at)
    select mail.id, ${brandId}, mail.kind, mail.to_email, mail.creator_id, mail.subject_row, mail.params::json,
      ${createdAt}::timestamptz, case when address.suppressed then 'suppressed' else 'queued' end,
      case when address.suppressed then null else ${createdAt}::timestamptz end
    from unnest(
      ${mails.map(({ id }) => id)}::text[], ${mails.map(({ kind }) => kind)}::text[],
      ${mails.map(({ toEmail }) => toEmail)}::text[], ${mails.map(({ creatorId }) => creatorId)}::text[],
      ${mails.map(({ subjectRow }) => subjectRow)}::text[], ${mails.map(({ params }) => params)}::text[],
      ${mails.map(({ mayBeSuppressed }) => mayBeSuppressed)}::boolean[], ${mails.map(({ isNews }) => isNews)}::boolean[])
      as mail (id, kind, to_email, creator_id, subject_row, params, may_be_suppressed, is_news)
    cross join lateral (select mail.may_be_suppressed and exists (select from mail_suppressions
      where brand_id = ${brandId} and ${isAddress(sql`lower(mail.to_email)`)}) as suppressed) as address
    where not (mail.is_news and exists (select from brands where id = ${brandId} and sample = 'filling'))
    on conflict (kind, subject_row, lower(to_email)) do nothing
    returning id, state`.execute(db);
  return rows;
}

export const withBrand = (db: Db) =>
  db
    .selectFrom('mails')
    .innerJoin('brands', 'brands.id', 'mails.brandId')
    .selectAll('mails')
    .select([
      'brands.name as brandName',
      'brands.website as brandWebsite',
      sql<string[]>`array(select storefront_host from integrations where brand_id = mails.brand_id)`.as(
        'storefrontHosts',
      ),
      sql<number | null>`(select link_version from creators where creators.id = mails.creator_id
        and creators.brand_id = mails.brand_id and lower(creators.email) = lower(mails.to_email))`.as('pageVersion'),
    ]);

/** Claims the due mails until `claimedUntil`, so that other senders leave them alone until then. */
export async function claimDueMails(db: Db, now: Date, claimedUntil: Date, limit: number): Promise<MailRow[]> {
  const claimedRows = await db
    .updateTable('mails')
    .set((eb) => ({ attempts: eb('attempts', '+', 1), claimedUntil }))
    .where(({ eb, selectFrom }) =>
      eb(
        'id',
        'in',
        selectFrom('mails')
          .select('id')
          .where('state', '=', 'queued')
          .where('admittedAt', 'is not', null)
          .where('nextAttemptAt', '<=', now)
          .where(notOfSuspended('mails.brandId'))
          .where((due) => due.or([due('claimedUntil', 'is', null), due('claimedUntil', '<=', now)]))
          .orderBy('nextAttemptAt')
          .limit(limit)
          .forUpdate()
          .skipLocked(),
      ),
    )
    .returning('id')
    .execute();
  if (claimedRows.length === 0) return [];
  return await withBrand(db)
    .where(
      'mails.id',
      'in',
      claimedRows.map(({ id }) => id),
    )
    .execute();
}

/** Records the outcome of one attempt. `attempts` identifies the claim: a sender that lost its claim writes nothing. */
export async function recordAttempt(
  db: Db,
  { id, attempts }: { id: string; attempts: number },
  result: Pick<MailsTable, 'state' | 'nextAttemptAt' | 'messageId' | 'error' | 'sentAt'>,
): Promise<void> {
  await db
    .updateTable('mails')
    .set({ ...result, claimedUntil: null })
    .where('id', '=', id)
    .where('attempts', '=', attempts)
    .where('state', '=', 'queued')
    .execute();
}

export async function findMail(db: Db, id: string): Promise<MailRow | undefined> {
  return await withBrand(db).where('mails.id', '=', id).executeTakeFirst();
}

/** Lists mails of one brand or of all, newest first. */
export async function listMails(db: Db, brandId: string | undefined, limit: number): Promise<MailRow[]> {
  const mails = brandId === undefined ? withBrand(db) : withBrand(db).where('mails.brandId', '=', brandId);
  return await mails.orderBy('mails.createdAt', 'desc').orderBy('mails.id', 'desc').limit(limit).execute();
}

/** The states of the mails of one kind, by the row that each is about. */
export async function listMailStates(db: Db, brandId: string, kind: string, subjectRows: readonly string[]) {
  if (subjectRows.length === 0) return [];
  return await db
    .selectFrom('mails')
    .select(['subjectRow', 'toEmail', 'state', 'reason', 'sentAt', 'error'])
    .where('brandId', '=', brandId)
    .where('kind', '=', kind)
    .where('subjectRow', 'in', subjectRows)
    .execute();
}

export const isSuppressed = (db: Db, brandId: string, email: string): Promise<boolean> =>
  isFound(
    db
      .selectFrom('mailSuppressions')
      .select('brandId')
      .where('brandId', '=', brandId)
      .where(isAddress(email.toLowerCase())),
  );

/** Returns false if the address was already suppressed. */
export const insertSuppression = (db: Db, brandId: string, email: string, createdAt: Date): Promise<boolean> =>
  isFound(
    db
      .insertInto('mailSuppressions')
      .values({ brandId, email: email.toLowerCase(), createdAt })
      .onConflict((conflict) => conflict.columns(['brandId', 'email']).doNothing())
      .returning('brandId'),
  );

/** The number of mails in each state, and when the oldest waiting one was due. */
export async function countMails(db: Db) {
  return await db
    .selectFrom('mails')
    .select([
      'state',
      (eb) => eb.fn.countAll<number>().as('total'),
      (eb) => eb.fn.min('nextAttemptAt').as('oldestDueAt'),
    ])
    .groupBy('state')
    .execute();
}

/** The salted hash of an address in lower case, as an erasure leaves it of those that want no mails. */
const hashed = (salt: RawBuilder<unknown>, email: RawBuilder<unknown>) =>
  sql<string>`'sha256:' || ${salt} || ':' || encode(sha256(convert_to(${salt} || lower(${email}), 'UTF8')), 'hex')`;

/**
 * Deletes at most `limit` mails that were sent or suppressed before this time, and keeps of each by what its link stops the
 * brand's mails. Returns how many.
 */
async function deleteOldMails(db: Db, before: Date, now: Date, limit: number): Promise<number> {
  const { rows } = await sql<{ total: number }>`
    with gone as (
      delete from mails where id in (
        select id from mails where state in ('sent', 'suppressed') and coalesce(sent_at, created_at) < ${before}
        limit ${limit})
      returning id, brand_id, to_email, gen_random_uuid()::text as salt),
    kept as (
      insert into mail_stops (id, brand_id, address, forgotten_at)
      select id, brand_id, ${hashed(sql`salt`, sql`to_email`)}, ${now}::timestamptz from gone
      on conflict (id) do nothing)
    select count(*)::int as total from gone`.execute(db);
  return rows[0]?.total ?? 0;
}

/** The brand of a mail that was deleted, and its address as a salted hash. */
export const findStop = (db: Db, id: string) =>
  db.selectFrom('mailStops').select(['id', 'brandId', 'address']).where('id', '=', id).executeTakeFirst();

/** True if the address of a hash is suppressed, under that hash or as it is written. */
export const isStopped = (db: Db, brandId: string, address: string): Promise<boolean> => {
  const salt = address.split(':')[1] ?? '';
  return isFound(
    db
      .selectFrom('mailSuppressions')
      .select('brandId')
      .where('brandId', '=', brandId)
      .where((eb) => eb.or([eb('email', '=', address), eb(hashed(sql`${salt}::text`, sql`email`), '=', address)])),
  );
};

const KEPT_MS = 30 * DAY_MS;
/** Recipients keep mails: the link that stops them works for longer than a year after the mail itself is deleted. */
const STOPS_KEPT_MS = 400 * DAY_MS;
const BATCH = 1_000;

/**
 * Deletes sent mails with their addresses and texts. Failed mails are kept: they show who got nothing, and which
 * message of a conversation was not mailed.
 */
export async function forgetMails(db: Db, now: Date): Promise<void> {
  const before = new Date(now.getTime() - KEPT_MS);
  while ((await deleteOldMails(db, before, now, BATCH)) === BATCH);
  await db
    .deleteFrom('mailStops')
    .where('forgottenAt', '<', new Date(now.getTime() - STOPS_KEPT_MS))
    .execute();
}
