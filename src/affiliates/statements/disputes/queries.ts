import type { Insertable, Selectable, Updateable } from 'kysely';
import type { DisputesTable } from '../../../kit/engines/postgres/database.ts';
import { listing } from '../../../kit/engines/postgres/listing.ts';
import type { Db } from '../../../kit/engines/postgres/open.ts';
import { lockOwn, updateOwn } from '../../../kit/engines/postgres/own.ts';
import type { ListWindow } from '../../../kit/values/page.ts';
import { given } from '../../../kit/values/patch.ts';
import { isOfCreator } from '../../../workflow/creators/queries.ts';

export type DisputeRow = Selectable<DisputesTable>;

export interface DisputeWhere extends ListWindow {
  status?: DisputeRow['status'] | undefined;
  creator_email?: string | undefined;
  line_id?: string | undefined;
}

const withFacts = (db: Db) =>
  db
    .selectFrom('disputes')
    .innerJoin('creators', 'creators.id', 'disputes.creatorId')
    .leftJoin('commissions', (join) =>
      join.onRef('commissions.id', '=', 'disputes.lineId').onRef('commissions.brandId', '=', 'disputes.brandId'),
    )
    .leftJoin('orders', 'orders.id', 'commissions.orderId')
    .selectAll('disputes')
    .select(['creators.email as creatorEmail', 'creators.name as creatorName', 'orders.orderId as storeOrderId']);

export type DisputeFacts = Awaited<ReturnType<typeof getDispute>>;

export const disputes = listing({
  noun: 'dispute',
  table: 'disputes',
  time: 'createdAt',
  changed: ['createdAt', 'updatedAt', 'answeredAt'],
  matching: (db, brandId, { status, creator_email, line_id }: DisputeWhere) =>
    db
      .selectFrom('disputes')
      .where((eb) => eb.and(given({ status, lineId: line_id })))
      .where(isOfCreator('disputes.creatorId', brandId, creator_email)),
  rows: withFacts,
});
export const { get: getDispute } = disputes;

export const lockDispute = (db: Db, brandId: string, id: string): Promise<DisputeRow> =>
  lockOwn(db.selectFrom('disputes').selectAll(), 'dispute', brandId, id);

/** All questions on a statement or on a payout's statement, oldest first. */
export async function listQuestions(db: Db, brandId: string, on: { statementId: string } | { payoutId: string }) {
  const query = db.selectFrom('disputes').selectAll().where('brandId', '=', brandId).orderBy('createdAt').orderBy('id');
  return 'payoutId' in on
    ? await query.where('payoutId', '=', on.payoutId).execute()
    : await query.where('statementId', '=', on.statementId).execute();
}

/** Undefined if a question about the line is already open. */
export async function insertDispute(db: Db, row: Insertable<DisputesTable>): Promise<DisputeRow | undefined> {
  return await db
    .insertInto('disputes')
    .values(row)
    .onConflict((conflict) => conflict.doNothing())
    .returningAll()
    .executeTakeFirst();
}

export const updateDispute = (db: Db, brandId: string, id: string, change: Updateable<DisputesTable>) =>
  updateOwn(db.updateTable('disputes').set(change).returningAll(), brandId, id);

/** The current version of a statement's links. */
export async function findLinkVersion(db: Db, brandId: string, statementId: string | null): Promise<number> {
  if (statementId === null) return 0;
  const row = await db
    .selectFrom('statements')
    .select('linkVersion')
    .where('brandId', '=', brandId)
    .where('id', '=', statementId)
    .executeTakeFirst();
  return row?.linkVersion ?? 0;
}
