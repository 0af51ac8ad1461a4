import type { Insertable, Updateable } from 'kysely';
import type { CommissionsTable } from '../../engines/postgres/attribution-tables.ts';
import type { Db } from '../../engines/postgres/open.ts';
import { type CommissionFacts, type CommissionRow, withFacts } from './queries.ts';

interface OwnOrder {
  brandId: string;
  /** Our own id of the order. */
  id: string;
}

/**
 * The creator of the order's commission, if the order's facts decide what is owed: the commission is approved or paid, or
 * may be again. Otherwise undefined.
 */
export async function findOwedOf(db: Db, { brandId, id }: OwnOrder): Promise<string | undefined> {
  const row = await db
    .selectFrom('commissions')
    .select('creatorId')
    .where('brandId', '=', brandId)
    .where('orderId', '=', id)
    .where((eb) => eb.or([eb('status', 'in', ['approved', 'paid']), eb('rejectedFrom', '=', 'approved')]))
    .executeTakeFirst();
  return row?.creatorId;
}

/** The order's commission, locked until the transaction ends: a review or payment of it comes before or after. */
export async function lockCommissionOf(db: Db, { brandId, id }: OwnOrder): Promise<CommissionRow | undefined> {
  return await db
    .selectFrom('commissions')
    .selectAll()
    .where('brandId', '=', brandId)
    .where('orderId', '=', id)
    .forUpdate()
    .executeTakeFirst();
}

/** Inserts, and reads with its facts in the same statement: within it, `commissions` are those that it inserted. */
export async function insertCommission(db: Db, row: Insertable<CommissionsTable>): Promise<CommissionFacts> {
  const inserted = db.with('commissions', (cte) => cte.insertInto('commissions').values(row).returningAll());
  return await withFacts(inserted).executeTakeFirstOrThrow();
}

export async function updateCommission(
  db: Db,
  { brandId, id }: Pick<CommissionRow, 'brandId' | 'id'>,
  change: Updateable<CommissionsTable>,
): Promise<void> {
  await db.updateTable('commissions').set(change).where('brandId', '=', brandId).where('id', '=', id).execute();
}

export async function findCommissionOf(db: Db, { brandId, id }: OwnOrder) {
  return await db
    .selectFrom('commissions')
    .selectAll()
    .where('brandId', '=', brandId)
    .where('orderId', '=', id)
    .executeTakeFirst();
}
