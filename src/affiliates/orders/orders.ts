import { type Selectable, sql, type Updateable } from 'kysely';
import type { OrdersTable } from '../../kit/engines/postgres/database.ts';
import { listing } from '../../kit/engines/postgres/listing.ts';
import type { Db } from '../../kit/engines/postgres/open.ts';
import { updateOwn } from '../../kit/engines/postgres/own.ts';
import { toInsert } from '../../kit/engines/postgres/rows.ts';
import { DAY_MS } from '../../kit/values/duration.ts';
import { toMinor } from '../../kit/values/money.ts';
import { omitUndefined } from '../../kit/values/patch.ts';
import { matchesCreator } from '../../workflow/creators/creators.ts';
import type { DisputeFacts, OrderFacts } from '../stores/formats/facts.ts';
import type { Provider } from '../stores/formats/provider.ts';
import type { Attribution, OrderFilter, OrderSource } from './orders.shapes.ts';

export type OrderRow = Selectable<OrdersTable>;

/** Which order of which store. */
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

/** An order as it is first recorded. */
export type NewOrder = Omit<OrderRow, 'attribution' | 'updatedAt'> & { attribution: Attribution };

export async function insertOrders(db: Db, rows: readonly NewOrder[]): Promise<void> {
  await toInsert('orders', rows).execute(db);
}

export const updateOrder = (
  db: Db,
  { brandId, id }: Pick<OrderRow, 'brandId' | 'id'>,
  change: Updateable<OrdersTable>,
) => updateOwn(db.updateTable('orders').set(change).returningAll(), brandId, id);

/** Replaces a decision that pays nobody; undefined when the order pays a creator. */
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
export async function findDisputeLostAt(db: Db, key: OrderKey): Promise<Date | null> {
  const lost = (await listDisputes(db, key)).filter(({ status }) => status === 'lost');
  return lost.reduce<Date | null>((first, { lostAt }) => (first && lostAt && first <= lostAt ? first : lostAt), null);
}

/** An order with its customer's journey still to request from the store. */
export interface DueJourney {
  /** Our own id of the order. */
  orderId: string;
  brandId: string;
  integrationId: string;
  provider: Provider;
  baseUrl: string;
  storeOrderId: string;
  answers: number;
  /** When the order was first reported. */
  seenAt: Date;
}

export async function insertJourneys(
  db: Db,
  orders: readonly Pick<NewOrder, 'id' | 'brandId' | 'integrationId' | 'orderId'>[],
  dueAt: Date,
): Promise<void> {
  if (orders.length === 0) return;
  const rows = orders.map(({ id, brandId, integrationId, orderId: storeOrderId }) => ({
    ...{ orderId: id, brandId, integrationId, storeOrderId, dueAt },
  }));
  await db.insertInto('orderJourneys').values(rows).execute();
}

/**
 * Takes those that are due until `until`, so that no other worker requests them. Those that no store answered for a day
 * are deleted, because their orders are not decided again.
 */
export async function claimJourneys(db: Db, now: Date, until: Date, limit: number): Promise<DueJourney[]> {
  const { rows } = await sql<DueJourney>`
    with old as (delete from order_journeys where due_at <= ${new Date(now.getTime() - DAY_MS)}),
    due as (
      select journey.order_id from order_journeys as journey
      join integrations as store on store.id = journey.integration_id
      where journey.due_at <= ${now} and journey.due_at > ${new Date(now.getTime() - DAY_MS)}
        and store.status = 'connected'
      order by journey.due_at limit ${limit} for update of journey skip locked
    )
    update order_journeys as journey set due_at = ${until}
    from due, orders, integrations as store
    where journey.order_id = due.order_id and orders.id = journey.order_id and store.id = journey.integration_id
    returning journey.order_id, journey.brand_id, journey.integration_id, store.provider, store.base_url,
      journey.store_order_id, journey.answers, orders.created_at as seen_at`.execute(db);
  return rows;
}

export async function updateJourney(
  db: Db,
  { brandId, orderId }: Pick<DueJourney, 'brandId' | 'orderId'>,
  change: { dueAt: Date; answers?: number },
): Promise<void> {
  await db
    .updateTable('orderJourneys')
    .set(change)
    .where('brandId', '=', brandId)
    .where('orderId', '=', orderId)
    .execute();
}

export async function deleteJourney(
  db: Db,
  { brandId, orderId }: Pick<DueJourney, 'brandId' | 'orderId'>,
): Promise<void> {
  await db.deleteFrom('orderJourneys').where('brandId', '=', brandId).where('orderId', '=', orderId).execute();
}

/** Which orders around an order are counted. */
export interface SignalLimits {
  /** How long before the order. */
  withinMs: number;
  /** The most orders that are counted. */
  most: { ofCustomer: number; ofLink: number };
  /** How many of the link's last paid orders are searched for refunded ones. */
  refundsOf: number;
}

export interface FraudSignals {
  ofCustomer: number;
  ofLink: number;
  /** Whether its customer had bought before. */
  isReturning: boolean;
  /** Other paid orders of its link, at most as many as are looked at, and how many of them were refunded. */
  paid: number;
  refunded: number;
}

