import { randomBytes } from 'node:crypto';
import { setImmediate } from 'node:timers/promises';
import { type RawBuilder, sql } from 'kysely';
import type { Db } from '../../kit/engines/postgres/open.ts';
import type { Work } from '../../kit/operation/work.ts';
import { toChunks } from '../../kit/values/chunks.ts';
import { listGmailSpellings, showAddress, toAsciiAddress } from '../../kit/values/email.ts';
import type { Secrets } from '../../kit/values/secrets.ts';
import { type Fact, hashErased, toFact } from '../imports/erased.ts';
import { getSalt, hashEmail } from '../orders/customers.ts';
import {
  addCounts,
  beginErasing,
  CUSTOMER_FIELDS,
  endErasing,
  forgetSeals,
  type Leftovers,
  listRows,
  type Removed,
  ROWS_AT_ONCE,
  type TakenRow,
} from './erase.ts';
import { eraseImported, listImported } from './imported.ts';
import { endCopies, eraseMails, eraseTexts, listAddresses, redactMentions, replaceMentions } from './mentions.ts';
import { type Names, toNames } from './names.ts';

/** Selects the orders of an address, orders by ids, or all of a store. */
export interface BuyerSelector {
  email: string | null;
  integrationId: string | null;
  /** Hashes, as hex, of the store's id of the customer, and of addresses if the erasure is made again. */
  hashes: readonly string[];
  /** Ids of ours or of the store. */
  orderIds: readonly string[] | null;
  /** Id of an order or of a customer of creators: all orders of the same person. */
  customerOf: string | null;
  /** `both`: orders of the address that have one of the ids; `either`: as a store lists them. */
  join: 'both' | 'either' | 'store';
}

/** Selects the hashes of the address of whoever has this order, or is this customer. */
const hashesOfSame = (brandId: string, customerOf: string | null) => sql`
  select customer_hash from orders where brand_id = ${brandId} and ${customerOf} in (id, customer_id)
  union select decode(key, 'hex') from customer_keys
    where brand_id = ${brandId} and kind = 'email' and customer_id = ${customerOf}`;

/** Matches the orders of a buyer; `hashes` are those of their addresses and of their id at the store. */
function matchesBuyer(
  brandId: string,
  { integrationId, orderIds, customerOf, join }: BuyerSelector,
  hashes: readonly Buffer[],
): RawBuilder<boolean> {
  const ofStore = integrationId === null ? sql`true` : sql`own.integration_id = ${integrationId}`;
  const byHash = sql`(own.customer_hash = any(${[...hashes]}::bytea[]) or own.customer_id_hash = any(${[...hashes]}::bytea[]))`;
  const ids = [...(orderIds ?? [])];
  const byId = sql`(own.id = any(${ids}::text[]) or own.order_id = any(${ids}::text[]))`;
  const bySame = sql`(${customerOf} in (own.id, own.customer_id) or own.customer_hash in (${hashesOfSame(brandId, customerOf)}))`;
  const parts = [
    ...(hashes.length === 0 ? [] : [byHash]),
    ...(orderIds === null ? [] : [byId]),
    ...(customerOf === null ? [] : [bySame]),
  ];
  const operator = join === 'both' ? sql` and ` : sql` or `;
  const isTheirs = join === 'store' ? sql`true` : parts.length === 0 ? sql`false` : sql.join(parts, operator);
  return sql`own.brand_id = ${brandId} and ${ofStore} and (${isTheirs})
    and (own.erased_by is null or own.erased_by = own.customer_id)`;
}

async function hashBuyer(db: Db, secrets: Secrets, { email, hashes }: BuyerSelector): Promise<Buffer[]> {
  const knownHashes = hashes.map((hash) => Buffer.from(hash, 'hex'));
  if (email === null) return knownHashes;
  const salt = await getSalt(db, secrets);
  // Stores report a domain in either form.
  const spellings = new Set([email, toAsciiAddress(email), showAddress(toAsciiAddress(email))]);
  return [...[...spellings].map((spelling) => hashEmail(salt, spelling)), ...knownHashes];
}

const SPELLINGS_AT_ONCE = 1_000;

/** Hashes of the other spellings of a mailbox at Gmail, under which shops may know the same person. */
async function hashSpellings(db: Db, secrets: Secrets, { email }: BuyerSelector): Promise<Buffer[]> {
  if (email === null) return [];
  const salt = await getSalt(db, secrets);
  const hashes: Buffer[] = [];
  for (const part of toChunks(listGmailSpellings(email), SPELLINGS_AT_ONCE)) {
    hashes.push(...part.map((spelling) => hashEmail(salt, spelling)));
    // Other calls are answered meanwhile.
    await setImmediate();
  }
  return hashes;
}

