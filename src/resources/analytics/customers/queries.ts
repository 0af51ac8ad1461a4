import { type RawBuilder, sql } from 'kysely';
import type { Db } from '../../../engines/postgres/open.ts';
import type { Period } from '../policy.ts';
import type { CustomersQuery } from './schema.ts';

/** Paid orders that are no tests. */
export const COUNTS = sql<boolean>`orders.paid_at is not null and orders.is_test is not true`;

/** The refunds that count of the orders in a common table expression, by its `id`: one join, not a look-up an order. */
export const refundsOf = (table: 'mine' | 'bought') => sql<unknown>`
  select own.id, sum(refund.amount_minor) as minor
  from ${sql.table(table)} as own
  join order_refunds as refund on refund.integration_id = own.integration_id and refund.order_id = own.order_id
    and refund.currency = own.currency
  where refund.told_at >= coalesce((
    select refunds_listed_at from order_heads as head
    where head.integration_id = own.integration_id and head.order_id = own.order_id), refund.told_at)
  group by own.id`;

/** What an order came to without its refunds: nothing once it was cancelled or charged back. */
export const SALE = sql<number>`case when orders.cancelled_at is not null or orders.dispute_lost_at is not null then 0
  else orders.base_minor end`;

/** What an order is worth now, of a row `own` with its refunds. */
export const WORTH = sql<number>`greatest(0, own.sale - coalesce(refunded.minor, 0))`;

/** The first order of its customer. */
export const IS_FIRST = sql<boolean>`orders.customer_hash is not null and not exists (
  select from orders as earlier
  where earlier.brand_id = orders.brand_id and earlier.customer_hash = orders.customer_hash
    and earlier.paid_at is not null and earlier.is_test is not true
    and (earlier.occurred_at, earlier.id) < (orders.occurred_at, orders.id))`;

/**
 * The orders in `mine` that are the first of their customer. Only the earliest of each customer can be, and looking in the
 * order of the index reads each of its pages once.
 */
const firstsIn = (brandId: string) => sql`
  select earliest.* from (
    select distinct on (customer_hash) * from mine where customer_hash is not null order by customer_hash, occurred_at, id
  ) as earliest
  where not exists (
    select from orders
    where orders.brand_id = ${brandId} and orders.customer_hash = earliest.customer_hash and ${COUNTS}
      and (orders.occurred_at, orders.id) < (earliest.occurred_at, earliest.id))`;

const KEY: Readonly<Record<CustomersQuery['by'], RawBuilder<string | null>>> = {
  creator: sql`commissions.creator_id`,
  campaign: sql`links.campaign_id`,
  link: sql`commissions.link_id`,
  store: sql`orders.integration_id`,
};

export interface CustomerSums {
  key: string;
  currency: string;
  orders: number;
  /** New and returning ones. */
  customers: number;
  newCustomers: number;
  firstMinor: number;
  /** Of the new customers: whose first order is 30, 60 and 90 days old, and who of them ordered again by then. */
  oldOne: number;
  oldTwo: number;
  oldThree: number;
  againOne: number;
  againTwo: number;
  againThree: number;
  /** What the oldest of them bought within 90 days. */
  worthMinor: number;
}

/**
 * Customers of the orders in a period. It reads these orders, and of each of their customers the first order and those of
 * 90 days, by the index of customers.
 */
