import { type RawBuilder, sql } from 'kysely';
import type { Db } from '../../kit/engines/postgres/open.ts';
import type { Work } from '../../kit/operation/work.ts';
import type { Secrets } from '../../kit/values/secrets.ts';
import { getSalt, hashEmail } from '../orders/customers.ts';
import {
  beginErasing,
  CUSTOMER_FIELDS,
  deleteMails,
  endCopies,
  endErasing,
  eraseTexts,
  forgetSeals,
  type Leftovers,
  listRows,
  type Removed,
  redactMentions,
  type TakenRow,
  takeImportFiles,
} from './erase.ts';

/** Selects the orders of an address, orders by ids, or all of a store. */
export interface BuyerSelector {
  email: string | null;
  integrationId: string | null;
  /** Ids of ours or of the store. */
  orderIds: readonly string[] | null;
  /** `both`: orders of the address that have one of the ids; `either`: as a store lists them. */
  join: 'both' | 'either' | 'store';
}

/** Matches the orders of a buyer; `hash` is that of their address. */
function matchesBuyer(
  brandId: string,
  { integrationId, orderIds, join }: BuyerSelector,
  hash: Buffer | null,
): RawBuilder<boolean> {
  const ofStore = integrationId === null ? sql`true` : sql`own.integration_id = ${integrationId}`;
  const byEmail = sql`own.customer_hash = ${hash}::bytea`;
  const ids = [...(orderIds ?? [])];
  const byId = sql`(own.id = any(${ids}::text[]) or own.order_id = any(${ids}::text[]))`;
  const parts = [...(hash === null ? [] : [byEmail]), ...(orderIds === null ? [] : [byId])];
  const operator = join === 'both' ? sql` and ` : sql` or `;
  const isTheirs = join === 'store' ? sql`true` : parts.length === 0 ? sql`false` : sql.join(parts, operator);
  return sql`own.brand_id = ${brandId} and ${ofStore} and (${isTheirs}) and own.erased_by is null`;
}

async function hashBuyer(db: Db, secrets: Secrets, { email }: BuyerSelector): Promise<Buffer | null> {
  return email === null ? null : hashEmail(await getSalt(db, secrets), email);
}

/** Everything that is kept of a buyer, by table. */
export async function takeBuyerRows(
  db: Db,
  brandId: string,
  secrets: Secrets,
  selector: BuyerSelector,
): Promise<Map<string, TakenRow[]>> {
  const orders = await listRows(db, 'orders', matchesBuyer(brandId, selector, await hashBuyer(db, secrets, selector)));
  const ids = orders.flatMap(({ customer_id: id }) => (typeof id === 'string' ? [id] : []));
  const ofThem = sql`own.brand_id = ${brandId} and own.id = any(${ids}::text[])`;
  return new Map([
    ['orders', orders],
    ['customers', ids.length === 0 ? [] : await listRows(db, 'customers', ofThem)],
  ]);
}

interface ErasedOrder {
  id: string;
  customerId: string | null;
}

/**
 * Takes the customer out of orders. Their hash becomes a random one, the same on all that had the same: figures about
 * customers stay as they are, and the next order is a new customer's.
 */
async function eraseOrders(
  { db, brandId, now }: Work,
  requestId: string,
  isTheirs: RawBuilder<boolean>,
): Promise<ErasedOrder[]> {
  const { rows } = await sql<ErasedOrder>`
    with theirs as materialized (select own.id, own.customer_hash from orders as own where ${isTheirs} for update),
    fresh as materialized (
      select customer_hash, sha256(uuid_send(gen_random_uuid()) || uuid_send(gen_random_uuid())) as hash
      from (select distinct customer_hash from theirs where customer_hash is not null) as one)
    update orders set customer_email = null, customer_hash = fresh.hash, customer_id_hash = null, erased_by = ${requestId},
      updated_at = ${now}
    from theirs left join fresh using (customer_hash)
    where orders.brand_id = ${brandId} and orders.id = theirs.id returning orders.id, orders.customer_id`.execute(db);
  return rows;
}

/** Takes a person out of customers whom creators brought. Subscriptions stay: they pay creators. */
async function eraseCustomers(
  { db, brandId, now }: Work,
  ids: readonly string[],
  hash: Buffer | null,
): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`
    with theirs as materialized (
      select id from customers where brand_id = ${brandId} and (id = any(${[...ids]}::text[]) or id in (
        select customer_id from customer_keys
        where brand_id = ${brandId} and kind = 'email' and key = encode(${hash}::bytea, 'hex')))),
    unkeyed as (
      delete from customer_keys where brand_id = ${brandId} and kind in ('email', 'customer_id')
        and customer_id in (select id from theirs))
    update customers set customer_email = null, updated_at = ${now} where brand_id = ${brandId} and id in (select id from theirs)
    returning id`.execute(db);
  return rows.map(({ id }) => id);
}

/** Erases a buyer: whom the orders name, not what they are worth. */
export async function eraseBuyer(
  work: Work,
  secrets: Secrets,
  selector: BuyerSelector,
  requestId: string,
): Promise<{ removed: Removed; leftovers: Leftovers }> {
  const { db, brandId } = work;
  const hash = await hashBuyer(db, secrets, selector);
  await beginErasing(db);
  const orders = await eraseOrders(work, requestId, matchesBuyer(brandId, selector, hash));
  const ids = orders.map(({ id }) => id);
  const bound = orders.flatMap(({ customerId }) => customerId ?? []);
  const customers = await eraseCustomers(
    work,
    bound,
    selector.join === 'both' && selector.orderIds !== null ? null : hash,
  );
  const deliveries = await sql`
    update store_deliveries as own set body = '', headers = '{}', reason = null, notes = '[]',
      state = case when own.state = 'failed' then 'ignored' else own.state end
    from orders where orders.id = any(${ids}::text[]) and own.brand_id = ${brandId} and own.state <> 'waiting'
      and own.integration_id = orders.integration_id and own.order_id = orders.order_id`.execute(db);
  await db
    .deleteFrom('orderJourneys')
    .where('brandId', '=', brandId)
    .where('orderId', '=', sql<string>`any(${ids})`)
    .execute();
  const { rows } = await sql<{ id: string }>`
    select id from commissions where brand_id = ${brandId} and order_id = any(${ids}::text[])`.execute(db);
  await forgetSeals(work, 'orders', ids);
  await forgetSeals(work, 'customers', customers);
  const names = selector.email === null ? [] : [selector.email];
  const about = [...ids, ...customers, ...rows.map(({ id }) => id)];
  const traces = { ids: about, names, fields: CUSTOMER_FIELDS };
  const counts: Removed = {
    orders: ids.length,
    customers: customers.length,
    store_deliveries: Number(deliveries.numAffectedRows ?? 0),
  };
  const removed: Removed = Object.fromEntries(Object.entries(counts).filter(([, count]) => count > 0));
  if (ids.length > 0 || names.length > 0) Object.assign(removed, await redactMentions(work, traces));
  if (ids.length > 0) Object.assign(removed, await endCopies(work, traces));
  const files = names.length === 0 ? [] : await takeImportFiles(work, names);
  const mails = names.length === 0 ? [] : await deleteMails(work, null, names);
  await eraseTexts(work, names);
  await endErasing(db);
  return { removed, leftovers: { files, mails } };
}
