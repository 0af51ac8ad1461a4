import { type Insertable, type Selectable, sql, type Updateable } from 'kysely';
import type { OrdersTable } from '../../engines/postgres/attribution-tables.ts';
import type { Db } from '../../engines/postgres/open.ts';
import type { OrderSource } from './schema.ts';

export type OrderRow = Selectable<OrdersTable>;

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

/** What a delivery reports of the whole order. */
export interface HeadFacts {
  deletedAt: Date | null;
  /** As of when it reported all refunds. */
  refundsListedAt: Date | null;
}

export interface OrderHead {
  /** Nothing was ever reported of the order. */
  isNew: boolean;
  deletedAt: Date | null;
}

/**
 * Deliveries of one order follow one another from here to the end of their transactions, also when a refund or a deletion
 * comes before its order.
 */
export async function lockOrder(db: Db, key: OrderKey, received: HeadFacts): Promise<OrderHead> {
  return await db
    .insertInto('orderHeads')
    .values({ ...key, ...received })
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

/** Orders with this id, of every store of the brand. */
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

/** The store that sent the order. */
export async function getStoreOf(db: Db, { brandId, integrationId }: Pick<OrderRow, 'brandId' | 'integrationId'>) {
  return await db
    .selectFrom('integrations')
    .select(['provider', 'storefrontUrl'])
    .where('brandId', '=', brandId)
    .where('id', '=', integrationId)
    .executeTakeFirstOrThrow();
}
