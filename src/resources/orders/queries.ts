import { type Insertable, type Selectable, sql, type Updateable } from 'kysely';
import type {
  CommissionAdjustmentsTable,
  CommissionsTable,
  OrdersTable,
} from '../../engines/postgres/attribution-tables.ts';
import type { Db } from '../../engines/postgres/open.ts';
import { StoredPostings } from '../../ledger/entry.ts';
import type { Posted } from './restate.ts';
import type { OrderSource } from './schema.ts';

export type OrderRow = Selectable<OrdersTable>;
export type CommissionRow = Selectable<CommissionsTable>;

/** Which order of which store. */
export interface OrderKey {
  brandId: string;
  integrationId: string;
  orderId: string;
}

export const keyOf = ({ id, brandId }: OrderSource, orderId: string): OrderKey => ({
  brandId,
  integrationId: id,
  orderId,
});

/** What a delivery says of its order as a whole. */
export interface HeadFacts {
  deletedAt: Date | null;
  /** As of when it told of all refunds. */
  refundsListedAt: Date | null;
}

export interface OrderHead {
  /** Nothing was ever told of the order. */
  isNew: boolean;
  deletedAt: Date | null;
}

/**
 * Deliveries of one order follow one another from here to the end of their transactions, also when a refund or a deletion
 * comes before its order.
 */
export async function holdOrder(db: Db, key: OrderKey, told: HeadFacts): Promise<OrderHead> {
  return await db
    .insertInto('orderHeads')
    .values({ ...key, ...told })
    .onConflict((conflict) =>
      conflict.columns(['integrationId', 'orderId']).doUpdateSet({
        deletedAt: sql<Date>`least(order_heads.deleted_at, excluded.deleted_at)`,
        refundsListedAt: sql<Date>`greatest(order_heads.refunds_listed_at, excluded.refunds_listed_at)`,
      }),
    )
    // A row that was just inserted was never updated.
    .returning(['deletedAt', sql<boolean>`xmax = 0`.as('isNew')])
    .executeTakeFirstOrThrow();
}

export async function findOrder(db: Db, key: OrderKey): Promise<OrderRow | undefined> {
  return await db
    .selectFrom('orders')
    .selectAll()
    .where('brandId', '=', key.brandId)
    .where('integrationId', '=', key.integrationId)
    .where('orderId', '=', key.orderId)
    .executeTakeFirst();
}

/** Of every store of the brand that has one. */
export async function listOrders(db: Db, brandId: string, orderId: string): Promise<OrderRow[]> {
  return await db
    .selectFrom('orders')
    .selectAll()
    .where('brandId', '=', brandId)
    .where('orderId', '=', orderId)
    .orderBy('createdAt')
    .orderBy('id')
    .execute();
}

export async function insertOrder(db: Db, row: Insertable<OrdersTable>): Promise<OrderRow> {
  return await db.insertInto('orders').values(row).returningAll().executeTakeFirstOrThrow();
}

export async function updateOrder(
  db: Db,
  { brandId, id }: Pick<OrderRow, 'brandId' | 'id'>,
  change: Updateable<OrdersTable>,
): Promise<OrderRow> {
  return await db
    .updateTable('orders')
    .set(change)
    .where('brandId', '=', brandId)
    .where('id', '=', id)
    .returningAll()
    .executeTakeFirstOrThrow();
}

/** The order's commission, held until the transaction ends: a review or payment of it comes before or after. */
export async function holdCommissionOf(
  db: Db,
  { brandId, id }: Pick<OrderRow, 'brandId' | 'id'>,
): Promise<CommissionRow | undefined> {
  return await db
    .selectFrom('commissions')
    .selectAll()
    .where('brandId', '=', brandId)
    .where('orderId', '=', id)
    .forUpdate()
    .executeTakeFirst();
}

export async function insertCommission(db: Db, row: Insertable<CommissionsTable>): Promise<CommissionRow> {
  return await db.insertInto('commissions').values(row).returningAll().executeTakeFirstOrThrow();
}

export async function updateCommission(
  db: Db,
  { brandId, id }: Pick<CommissionRow, 'brandId' | 'id'>,
  change: Updateable<CommissionsTable>,
): Promise<void> {
  await db.updateTable('commissions').set(change).where('brandId', '=', brandId).where('id', '=', id).execute();
}