/** An order that an assignment won. */
export interface AttributedOrder extends Pick<OrderRow, 'id' | 'customerHash' | 'occurredAt'> {
  linkId: string;
}

/**
 * Around each order, in the given order: its customer's orders within a time, and among the latest other commissions of its
 * link those within it. A burst is among the latest, and no more are read.
 */
export async function loadFraudSignals(
  db: Db,
  brandId: string,
  orders: readonly AttributedOrder[],
  { withinMs, most, refundsOf }: SignalLimits,
): Promise<FraudSignals[]> {
  const of = <V>(value: (order: AttributedOrder) => V) => orders.map(value);
  const { rows } = await sql<FraudSignals>`
    select of_customer.count as of_customer, of_link.count as of_link, is_returning, refunds.paid, refunds.refunded
    from unnest(${of(({ id }) => id)}::text[], ${of(({ linkId }) => linkId)}::text[],
      ${of(({ customerHash }) => customerHash)}::bytea[],
      ${of(({ occurredAt }) => new Date(occurredAt.getTime() - withinMs).toISOString())}::timestamptz[],
      ${of(({ occurredAt }) => occurredAt.toISOString())}::timestamptz[])
      with ordinality as won (id, link_id, customer_hash, after, until, place)
    cross join lateral (select count(*) as count from (
      select from orders where brand_id = ${brandId} and customer_hash = won.customer_hash
        and occurred_at > won.after and occurred_at <= won.until limit ${most.ofCustomer}) as one) as of_customer
    cross join lateral (select count(*) as count from (
      select occurred_at from commissions where brand_id = ${brandId} and link_id = won.link_id and order_id <> won.id
      order by created_at desc limit ${most.ofLink}) as one
      where occurred_at > won.after and occurred_at <= won.until) as of_link
    cross join lateral (select exists (
      select from orders as earlier where earlier.brand_id = ${brandId} and earlier.customer_hash = won.customer_hash
        and earlier.occurred_at < won.until and earlier.id <> won.id
        and earlier.paid_at is not null and earlier.is_test is not true) as is_returning) as customer
    cross join lateral (select count(*) as paid, count(*) filter (where refunded_minor > 0) as refunded from (
      select refunded_minor from commissions where brand_id = ${brandId} and link_id = won.link_id
        and order_id <> won.id and paid_at is not null
      order by created_at desc limit ${refundsOf}) as one) as refunds
    order by won.place`.execute(db);
  return rows;
}

/** The store that sent the order. */
export async function getOrderStore(db: Db, { brandId, integrationId }: Pick<OrderRow, 'brandId' | 'integrationId'>) {
  return await db
    .selectFrom('integrations')
    .select(['provider', 'storefrontUrl'])
    .where('brandId', '=', brandId)
    .where('id', '=', integrationId)
    .executeTakeFirstOrThrow();
}

/** Whether an order's customer was known from an earlier paid order; null without payment or e-mail address. */
const customerKind = sql<'new' | 'returning' | null>`case
  when orders.customer_hash is null or orders.paid_at is null or orders.is_test then null
  when exists (select from orders as earlier
    where earlier.brand_id = orders.brand_id and earlier.customer_hash = orders.customer_hash
      and earlier.paid_at is not null and earlier.is_test is not true
      and (earlier.occurred_at, earlier.id) < (orders.occurred_at, orders.id)) then 'returning'
  else 'new' end`;

const matchesFilter = ({
  from,
  to,
  attributed,
  reason,
  flag,
  min_amount,
  currency,
  customer: kind,
}: OrderFilter) => sql<boolean>`(
  ${from === undefined ? sql`true` : sql`orders.occurred_at >= ${from}`}
  and ${to === undefined ? sql`true` : sql`orders.occurred_at <= ${to}`}
  and ${attributed === undefined ? sql`true` : sql`(commissions.id is not null) = ${attributed}`}
  and ${reason === undefined ? sql`true` : sql`commissions.id is null and orders.attribution ->> 'reason' = ${reason}`}
  and ${flag === undefined ? sql`true` : sql`commissions.fraud_flags @> ${JSON.stringify([{ code: flag }])}::jsonb`}
  and ${min_amount === undefined || currency === undefined ? sql`true` : sql`orders.base_minor >= ${toMinor(min_amount, currency)}`}
  and ${kind === undefined ? sql`true` : sql`${customerKind} = ${kind}`})`;

/** Orders of every store, attributed or not. */
export const orders = listing({
  noun: 'order',
  table: 'orders',
  time: 'occurredAt',
  changed: ['createdAt', 'updatedAt'],
  amount: 'baseMinor',
  matching: (db, brandId, where: OrderFilter) =>
    db
      .selectFrom('orders')
      .leftJoin('commissions', 'commissions.orderId', 'orders.id')
      .where((eb) =>
        eb.and(
          omitUndefined({
            'orders.orderId': where.order_id,
            'orders.integrationId': where.integration_id,
            'orders.currency': where.currency,
            'commissions.linkId': where.link_id,
          }),
        ),
      )
      .where(matchesCreator('commissions.creatorId', brandId, where.creator_email))
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
      .select(['commissions.status', 'commissions.fraudFlags']),
});

export type ListedOrder = Awaited<ReturnType<typeof orders.get>>;
