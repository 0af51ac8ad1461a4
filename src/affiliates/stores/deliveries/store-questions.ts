import { sql } from 'kysely';
import { z } from 'zod';
import type { Db } from '../../../kit/engines/postgres/open.ts';
import type { Context } from '../../../kit/operation/context.ts';
import { DAY_MS } from '../../../kit/values/duration.ts';
import { ignoreFailure } from '../../../kit/values/errors.ts';
import { toSubscriptionKey } from '../../customers/customers.ts';
import { hasProductFacts } from '../../orders/items.ts';
import { continuesAnother } from '../../terms/customers.ts';
import type { Receiver } from '../connections/connections.ts';
import { getClient } from '../formats/clients.ts';
import type { ItemFacts, ProductFacts } from '../formats/facts.ts';
import { needsReconnect, type OrderReading, type ProductLine, type StoreAccess } from '../formats/provider.ts';

/** An order of a delivery, with the store that may be asked about it. */
export interface AskableOrder {
  reading: OrderReading;
  receiver: Receiver;
  open(): Promise<StoreAccess>;
}

/** Lists those of the subscriptions that neither an order, nor a customer, nor a store has named yet. */
async function listUnknownSubscriptions(
  db: Db,
  { brandId, id }: Receiver,
  subscriptionIds: readonly string[],
): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`
    select given.id from unnest(${[...subscriptionIds]}::text[]) as given (id)
    where not exists (select from store_subscriptions as own
        where own.brand_id = ${brandId} and own.integration_id = ${id} and own.subscription_id = given.id)
      and not exists (select from orders
        where orders.brand_id = ${brandId} and orders.subscription_id = given.id and orders.integration_id = ${id})
      and not exists (select from customer_keys as own
        where own.brand_id = ${brandId} and own.kind = 'subscription' and own.key = ${toSubscriptionKey(id, '')} || given.id)`.execute(
    db,
  );
  return rows.map((row) => row.id);
}

/** Asks a store that knows which order started an unknown subscription. A store that does not say leaves it unknown. */
async function askFirstOrders(db: Db, { reading, receiver, open }: AskableOrder): Promise<OrderReading> {
  const { findFirstOrder } = getClient(receiver.provider);
  const { facts } = reading;
  if (!findFirstOrder || !continuesAnother(facts)) return reading;
  const ids = [facts.subscriptionId, facts.previousSubscriptionId].flatMap((id) => id ?? []);
  const unknown = ids.length === 0 ? [] : await listUnknownSubscriptions(db, receiver, ids);
  const startedBy: { subscriptionId: string; orderId: string }[] = [];
  for (const subscriptionId of unknown) {
    const orderId = await findFirstOrder(await open(), subscriptionId).catch(ignoreRefusal);
    if (orderId !== undefined) startedBy.push({ subscriptionId, orderId });
  }
  return startedBy.length === 0 ? reading : { ...reading, facts: { ...facts, startedBy } };
}

/** A key that may read orders may be refused other things, which does not make it a bad key. */
function ignoreRefusal(error: unknown): undefined {
  if (!needsReconnect(error)) throw error;
}

const StoredProduct = z.object({ categories: z.array(z.string()), onSale: z.record(z.string(), z.boolean()) });

const productKey = ({ id }: Receiver, productId: string) => `store-product:${id}:${productId}`;

/** Reads products from the store, each at most once a day. */
async function loadProducts(
  { redis }: Pick<Context, 'redis'>,
  { receiver, open }: Pick<AskableOrder, 'receiver' | 'open'>,
  lines: readonly ProductLine[],
): Promise<Map<string, ProductFacts>> {
  const { listProducts } = getClient(receiver.provider);
  const products = new Map<string, ProductFacts>();
  if (!listProducts) return products;
  for (const productId of new Set(lines.map((line) => line.productId))) {
    const cachedProduct = await redis
      .use((client) => client.get(productKey(receiver, productId)))
      .catch(ignoreFailure('the store is asked for the product again'));
    if (typeof cachedProduct === 'string') products.set(productId, StoredProduct.parse(JSON.parse(cachedProduct)));
  }
  const isKnown = ({ productId, variantId }: ProductLine) => {
    const product = products.get(productId);
    return product !== undefined && (variantId === null || variantId in product.onSale);
  };
  const missing = lines.filter((line) => !isKnown(line));
  if (missing.length === 0) return products;
  for (const [productId, product] of await listProducts(await open(), missing)) {
    products.set(productId, product);
    await redis
      .use((client) => client.set(productKey(receiver, productId), JSON.stringify(product), 'PX', DAY_MS))
      .catch(ignoreFailure('the store is asked for the product again'));
  }
  return products;
}

const hasFacts = ({ categories, onSale }: ItemFacts) => categories !== undefined || onSale !== undefined;

const toProductLines = (items: readonly ItemFacts[]): ProductLine[] =>
  items.flatMap((item) =>
    item.productId === undefined || hasFacts(item)
      ? []
      : [{ productId: item.productId, variantId: item.variantId ?? null }],
  );

function addFacts(item: ItemFacts, products: ReadonlyMap<string, ProductFacts>): ItemFacts {
  const product = item.productId === undefined || hasFacts(item) ? undefined : products.get(item.productId);
  if (!product) return item;
  return {
    ...item,
    categories: product.categories,
    onSale: product.onSale[item.variantId ?? ''] ?? product.onSale[''],
  };
}

const REFUSED =
  'The store does not let its products be read, so that rules on categories and sales hold for none of these lines. Give its ' +
  'app `read_products`, or its key the right to read products.';

/** Adds to the lines what terms may tell them apart by, as it was when their order was first read. */
async function addProducts(context: Context, order: AskableOrder): Promise<OrderReading> {
  const { reading, receiver } = order;
  const { facts } = reading;
  const lines = toProductLines(facts.items ?? []);
  if (lines.length === 0 || !getClient(receiver.provider).listProducts) return reading;
  const key = { brandId: receiver.brandId, integrationId: receiver.id, orderId: facts.orderId };
  if (await hasProductFacts(context.postgres.db, key)) return reading;
  const products = await loadProducts(context, order, lines).catch(ignoreRefusal);
  if (!products) return { ...reading, notes: [...reading.notes, REFUSED] };
  return { ...reading, facts: { ...facts, items: facts.items?.map((item) => addFacts(item, products)) } };
}

/** Products are read only for brands whose terms have used their categories or sales. */
export async function usesProducts(db: Db, brandId: string): Promise<boolean> {
  const { rows } = await sql`
    select from terms where brand_id = ${brandId}
      and jsonb_path_exists(terms, '$.rules[*].when ? (exists(@.category) || exists(@.on_sale))') limit 1`.execute(db);
  return rows.length > 0;
}

/** Asks a store for what its report of an order leaves out and decisions need. Fails if it does not answer. */
export async function askAboutOrder(
  context: Context,
  order: AskableOrder,
  needs: { products: boolean },
): Promise<OrderReading> {
  const reading = await askFirstOrders(context.postgres.db, order);
  return needs.products ? await addProducts(context, { ...order, reading }) : reading;
}
