import { type Insertable, type Selectable, sql, type Updateable } from 'kysely';
import type { OrdersTable } from '../../engines/postgres/attribution-tables.ts';
import type { Db } from '../../engines/postgres/open.ts';
import type { DisputeFacts } from '../../stores/facts.ts';
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

/** Locks an order as `lockOrder` does, if anything was ever reported of it. */
export async function lockKnownOrder(db: Db, key: OrderKey): Promise<OrderRow | undefined> {
  const head = await db
    .selectFrom('orderHeads')
    .select('orderId')
    .where('brandId', '=', key.brandId)
    .where('integrationId', '=', key.integrationId)
    .where('orderId', '=', key.orderId)
    .forUpdate()
    .executeTakeFirst();
  return head && (await findOrder(db, key));
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

/** Replaces a decision that pays nobody; undefined when the order pays somebody. */
export async function updateDecision(
  db: Db,
  { brandId, id }: Pick<OrderRow, 'brandId' | 'id'>,
  attribution: string,
  now: Date,
): Promise<OrderRow | undefined> {
  return await db
    .updateTable('orders')
    .set({ attribution, updatedAt: now })
    .where('brandId', '=', brandId)
    .where('id', '=', id)
    .where(({ not, exists, selectFrom }) =>
      not(exists(selectFrom('commissions').select('id').whereRef('commissions.orderId', '=', 'orders.id'))),
    )
    .returningAll()
    .executeTakeFirst();
}

/**
 * Records what a store says of a dispute. Of two reports the newer counts, and of one time the loss; an open one never
 * reopens what was decided. The result does not depend on the order of arrival.
 */
export async function insertDispute(db: Db, key: OrderKey, dispute: DisputeFacts, now: Date): Promise<void> {
  const { disputeId, status, at: toldAt } = dispute;
  const lostAt = status === 'lost' ? toldAt : null;
  const isDecided = (row: string) => sql`${sql.ref(`${row}.status`)} <> 'open'`;
  const counts = sql`case when (${isDecided('excluded')}) <> (${isDecided('orderDisputes')}) then ${isDecided('excluded')}
    else excluded.told_at > order_disputes.told_at
      or excluded.told_at = order_disputes.told_at and excluded.status = 'lost' end`;
  await db
    .insertInto('orderDisputes')
    .values({ ...key, disputeId, status, toldAt, lostAt, createdAt: now })
    .onConflict((conflict) =>
      conflict.columns(['integrationId', 'orderId', 'disputeId']).doUpdateSet({
        status: sql`case when ${counts} then excluded.status else order_disputes.status end`,
        toldAt: sql`case when ${counts} then excluded.told_at else order_disputes.told_at end`,
        lostAt: sql`least(order_disputes.lost_at, excluded.lost_at)`,
      }),
    )
    .execute();
}

export async function listDisputes(db: Db, key: OrderKey) {
  return await db
    .selectFrom('orderDisputes')
    .select(['disputeId', 'status', 'toldAt', 'lostAt'])
    .where('brandId', '=', key.brandId)
    .where('integrationId', '=', key.integrationId)
    .where('orderId', '=', key.orderId)
    .orderBy('toldAt')
    .orderBy('disputeId')
    .execute();
}

/** Since when a dispute over the order is lost; null while none is. */
export async function findLostAt(db: Db, key: OrderKey): Promise<Date | null> {
  const lost = (await listDisputes(db, key)).filter(({ status }) => status === 'lost');
  return lost.reduce<Date | null>((first, { lostAt }) => (first && lostAt && first <= lostAt ? first : lostAt), null);
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
