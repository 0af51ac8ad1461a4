import { type Selectable, sql, type Updateable } from 'kysely';
import type { OrdersTable } from '../../kit/engines/postgres/database.ts';
import { listing } from '../../kit/engines/postgres/listing.ts';
import type { Db } from '../../kit/engines/postgres/open.ts';
import { updateOwn } from '../../kit/engines/postgres/own.ts';
import { toInsert } from '../../kit/engines/postgres/rows.ts';
import type { ShownChanges } from '../../kit/engines/postgres/window.ts';
import { toMinor } from '../../kit/values/money.ts';
import { omitUndefined } from '../../kit/values/patch.ts';
import { matchesCreator } from '../../workflow/creators/creators.ts';
import { showCreator } from '../../workflow/creators/renamed.ts';
import type { OrderKind } from '../../workflow/terms/terms.shapes.ts';
import { matchesGroup } from '../groups/present-groups.ts';
import type { OrderFacts } from '../stores/formats/facts.ts';
import type { Attribution } from './attribution.shapes.ts';
import { isNamed } from './order-names.ts';
import type { ExplainQuery, OrderFilter, OrderSource } from './orders.shapes.ts';

export type OrderRow = Selectable<OrdersTable>;

/** Key of an order: its id at its store. */
export interface OrderKey {
  brandId: string;
  integrationId: string;
  orderId: string;
}

export const toOrderKey = ({ id, brandId }: OrderSource, orderId: string): OrderKey => ({
  brandId,
  integrationId: id,
  orderId,
});

/** Facts of a delivery about the order as a whole. */
export interface HeadFacts {
  deletedAt: Date | null;
  /** Time of the report if it has all refunds. */
  refundsListedAt: Date | null;
}

export interface OrderHead {
  /** This is the first report about the order. */
  isNew: boolean;
  deletedAt: Date | null;
}