/** The addresses that these are hashes of, as far as imports, or also events, mails and the audit log have them in clear. */
async function findAddresses(
  db: Db,
  brandId: string,
  secrets: Secrets,
  hashes: readonly string[],
  where: 'imports' | 'anywhere',
): Promise<string[]> {
  if (hashes.length === 0) return [];
  const salt = await getSalt(db, secrets);
  const addresses = await listAddresses(db, brandId, where);
  return addresses.filter((address) => hashes.includes(hashEmail(salt, address).toString('hex')));
}

/** Orders as files of imports may have them: by the ids that were asked for, and by those of the orders that were found. */
async function listOrderFacts(
  db: Db,
  brandId: string,
  { integrationId, orderIds, join }: BuyerSelector,
  ids: readonly string[],
): Promise<Fact[]> {
  const { rows: shops } = await sql<{ id: string; source: string }>`
    select id, source_name as source from integrations where brand_id = ${brandId} and source_name is not null`.execute(
    db,
  );
  const { rows: known } = await sql<{ orderId: string; integrationId: string }>`
    select order_id, integration_id from orders where brand_id = ${brandId} and id = any(${[...ids]}::text[])`.execute(
    db,
  );
  const sources = new Map(shops.map(({ id, source }) => [id, source]));
  const ofShops = known.flatMap((order) => {
    const source = sources.get(order.integrationId);
    return source === undefined ? [] : [{ fact: toFact('order_id', order.orderId), source }];
  });
  const source = integrationId === null ? null : sources.get(integrationId);
  if (join !== 'either' || source === undefined) return ofShops;
  return [...(orderIds ?? []).map((id) => ({ fact: toFact('order_id', id), source })), ...ofShops];
}

/** The same hashes as hex; none if the request names no person in this way. */
async function listSameHashes(db: Db, brandId: string, { customerOf }: BuyerSelector): Promise<string[]> {
  if (customerOf === null) return [];
  const { rows } = await sql<{ hash: string | null }>`
    select encode(hash, 'hex') as hash from (${hashesOfSame(brandId, customerOf)}) as same (hash)`.execute(db);
  return rows.flatMap(({ hash }) => hash ?? []);
}

/** By what imports and texts name a buyer, of whom these orders are; `sameHashes` are those of one who is named by an order. */
async function findBuyerNames(
  db: Db,
  brandId: string,
  secrets: Secrets,
  selector: BuyerSelector,
  { ids, sameHashes }: { ids: readonly string[]; sameHashes: readonly string[] },
): Promise<{ addresses: string[]; names: Names }> {
  const addresses = [
    ...(selector.email === null ? [] : [selector.email]),
    ...(await findAddresses(db, brandId, secrets, selector.hashes, 'anywhere')),
    ...(await findAddresses(db, brandId, secrets, sameHashes, 'imports')),
  ];
  const facts = await listOrderFacts(db, brandId, selector, ids);
  return { addresses, names: await toNames(db, { id: '', brandId, email: null }, addresses, facts) };
}

/** Everything that is kept of a buyer, by table. */
export async function takeBuyerRows(
  db: Db,
  brandId: string,
  secrets: Secrets,
  selector: BuyerSelector,
): Promise<Map<string, TakenRow[]>> {
  const hashes = [...(await hashBuyer(db, secrets, selector)), ...(await hashSpellings(db, secrets, selector))];
  const orders = await listRows(db, 'orders', matchesBuyer(brandId, selector, hashes));
  const ids = [...orders.map(({ customer_id: id }) => id), selector.customerOf].filter((id) => typeof id === 'string');
  const ofThem = sql`own.brand_id = ${brandId} and own.id = any(${ids}::text[])`;
  const orderIds = orders.map(({ id }) => String(id));
  const ofOrders = sql`own.brand_id = ${brandId} and own.order_id = any(${orderIds}::text[])`;
  const sameHashes = await listSameHashes(db, brandId, selector);
  const { names } = await findBuyerNames(db, brandId, secrets, selector, { ids: orderIds, sameHashes });
  return new Map([
    ['orders', orders],
    ['customers', ids.length === 0 ? [] : await listRows(db, 'customers', ofThem)],
    ['order_journeys', await listRows(db, 'order_journeys', ofOrders)],
    ...(await listImported(db, brandId, names)),
  ]);
}

