import { sql } from 'kysely';
import { z } from 'zod';
import type { ApprovalsToMailTable } from '../../kit/engines/postgres/database.ts';
import type { Db } from '../../kit/engines/postgres/open.ts';
import { dayText } from '../../kit/html/times.ts';
import { type MailsOf, mails } from '../../kit/mail/kinds.ts';
import { queueMail } from '../../kit/mail/queue.ts';
import { template } from '../../kit/mail/template.ts';
import type { Context } from '../../kit/operation/context.ts';
import type { Job } from '../../kit/operation/job.ts';
import { getTimeZone } from '../../kit/operation/local-days.ts';
import { inWork, type Work } from '../../kit/operation/work.ts';
import { formatMoney } from '../../kit/values/format.ts';
import { dayIn, daysAfter, timeIn, toDay, toMonday } from '../../kit/values/time-zone.ts';
import { getCreator } from '../../workflow/creators/creators.ts';

const BATCH = 100;
const WEEK_DAYS = 7;

export const mailApprovedCommissions: Job = {
  name: 'mail-approved-commissions',
  everyMs: 60_000,
  asksFor: 'weeks that have ended in which commissions were approved',
  run: mailApproved,
};

/**
 * Schedules one mail at the end of the brand's week for each creator of these newly approved commissions. A mail that ends
 * within a day of it, as of another time zone, has them too. A sample sends none.
 */
export async function mailAtEndOfWeek({ db, brandId, now }: Work, ids: readonly string[]): Promise<void> {
  if (ids.length === 0) return;
  const timeZone = await getTimeZone(db, brandId);
  const nextMonday = timeIn(timeZone, daysAfter(toMonday(dayIn(timeZone, now)), WEEK_DAYS));
  await sql`
    insert into approvals_to_mail (brand_id, creator_id, due_at)
    select distinct brand_id, creator_id, ${nextMonday}::timestamptz from commissions
    where brand_id = ${brandId} and id = any(${ids}::text[])
      and not exists (select from approvals_to_mail as other where other.brand_id = commissions.brand_id
        and other.creator_id = commissions.creator_id and other.due_at > ${now}
        and abs(extract(epoch from other.due_at - ${nextMonday}::timestamptz)) < 86400)
      and not exists (select from brands where id = ${brandId} and sample is not null)
    on conflict do nothing`.execute(db);
}

async function mailOne({ postgres, clock }: Context, dueMail: ApprovalsToMailTable): Promise<void> {
  const { brandId, creatorId, dueAt: until } = dueMail;
  const actor = { brandId, keyId: null, operation: 'mail_approved', requestId: null };
  await inWork(postgres.db, clock, actor, async (work) => {
    const { numDeletedRows } = await work.db
      .deleteFrom('approvalsToMail')
      .where('brandId', '=', brandId)
      .where('creatorId', '=', creatorId)
      .where('dueAt', '=', until)
      .executeTakeFirst();
    // Another process took the mail.
    if (numDeletedRows === 0n) return;
    const timeZone = await getTimeZone(work.db, brandId);
    const last = dayIn(timeZone, new Date(until.getTime() - 1));
    const from = timeIn(timeZone, daysAfter(dayIn(timeZone, until), -WEEK_DAYS));
    const sums = await sumApproved(work.db, dueMail, { from, until });
    const { email: to } = await getCreator(work.db, brandId, creatorId);
    if (to === null || sums.length === 0) return;
    await queueMail(work, {
      kind: 'commissions_approved',
      to,
      subjectRow: `${creatorId}:${toDay(until)}`,
      creatorId,
      params: {
        from: dayIn(timeZone, from),
        to: last,
        sums: sums.map(({ amountMinor: amount_minor, ...sum }) => ({ ...sum, amount_minor })),
      },
    });
  });
}

/** Mails the approvals of past weeks. It may run twice: taking a row and queueing its mail are one transaction. */
export async function mailApproved(context: Context): Promise<void> {
  const { postgres, clock, failures } = context;
  for (;;) {
    const dueMails = await postgres.db
      .selectFrom('approvalsToMail')
      .selectAll()
      .where('dueAt', '<=', clock.now())
      .orderBy('dueAt')
      .orderBy('creatorId')
      .limit(BATCH)
      .execute();
    let mailedCount = 0;
    for (const one of dueMails) {
      try {
        await mailOne(context, one);
        mailedCount += 1;
      } catch (error) {
        failures.failed('mailing approved commissions', error, { brandId: one.brandId });
      }
    }
    if (dueMails.length < BATCH || mailedCount === 0) return;
  }
}

/** Tells a creator everything that was approved for them in a week. */
const commissionsApproved = template({
  audience: 'creator',
  isNews: true,
  params: z.object({
    from: z.string(),
    to: z.string(),
    sums: z.array(z.object({ currency: z.string(), commissions: z.int(), amount_minor: z.int() })).min(1),
  }),
  write: ({ from, to, sums }, { brandName }) => ({
    subject: `${brandName} approved ${sums.map(({ currency, amount_minor }) => formatMoney(amount_minor, currency)).join(' and ')} for you`,
    paragraphs: [
      `These commissions were approved from ${dayText(from)} to ${dayText(to)}. They will be part of one of your next payouts.`,
    ],
    facts: sums.map(({ currency, commissions, amount_minor }) => [
      commissions === 1 ? '1 commission' : `${commissions} commissions`,
      formatMoney(amount_minor, currency),
    ]),
  }),
});

export const weeklyMails = mails({ commissions_approved: commissionsApproved });

declare module '../../kit/mail/kinds.ts' {
  interface Mails extends MailsOf<typeof weeklyMails> {}
}

/** Sums the commissions that were first approved in a period and are not rejected since, by currency. */
async function sumApproved(
  db: Db,
  { brandId, creatorId }: Pick<ApprovalsToMailTable, 'brandId' | 'creatorId'>,
  { from, until }: { from: Date; until: Date },
) {
  return await db
    .selectFrom('commissions')
    .select(['currency', ({ fn }) => fn.countAll<number>().as('commissions')])
    .select(sql<number>`sum(commission_minor)::bigint`.as('amountMinor'))
    .where('brandId', '=', brandId)
    .where('creatorId', '=', creatorId)
    .where('approvedAt', '>=', from)
    .where('approvedAt', '<', until)
    .where('status', 'in', ['approved', 'paid'])
    .groupBy('currency')
    .orderBy('currency')
    .execute();
}