/** What the ledger has of a commission. Asked when its row is held, so that no other writes meanwhile. */
export async function listPosted(db: Db, { brandId, id }: Pick<CommissionRow, 'brandId' | 'id'>): Promise<Posted[]> {
  const rows = await db
    .selectFrom('ledgerEntries')
    .select(['kind', 'postings'])
    .where('brandId', '=', brandId)
    .where('commissionId', '=', id)
    .execute();
  return rows.map(({ kind, postings }) => ({
    kind,
    postings: StoredPostings.parse(postings).map(({ account, amount_minor, at }) => ({
      account,
      amountMinor: amount_minor,
      at: new Date(at),
    })),
  }));
}

/** The commission's adjustments become these. */
export async function replaceAdjustments(
  db: Db,
  { brandId, id }: Pick<CommissionRow, 'brandId' | 'id'>,
  rows: readonly Insertable<CommissionAdjustmentsTable>[],
): Promise<void> {
  const causes = rows.map(({ cause }) => cause);
  await db
    .deleteFrom('commissionAdjustments')
    .where('brandId', '=', brandId)
    .where('commissionId', '=', id)
    .where(sql<boolean>`cause <> all(${causes}::text[])`)
    .execute();
  if (rows.length === 0) return;
  await db
    .insertInto('commissionAdjustments')
    .values([...rows])
    .onConflict((conflict) =>
      conflict.columns(['commissionId', 'cause']).doUpdateSet((eb) => ({
        amountMinor: eb.ref('excluded.amountMinor'),
        at: eb.ref('excluded.at'),
      })),
    )
    .execute();
}

export async function listAdjustments(db: Db, { brandId, id }: Pick<CommissionRow, 'brandId' | 'id'>) {
  return await db
    .selectFrom('commissionAdjustments')
    .select(['cause', 'amountMinor', 'at'])
    .where('brandId', '=', brandId)
    .where('commissionId', '=', id)
    .orderBy('at')
    .orderBy('cause')
    .execute();
}

export async function findCommissionOf(db: Db, { brandId, id }: Pick<OrderRow, 'brandId' | 'id'>) {
  return await db
    .selectFrom('commissions')
    .selectAll()
    .where('brandId', '=', brandId)
    .where('orderId', '=', id)
    .executeTakeFirst();
}

export interface Burst {
  after: Date;
  until: Date;
  /** Counting ends here. */
  most: { ofCustomer: number; ofLink: number };
}

/**
 * A customer's orders within a time, and among a link's latest other commissions those within it: a burst is among the
 * latest, and no more are read.
 */
export async function countOrdersAround(
  db: Db,
  { brandId, customerHash, id }: Pick<OrderRow, 'brandId' | 'customerHash' | 'id'>,
  linkId: string,
  { after, until, most }: Burst,
) {
  const ofCustomer = db
    .selectFrom('orders')
    .select('occurredAt')
    .where('brandId', '=', brandId)
    .where('customerHash', '=', customerHash)
    .where('occurredAt', '>', after)
    .where('occurredAt', '<=', until)
    .limit(most.ofCustomer);
  const ofLink = db
    .selectFrom('commissions')
    .select('occurredAt')
    .where('brandId', '=', brandId)
    .where('linkId', '=', linkId)
    .where('orderId', '<>', id)
    .orderBy('createdAt', 'desc')
    .limit(most.ofLink);
  return await db
    .selectNoFrom((eb) => [
      eb
        .selectFrom(ofCustomer.as('one'))
        .select(({ fn }) => fn.countAll<number>().as('count'))
        .as('ofCustomer'),
      eb
        .selectFrom(ofLink.as('one'))
        .select(({ fn }) => fn.countAll<number>().as('count'))
        .where('occurredAt', '>', after)
        .where('occurredAt', '<=', until)
        .as('ofLink'),
    ])
    .executeTakeFirstOrThrow();
}

/** The kind of store that sent the order. */
export async function getSourceOf(db: Db, { brandId, integrationId }: Pick<OrderRow, 'brandId' | 'integrationId'>) {
  const { provider } = await db
    .selectFrom('integrations')
    .select('provider')
    .where('brandId', '=', brandId)
    .where('id', '=', integrationId)
    .executeTakeFirstOrThrow();
  return provider;
}