/**
 * Serializes the deliveries of one order until the end of their transactions, even if a refund or a deletion
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

/** Locks the orders of a store whose complete reports arrived, as `lockOrder` does. Returns those that are new. */
export async function lockOrders(
  db: Db,
  { id, brandId }: OrderSource,
  received: readonly Pick<OrderFacts, 'orderId' | 'hasAllRefunds' | 'updatedAt'>[],
): Promise<Set<string>> {
  const listedAt = received.map(({ hasAllRefunds, updatedAt }) => (hasAllRefunds ? updatedAt.toISOString() : null));
  const { rows } = await sql<{ orderId: string; isNew: boolean }>`
    insert into order_heads (integration_id, brand_id, order_id, refunds_listed_at)
    select ${id}, ${brandId}, * from unnest(${received.map(({ orderId }) => orderId)}::text[], ${listedAt}::timestamptz[])
      as given (order_id, refunds_listed_at) order by order_id
    on conflict (integration_id, order_id) do update set
      refunds_listed_at = greatest(order_heads.refunds_listed_at, excluded.refunds_listed_at)
    returning order_id, xmax = 0 as is_new`.execute(db);
  return new Set(rows.flatMap(({ orderId, isNew }) => (isNew ? [orderId] : [])));
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

/** Finds an order by our own id. */
export async function findOrderById(db: Db, brandId: string, id: string): Promise<OrderRow | undefined> {
  return await db
    .selectFrom('orders')
    .selectAll()
    .where('brandId', '=', brandId)
    .where('id', '=', id)
    .executeTakeFirst();
}

/** Lists the orders with this id or number at any store of the brand, or at one. */
export async function listOrders(
  db: Db,
  brandId: string,
  { order_id, integration_id, match }: ExplainQuery,
  limit: number,
): Promise<OrderRow[]> {
  return await db
    .selectFrom('orders')
    .selectAll()
    .where('brandId', '=', brandId)
    .where(isNamed(order_id, match))
    .$if(integration_id !== undefined, (query) => query.where('integrationId', '=', integration_id ?? ''))
    .orderBy('createdAt')
    .orderBy('id')
    .limit(limit)
    .execute();
}

/** Lists the ids at their stores of orders by our ids, unordered. */
export async function listOrdersByIds(db: Db, brandId: string, ids: readonly string[]) {
  if (ids.length === 0) return [];
  return await db
    .selectFrom('orders')
    .select(['id', 'orderId'])
    .where('brandId', '=', brandId)
    .where(sql<boolean>`id = any(${[...ids]}::text[])`)
    .execute();
}

/** An order before it is first recorded. */
export type NewOrder = Omit<OrderRow, 'attribution' | 'updatedAt'> & { attribution: Attribution };

export async function insertOrders(db: Db, rows: readonly NewOrder[]): Promise<void> {
  await toInsert('orders', rows).execute(db);
}

export const updateOrder = (
  db: Db,
  { brandId, id }: Pick<OrderRow, 'brandId' | 'id'>,
  change: Updateable<OrdersTable>,
) => updateOwn(db.updateTable('orders').set(change).returningAll(), brandId, id);

/** Replaces a decision that pays nobody; undefined if the order pays a creator. */
export async function updateDecision(
  db: Db,
  { brandId, id }: Pick<OrderRow, 'brandId' | 'id'>,
  attribution: string,
  { now, customerId }: { now: Date; customerId: string | null },
): Promise<OrderRow | undefined> {
  return await db
    .updateTable('orders')
    .set({ attribution, customerId, updatedAt: now })
    .where('brandId', '=', brandId)
    .where('id', '=', id)
    .where(({ not, exists, selectFrom }) =>
      not(exists(selectFrom('commissions').select('id').whereRef('commissions.orderId', '=', 'orders.id'))),
    )
    .returningAll()
    .executeTakeFirst();
}

/** Reads the store that sent the order. */
export async function getOrderStore(db: Db, { brandId, integrationId }: Pick<OrderRow, 'brandId' | 'integrationId'>) {
  return await db
    .selectFrom('integrations')
    .select(['provider', 'storefrontUrl'])
    .where('brandId', '=', brandId)
    .where('id', '=', integrationId)
    .executeTakeFirstOrThrow();
}

/** `returning` if the customer has an earlier paid order; null without payment or email address. */
const customerKind = sql<'new' | 'returning' | null>`case
  when orders.customer_hash is null or orders.paid_at is null or orders.is_test then null
  when exists (select from orders as earlier
    where earlier.brand_id = orders.brand_id and earlier.customer_hash = orders.customer_hash
      and earlier.paid_at is not null and earlier.is_test is not true
      and (earlier.occurred_at, earlier.id) < (orders.occurred_at, orders.id)) then 'returning'
  else 'new' end`;

/** The kind of an order, also of one from before there were kinds. */
export const orderKind = sql<OrderKind>`coalesce(orders.kind, case when orders.is_renewal then 'renewal' else 'once' end)`;

/** A rejected commission shows 0. An index has it in this form. */
export const shownCommission = sql<number>`case when commissions.status = 'rejected' then 0 else commissions.commission_minor end`;

/** An anti-join: of a left join's nulls, PostgreSQL expects one row, and then reads all orders for the first page. */
const paidNobody = sql<boolean>`not exists (select from commissions as own where own.order_id = orders.id)`;

/** Parts of the orders by commission: those of an index of commissions, then the others. */
const PAYING = {
  isIn: sql<boolean>`commissions.brand_id = orders.brand_id`,
  at: shownCommission,
  id: 'commissions.orderId',
};
const PAYING_NOBODY = { isIn: paidNobody, at: sql`-1::bigint`, id: 'orders.id' };

const matchesFilter = ({
  from,
  to,
  attributed,
  reason,
  flag,
  min_amount,
  currency,
  customer,
  kind,
}: OrderFilter) => sql<boolean>`(
  ${from === undefined ? sql`true` : sql`orders.occurred_at >= ${from}`}
  and ${to === undefined ? sql`true` : sql`orders.occurred_at <= ${to}`}
  and ${attributed === undefined ? sql`true` : attributed ? sql`commissions.id is not null` : paidNobody}
  and ${reason === undefined ? sql`true` : sql`${paidNobody} and orders.attribution ->> 'reason' = ${reason}`}
  and ${flag === undefined ? sql`true` : sql`commissions.fraud_flags @> ${JSON.stringify([{ code: flag }])}::jsonb`}
  and ${min_amount === undefined || currency === undefined ? sql`true` : sql`orders.base_minor >= ${toMinor(min_amount, currency)}`}
  and ${kind === undefined ? sql`true` : sql`${orderKind} = ${kind}`}
  and ${customer === undefined ? sql`true` : sql`${customerKind} = ${customer}`})`;

/** Selects the orders of commissions that changed: an order shows its commission's state, amount and creator. */
export const selectCommissioned: ShownChanges = (brandId, after) =>
  sql`select order_id from commissions
    where brand_id = ${brandId} and order_id is not null and greatest(created_at, synced_at, status_updated_at) > ${after}`;

/** Lists orders of every store, attributed or not. */
export const orders = listing({
  noun: 'order',
  table: 'orders',
  isCounted: true,
  time: 'occurredAt',
  changed: ['createdAt', 'updatedAt'],
  shown: [selectCommissioned, showCreator('commissions', 'orderId')],
  sums: {
    currency: sql.ref('orders.currency'),
    of: { amount: sql.ref('orders.baseMinor'), commission: shownCommission },
  },
  matching: (db, brandId, where: OrderFilter) =>
    db
      .selectFrom('orders')
      .leftJoin('commissions', 'commissions.orderId', 'orders.id')
      .where((eb) =>
        eb.and(
          omitUndefined({
            'orders.integrationId': where.integration_id,
            'orders.currency': where.currency,
            'commissions.linkId': where.link_id,
            'orders.customerId': where.customer_id,
          }),
        ),
      )
      .$if(where.order_id !== undefined, (query) => query.where(isNamed(where.order_id ?? '')))
      .where(matchesCreator('commissions.creatorId', brandId, where.creator_email))
      .where(matchesGroup('commissions.creatorId', brandId, where.group_id))
      .where(matchesFilter(where)),
  rows: (db) =>
    db
      .selectFrom('orders')
      .innerJoin('integrations', 'integrations.id', 'orders.integrationId')
      .leftJoin('commissions', 'commissions.orderId', 'orders.id')
      .leftJoin('creators', 'creators.id', 'commissions.creatorId')
      .selectAll('orders')
      .select(['integrations.provider', customerKind.as('customer')])
      .select(['creators.email as creatorEmail', 'creators.name as creatorName'])
      .select(['commissions.id as commissionId', 'commissions.linkId', 'commissions.commissionMinor'])
      .select(['commissions.status', 'commissions.fraudFlags', 'commissions.termsId']),
  ranks: {
    amount: { at: sql.ref('orders.baseMinor'), of: ({ baseMinor }) => baseMinor },
    // An order that paid nobody comes after one whose commission is 0.
    commission: {
      at: sql`coalesce(${shownCommission}, -1)`,
      of: ({ status, commissionMinor }) => (status === 'rejected' ? 0 : (commissionMinor ?? -1)),
      parts: ({ attributed, reason }) => [
        ...(attributed === false || reason !== undefined ? [] : [PAYING]),
        ...(attributed === true ? [] : [PAYING_NOBODY]),
      ],
    },
  },
});

export type ListedOrder = Awaited<ReturnType<typeof orders.get>>;