export async function listCustomerSums(
  db: Db,
  brandId: string,
  { by, currency }: Pick<CustomersQuery, 'by' | 'currency'>,
  { from, until }: Period,
  now: Date,
): Promise<CustomerSums[]> {
  const since = (hours: number) => sql`make_interval(hours => ${hours}::int)`;
  const [one, two, three] = [since(30 * 24), since(60 * 24), since(90 * 24)];
  const isOld = (span: RawBuilder<unknown>) => sql`first_at + ${span} <= ${now}`;
  const isAgain = (span: RawBuilder<unknown>) => sql`${isOld(span)} and second_at <= first_at + ${span}`;
  const { rows } = await sql<CustomerSums>`
    with mine as materialized (
      select orders.id, orders.customer_hash, orders.occurred_at, orders.currency, coalesce(${KEY[by]}, '') as key
      from orders
      left join commissions on commissions.order_id = orders.id
      left join links on links.id = commissions.link_id
      where orders.brand_id = ${brandId} and ${COUNTS} and orders.customer_hash is not null
        and orders.occurred_at >= ${from} and orders.occurred_at < ${until}
        and ${currency === undefined ? sql`true` : sql`orders.currency = ${currency}`}
    ), firsts as materialized (${firstsIn(brandId)}
    ), bought as materialized (
      select firsts.id as first_id, firsts.key, firsts.currency as first_currency, firsts.occurred_at as first_at, orders.id,
        orders.integration_id, orders.order_id, orders.currency, orders.occurred_at, ${SALE} as sale
      from firsts join orders on orders.brand_id = ${brandId} and orders.customer_hash = firsts.customer_hash and ${COUNTS}
        and orders.occurred_at <= firsts.occurred_at + ${three}
    ), refunded as (${refundsOf('bought')}
    ), later as (
      select key, first_currency as currency, first_at, min(occurred_at) filter (where id <> first_id) as second_at,
        sum(${WORTH}) filter (where id = first_id) as worth,
        sum(${WORTH}) filter (where currency = first_currency) as worth_later
      from bought as own left join refunded using (id)
      group by first_id, key, first_currency, first_at
    ), gained as (
      select key, currency, count(*) as new_customers, sum(worth) as first_minor,
        count(*) filter (where ${isOld(one)}) as old_one, count(*) filter (where ${isOld(two)}) as old_two,
        count(*) filter (where ${isOld(three)}) as old_three, count(*) filter (where ${isAgain(one)}) as again_one,
        count(*) filter (where ${isAgain(two)}) as again_two, count(*) filter (where ${isAgain(three)}) as again_three,
        sum(worth_later) filter (where ${isOld(three)}) as worth_minor
      from later group by key, currency
    )
    select total.*, coalesce(new_customers, 0) as new_customers, coalesce(first_minor, 0)::bigint as first_minor,
      coalesce(old_one, 0) as old_one, coalesce(old_two, 0) as old_two, coalesce(old_three, 0) as old_three,
      coalesce(again_one, 0) as again_one, coalesce(again_two, 0) as again_two, coalesce(again_three, 0) as again_three,
      coalesce(worth_minor, 0)::bigint as worth_minor
    from (
      select key, currency, sum(orders)::bigint as orders, count(*) as customers
      from (select key, currency, count(*) as orders from mine group by key, currency, customer_hash) as one
      group by key, currency
    ) as total
    left join gained using (key, currency)`.execute(db);
  return rows;
}

export interface ShareSums {
  currency: string;
  isAttributed: boolean;
  orders: number;
  worthMinor: number;
  /** With an e-mail address, and of these the first ones of their customers. */
  known: number;
  firsts: number;
}

/** Paid orders of a period, by whether a creator won them. */
export async function listShareSums(db: Db, brandId: string, { from, until }: Period): Promise<ShareSums[]> {
  const { rows } = await sql<ShareSums>`
    with mine as materialized (
      select orders.id, orders.integration_id, orders.order_id, orders.customer_hash, orders.occurred_at, orders.currency,
        commissions.id is not null as is_attributed, ${SALE} as sale
      from orders left join commissions on commissions.order_id = orders.id
      where orders.brand_id = ${brandId} and ${COUNTS} and orders.occurred_at >= ${from} and orders.occurred_at < ${until}
    ), refunded as (${refundsOf('mine')}
    ), firsts as (${firstsIn(brandId)})
    select own.currency, own.is_attributed, count(*) as orders, sum(${WORTH})::bigint as worth_minor,
      count(own.customer_hash) as known, count(firsts.id) as firsts
    from mine as own left join refunded using (id) left join firsts on firsts.id = own.id
    group by 1, 2 order by 1, 2`.execute(db);
  return rows;
}

/** When the oldest known order was placed; null without any. */
export async function findHistorySince(db: Db, brandId: string): Promise<string | null> {
  const { since } = await db
    .selectFrom('orders')
    .select(({ fn }) => fn.min('occurredAt').$castTo<Date | null>().as('since'))
    .where('brandId', '=', brandId)
    .executeTakeFirstOrThrow();
  return since?.toISOString() ?? null;
}

/** How many orders of the period count, and how many of them have no customer. */
export async function countKnown(
  db: Db,
  brandId: string,
  { from, until }: Period,
): Promise<{ orders: number; withoutEmail: number }> {
  const { rows } = await sql<{ orders: number; withoutEmail: number }>`
    select count(*) as orders, count(*) filter (where customer_hash is null) as without_email
    from orders
    where brand_id = ${brandId} and ${COUNTS} and occurred_at >= ${from} and occurred_at < ${until}`.execute(db);
  return rows[0] ?? { orders: 0, withoutEmail: 0 };
}
