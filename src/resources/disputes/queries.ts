import { type Insertable, type Selectable, sql, type Updateable } from 'kysely';
import type { ListWindow, Page } from '../../api/page.ts';
import { inBatches } from '../../engines/postgres/batches.ts';
import type { DisputesTable } from '../../engines/postgres/dispute-tables.ts';
import type { Db, Exports } from '../../engines/postgres/open.ts';
import { type Cut, cutTo, inWindow } from '../../engines/postgres/window.ts';
import { notFound } from '../../values/errors.ts';

export type DisputeRow = Selectable<DisputesTable>;

export interface DisputeWhere extends ListWindow {
  status?: DisputeRow['status'] | undefined;
  creator_email?: string | undefined;
  line_id?: string | undefined;
}

const withFacts = (db: Db, brandId: string) =>
  db
    .selectFrom('disputes')
    .innerJoin('creators', 'creators.id', 'disputes.creatorId')
    .leftJoin('commissions', (join) =>
      join.onRef('commissions.id', '=', 'disputes.lineId').onRef('commissions.brandId', '=', 'disputes.brandId'),
    )
    .leftJoin('orders', 'orders.id', 'commissions.orderId')
    .selectAll('disputes')
    .select(['creators.email as creatorEmail', 'creators.name as creatorName', 'orders.orderId as storeOrderId'])
    .where('disputes.brandId', '=', brandId);

export type DisputeFacts = Awaited<ReturnType<typeof getDispute>>;

function matching(db: Db, brandId: string, where: DisputeWhere) {
  const { status, creator_email, line_id } = where;
  let query = withFacts(db, brandId).where(inWindow('disputes.createdAt', where));
  if (status !== undefined) query = query.where('disputes.status', '=', status);
  if (line_id !== undefined) query = query.where('disputes.lineId', '=', line_id);
  if (creator_email === undefined) return query;
  return query.where(sql`lower(creators.email)`, '=', creator_email.toLowerCase());
}

async function selectDisputes(db: Db, brandId: string, where: DisputeWhere, cut: Cut) {
  const order = { time: 'disputes.createdAt', id: 'disputes.id', sort: where.sort };
  return await cutTo(matching(db, brandId, where), order, cut).execute();
}

export async function listDisputes(db: Db, brandId: string, where: DisputeWhere, page: Page) {
  const { total } = await matching(db, brandId, where)
    .clearSelect()
    .select(({ fn }) => fn.countAll<number>().as('total'))
    .executeTakeFirstOrThrow();
  return { rows: await selectDisputes(db, brandId, where, page), total };
}

export function eachDispute(exports: Exports, brandId: string, where: DisputeWhere) {
  return inBatches<DisputeFacts>(exports, brandId, (trx, last, limit) =>
    selectDisputes(trx, brandId, where, { limit, after: last && { at: last.createdAt, id: last.id } }),
  );
}

export async function getDispute(db: Db, brandId: string, id: string) {
  const row = await withFacts(db, brandId).where('disputes.id', '=', id).executeTakeFirst();
  if (!row) throw notFound('dispute');
  return row;
}

/** The row, locked until the transaction ends. */
export async function lockDispute(db: Db, brandId: string, id: string): Promise<DisputeRow> {
  const row = await db
    .selectFrom('disputes')
    .selectAll()
    .where('brandId', '=', brandId)
    .where('id', '=', id)
    .forUpdate()
    .executeTakeFirst();
  if (!row) throw notFound('dispute');
  return row;
}

/** Everything that was asked on a statement, or on a payout's, the oldest first. */
export async function listQuestions(db: Db, brandId: string, on: { statementId: string } | { payoutId: string }) {
  const query = db.selectFrom('disputes').selectAll().where('brandId', '=', brandId).orderBy('createdAt').orderBy('id');
  return 'payoutId' in on
    ? await query.where('payoutId', '=', on.payoutId).execute()
    : await query.where('statementId', '=', on.statementId).execute();
}

/** Undefined when a question about the line is open already. */
export async function insertDispute(db: Db, row: Insertable<DisputesTable>): Promise<DisputeRow | undefined> {
  return await db
    .insertInto('disputes')
    .values(row)
    .onConflict((conflict) => conflict.doNothing())
    .returningAll()
    .executeTakeFirst();
}

export async function updateDispute(
  db: Db,
  brandId: string,
  id: string,
  change: Updateable<DisputesTable>,
): Promise<DisputeRow> {
  return await db
    .updateTable('disputes')
    .set(change)
    .where('brandId', '=', brandId)
    .where('id', '=', id)
    .returningAll()
    .executeTakeFirstOrThrow();
}

/** Where a brand is written to, if it told. */
export async function findContactEmail(db: Db, brandId: string): Promise<string | null> {
  const row = await db.selectFrom('brands').select('contactEmail').where('id', '=', brandId).executeTakeFirst();
  return row?.contactEmail ?? null;
}

/** The version that the links of a statement have now. */
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
