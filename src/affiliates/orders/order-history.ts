import { sql } from 'kysely';
import { z } from 'zod';
import { makePlainTerms } from '../../analytics/pricing/plain.ts';
import type { Db } from '../../kit/engines/postgres/open.ts';
import { parseTerms } from '../../workflow/terms/versions.ts';
import { isRejectedByPerson } from '../customers/customers.ts';
import type { Provider } from '../stores/formats/provider.ts';
import type { CustomerOrder, CustomerRow, DecidedOrder } from '../terms/customer-rows.ts';
import { continuesAnother } from '../terms/customers.ts';
import { type OrderKey, orderKind } from './orders.ts';

/** Lists what products an order has, by SKU and id. */
export function listProducts(
  items: readonly { sku: string | null; productId?: string | undefined; variantId?: string | undefined }[],
): string[] {
  const ids = items.flatMap(({ sku, productId, variantId }) => [sku, productId, variantId]);
  return [...new Set(ids.flatMap((id) => (id === null || id === undefined ? [] : [id.toLowerCase()])))];
}

const Items = z.array(
  z.object({ sku: z.string().nullable(), productId: z.string().optional(), variantId: z.string().optional() }),
);
const RecordedTerms = z.object({
  commission_rate: z.number(),
  covers: z.enum(['order', 'subscription', 'customer']).default('order'),
});

interface StoredOrder extends Omit<DecidedOrder, 'customerId' | 'email' | 'products' | 'rule' | 'owner'> {
  customerIdHash: Buffer | null;
  customerHash: Buffer | null;
  items: unknown;
  rule: string | null;
  terms: unknown;
  termsId: string | null;
  storedTerms: unknown;
  rowId: string | null;
  linkId: string | null;
  creatorId: string;
  boundTo: string | null;
  timeZone: string;
  isRejected: boolean;
}

function toRule(rule: string | null): DecidedOrder['rule'] {
  if (rule === 'last_click' || rule === 'first_click') return 'click';
  return rule === 'code' || rule === 'subscription' || rule === 'customer' ? rule : null;
}

/** The deal of an order: that of its customer's row, else that of the code or click that won it. */
function toOwner(storedOrder: StoredOrder, rows: ReadonlyMap<string, CustomerRow>): DecidedOrder['owner'] {
  const { rowId, linkId, creatorId, boundTo, timeZone, isRejected, termsId } = storedOrder;
  const row = rowId === null ? undefined : rows.get(rowId);
  if (row) {
    const { terms, termsId = null, ...deal } = row;
    return {
      rowId: row.id,
      linkId: deal.linkId,
      creatorId: deal.creatorId,
      boundTo: deal.boundTo,
      terms,
      termsId,
      timeZone,
      isRejected,
    };
  }
  const { data: terms } = RecordedTerms.safeParse(storedOrder.terms);
  if (linkId === null || !terms) return null;
  if (storedOrder.storedTerms !== null) {
    const own = parseTerms(storedOrder.storedTerms);
    return { rowId: null, linkId, creatorId, boundTo, terms: own, termsId, timeZone, isRejected };
  }
  return {
    rowId: null,
    linkId,
    creatorId,
    boundTo,
    terms: makePlainTerms(terms.commission_rate, terms.covers),
    timeZone,
    isRejected,
  };
}

/** The hash of an address or id as rows keep it. */
export const toHex = (hash: Buffer | null): string | null => hash?.toString('hex') ?? null;

/** Most first orders of one customer that are searched for a product. */
const MOST_FIRSTS = 50;

/**
 * Lists the earlier orders that say who owns these: the earliest of each subscription, the customer's first orders of
 * subscriptions if one is continued, and all orders of the rows.
 */
