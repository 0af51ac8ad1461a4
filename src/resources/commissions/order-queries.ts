import { type Insertable, sql, type Updateable } from 'kysely';
import type { CommissionsTable } from '../../engines/postgres/attribution-tables.ts';
import type { Db } from '../../engines/postgres/open.ts';
import { insertOf } from '../../engines/postgres/rows.ts';
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

/** Its flags are given as a value, not as text. */
export type NewCommission = Omit<Insertable<CommissionsTable>, 'fraudFlags'> & { fraudFlags: unknown };

/** Inserts, and reads with their facts in the same statement: within it, `commissions` are those that it inserted. */
function inserted(db: Db, rows: readonly NewCommission[]) {
  const those = sql<CommissionRow>`(${insertOf('commissions', rows)} returning *)`;
  return withFacts(db.with('commissions', () => those));
}

export const insertCommission = async (db: Db, row: NewCommission): Promise<CommissionFacts> =>
  await inserted(db, [row]).executeTakeFirstOrThrow();

/** Unordered. */
export const insertCommissions = async (db: Db, rows: readonly NewCommission[]): Promise<CommissionFacts[]> =>
  await inserted(db, rows).execute();

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
