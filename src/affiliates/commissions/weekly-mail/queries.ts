import { sql } from 'kysely';
import type { ApprovalsToMailTable } from '../../../kit/engines/postgres/database.ts';
import type { Db } from '../../../kit/engines/postgres/open.ts';

/** Notes the creators of commissions that were just approved. A sample sends no mail. */
export async function noteApproved(db: Db, brandId: string, ids: readonly string[], dueAt: Date): Promise<void> {
  await sql`
    insert into approvals_to_mail (brand_id, creator_id, due_at)
    select distinct brand_id, creator_id, ${dueAt}::timestamptz from commissions
    where brand_id = ${brandId} and id = any(${ids}::text[])
      and not exists (select from brands where id = ${brandId} and sample is not null)
    on conflict do nothing`.execute(db);
}

export type DueMail = ApprovalsToMailTable;

/** Those that are due, oldest first. */
export async function listDueMails(db: Db, now: Date, limit: number): Promise<DueMail[]> {
  return await db
    .selectFrom('approvalsToMail')
    .selectAll()
    .where('dueAt', '<=', now)
    .orderBy('dueAt')
    .orderBy('creatorId')
    .limit(limit)
    .execute();
}

/** Returns false if another process took it. */
export async function takeMail(db: Db, { brandId, creatorId, dueAt }: DueMail): Promise<boolean> {
  const { numDeletedRows } = await db
    .deleteFrom('approvalsToMail')
    .where('brandId', '=', brandId)
    .where('creatorId', '=', creatorId)
    .where('dueAt', '=', dueAt)
    .executeTakeFirst();
  return numDeletedRows > 0n;
}

/** What was first approved in a span of time and still counts, for each currency. */
export async function sumApproved(
  db: Db,
  { brandId, creatorId }: Pick<DueMail, 'brandId' | 'creatorId'>,
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