export async function listDecidedOrders(
  db: Db,
  brandId: string,
  orders: readonly CustomerOrder[],
  rows: readonly CustomerRow[],
): Promise<DecidedOrder[]> {
  const namedSubscriptions = orders.flatMap(({ integrationId, subscriptionId, previousSubscriptionId }) =>
    [subscriptionId, previousSubscriptionId].flatMap((id) => (id === null ? [] : [{ integrationId, id }])),
  );
  const continuingOrders = orders.filter(continuesAnother);
  if (namedSubscriptions.length === 0 && continuingOrders.length === 0 && rows.length === 0) return [];
  const emails = continuingOrders.flatMap(({ email }) => email ?? []);
  const customerIds = continuingOrders.flatMap(({ customerId }) => customerId ?? []);
  const isCounted = sql`one.is_test is not true and one.attribution ->> 'reason' is distinct from 'history'`;
  // Each is looked up by itself, and lines only where they can be asked for: those of a row's later orders are most of all.
  const { rows: stored } = await sql<StoredOrder>`
    with named as (select * from unnest(${namedSubscriptions.map(({ integrationId }) => integrationId)}::text[],
      ${namedSubscriptions.map(({ id }) => id)}::text[]) as given (integration_id, subscription_id)
    ), wanted as (
      select found.id from unnest(${rows.map(({ id }) => id)}::text[]) as given (id) cross join lateral (
        select id from orders where brand_id = ${brandId} and customer_id = given.id offset 0) as found
      union
      select unnest(${rows.flatMap(({ firstOrderId }) => firstOrderId ?? [])}::text[])
      union
      select first.id from named cross join lateral (select id from orders as one where one.brand_id = ${brandId}
        and one.subscription_id = named.subscription_id and one.integration_id = named.integration_id and ${isCounted}
        order by one.occurred_at, one.id limit 2) as first
      union
      select found.id from named cross join lateral (select order_id from store_subscriptions
        where brand_id = ${brandId} and integration_id = named.integration_id
          and subscription_id = named.subscription_id offset 0) as started
      cross join lateral (select id from orders where brand_id = ${brandId}
        and integration_id = named.integration_id and order_id = started.order_id offset 0) as found
      union
      select first.id from unnest(${emails}::text[]) as given (hash)
      cross join lateral (select id from orders as one where one.brand_id = ${brandId}
        and one.customer_hash = decode(given.hash, 'hex') and one.kind = 'first' and ${isCounted}
        order by one.occurred_at desc limit ${MOST_FIRSTS}) as first
      union
      select first.id from unnest(${customerIds}::text[]) as given (hash)
      cross join lateral (select id from orders as one where one.brand_id = ${brandId}
        and one.customer_id_hash = decode(given.hash, 'hex') and one.kind = 'first' and ${isCounted}
        order by one.occurred_at desc limit ${MOST_FIRSTS}) as first)
    select orders.id, orders.integration_id, orders.occurred_at as placed_at, orders.base_minor as amount_minor,
      ${orderKind} as kind, orders.subscription_id, orders.previous_subscription_id, orders.customer_id_hash,
      orders.customer_hash, coalesce(orders.is_test, false) as is_test,
      orders.attribution ->> 'reason' is not distinct from 'history' as is_history,
      orders.cancelled_at is not null and orders.paid_at is null as is_cancelled_unpaid,
      orders.attribution ->> 'rule' as rule, orders.attribution -> 'terms' as terms, commissions.terms_id,
      terms.terms as stored_terms, orders.customer_id as row_id,
      commissions.link_id, commissions.creator_id, links.integration_id as bound_to,
      (select time_zone from brands where id = ${brandId}) as time_zone,
      commissions.id is not null as has_commission, coalesce(${isRejectedByPerson('commissions')}, false) as is_rejected,
      case when orders.customer_id is null or orders.kind = 'first' then (
        select items from order_items where order_items.integration_id = orders.integration_id
          and order_items.order_id = orders.order_id and refund_id = '') end as items,
      array(select started.subscription_id from store_subscriptions as started
        where started.brand_id = ${brandId} and started.integration_id = orders.integration_id
          and started.order_id = orders.order_id) as started
    from wanted cross join lateral (
      select * from orders where brand_id = ${brandId} and id = wanted.id offset 0) as orders
    left join commissions on commissions.order_id = orders.id
    left join links on links.id = commissions.link_id left join terms on terms.id = commissions.terms_id`.execute(db);
  const byId = new Map(rows.map((row) => [row.id, row]));
  return stored.map((one) => {
    const { customerIdHash, customerHash, items, rule, ...order } = one;
    return {
      ...order,
      customerId: toHex(customerIdHash),
      email: toHex(customerHash),
      products: listProducts(Items.safeParse(items).data ?? []),
      rule: toRule(rule),
      owner: toOwner(one, byId),
    };
  });
}

const MOST_AGAIN = 1_000;

/** Lists the orders of customers' keys that paid nobody and were placed in a span of time: customer by customer, oldest first. */
export async function listUnpaidOrdersOfCustomers(
  db: Db,
  brandId: string,
  customerIds: readonly string[],
  { from, to }: { from: Date; to: Date | null },
): Promise<(OrderKey & { provider: Provider })[]> {
  if (customerIds.length === 0) return [];
  const { rows } = await sql<OrderKey & { provider: Provider }>`
    with given as (
      select customers.id as customer_id, customers.since, customers.first_order_id, one.kind, one.key from customers
      join customer_keys as one on one.customer_id = customers.id
      where customers.brand_id = ${brandId} and customers.id = any(${[...customerIds]}::text[])
    ), wanted as (
      select given.customer_id, orders.id, since, first_order_id from given cross join lateral (select id from orders
        where brand_id = ${brandId} and customer_hash = decode(given.key, 'hex') offset 0) as orders
        where given.kind = 'email'
      union
      select given.customer_id, orders.id, since, first_order_id from given cross join lateral (select id from orders
        where brand_id = ${brandId} and customer_id_hash = decode(split_part(given.key, ' ', 2), 'hex') offset 0) as orders
        where given.kind = 'customer_id'
      union
      select given.customer_id, orders.id, since, first_order_id from given cross join lateral (select id from orders
        where brand_id = ${brandId} and subscription_id = substr(given.key, strpos(given.key, ' ') + 1)
          and integration_id = split_part(given.key, ' ', 1) offset 0) as orders where given.kind = 'subscription'
    )
    select orders.brand_id, orders.integration_id, orders.order_id, store.provider
    from wanted cross join lateral (
      select * from orders where brand_id = ${brandId} and id = wanted.id offset 0) as orders
    join integrations as store on store.id = orders.integration_id
    where (orders.occurred_at, orders.id) > (wanted.since, coalesce(wanted.first_order_id, ''))
      and orders.occurred_at >= ${from} and ${to ? sql`orders.occurred_at <= ${to}` : sql`true`} and orders.is_test is not true
      and orders.attribution ->> 'reason' is distinct from 'history'
      and not exists (select from commissions where commissions.order_id = orders.id)
    order by array_position(${[...customerIds]}::text[], wanted.customer_id), orders.occurred_at, orders.id
    limit ${MOST_AGAIN * customerIds.length}`.execute(db);
  return rows;
}