interface ErasedOrder {
  id: string;
  customerId: string | null;
  oldHash: Buffer | null;
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
    select own.id, own.customer_id, own.customer_hash as old_hash from orders as own where ${isTheirs} for update`.execute(
    db,
  );
  const fresh = new Map(rows.map(({ oldHash }) => [oldHash?.toString('hex'), randomBytes(32)]));
  const toFresh = ({ oldHash }: ErasedOrder) =>
    oldHash === null ? null : (fresh.get(oldHash.toString('hex')) ?? null);
  for (const part of toChunks(rows, ROWS_AT_ONCE)) {
    await sql`
      update orders set customer_email = null, customer_hash = given.hash, customer_id_hash = null, erased_by = ${requestId},
        updated_at = ${now}
      from unnest(${part.map(({ id }) => id)}::text[], ${part.map(toFresh)}::bytea[]) as given (id, hash)
      where orders.brand_id = ${brandId} and orders.id = given.id`.execute(db);
  }
  return rows;
}

/** Takes a person out of customers whom creators brought. Subscriptions stay: they pay creators. */
async function eraseCustomers(
  { db, brandId, now }: Work,
  ids: readonly string[],
  hashes: readonly Buffer[],
): Promise<string[]> {
  const keys = hashes.map((hash) => hash.toString('hex'));
  const { rows } = await sql<{ id: string }>`
    with asked as materialized (
      select 'email' as kind, hash as key from unnest(${keys}::text[]) as hash
      union all select 'customer_id', integrations.id || ' ' || hash
      from integrations cross join unnest(${keys}::text[]) as hash where integrations.brand_id = ${brandId}),
    theirs as materialized (
      select id from customers where brand_id = ${brandId} and (id = any(${[...ids]}::text[]) or id in (
        select one.customer_id from asked join customer_keys as one using (kind, key) where one.brand_id = ${brandId}))),
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
): Promise<{ removed: Removed; leftovers: Leftovers; hashes: string[] }> {
  const { db, brandId } = work;
  const askedHashes = await hashBuyer(db, secrets, selector);
  const hashes = [...askedHashes, ...(await hashSpellings(db, secrets, selector))];
  const sameHashes = await listSameHashes(db, brandId, selector);
  await beginErasing(db);
  const orders = await eraseOrders(work, requestId, matchesBuyer(brandId, selector, hashes));
  const ids = orders.map(({ id }) => id);
  const bound = [...orders.map(({ customerId }) => customerId), selector.customerOf].filter((id) => id !== null);
  const customers = await eraseCustomers(
    work,
    bound,
    selector.join === 'both' && selector.orderIds !== null ? [] : hashes,
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
  const { addresses, names } = await findBuyerNames(db, brandId, secrets, selector, { ids, sameHashes });
  const about = [...ids, ...customers, ...rows.map(({ id }) => id)];
  const traces = { ids: about, names, fields: CUSTOMER_FIELDS };
  const counts: Removed = {
    orders: ids.length,
    customers: customers.length,
    store_deliveries: Number(deliveries.numAffectedRows ?? 0),
  };
  const removedCounts: Removed = Object.fromEntries(Object.entries(counts).filter(([, count]) => count > 0));
  const erasedHashes = await hashErased(db, secrets, { buyers: addresses, facts: names.facts });
  const imported = await eraseImported(work, names, [...erasedHashes, ...selector.hashes, ...sameHashes]);
  const told = ids.length > 0 || names.texts.length > 0 ? await redactMentions(work, traces) : {};
  const copied = ids.length > 0 ? await endCopies(work, traces) : {};
  const mailed = await eraseMails(work, { creatorId: null, ids: about }, names);
  const written = await replaceMentions(work, names);
  await eraseTexts(work, names);
  await endErasing(db);
  const knownHashes = new Set(hashes.map((hash) => hash.toString('hex')));
  const same = orders
    .flatMap(({ oldHash }) => oldHash?.toString('hex') ?? [])
    .filter((hash) => selector.customerOf !== null || knownHashes.has(hash));
  const hexHashes = [...askedHashes.map((hash) => hash.toString('hex')), ...same];
  return {
    removed: addCounts(removedCounts, imported.removed, told, copied, mailed.removed, written),
    leftovers: { files: imported.files, mails: mailed.ids },
    hashes: [...new Set(hexHashes)],
  };
}
