import { createHmac } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import { text } from 'node:stream/consumers';
import { sql } from 'kysely';
import { connectStore, identifyStore } from '../../../src/affiliates/stores/connections/connect.ts';
import { toStoreDelivery } from '../../../src/affiliates/stores/deliveries/deliveries.shapes.ts';
import { foldBatch } from '../../../src/affiliates/stores/deliveries/fold.ts';
import { PROVIDERS, type Provider } from '../../../src/affiliates/stores/formats/provider.ts';
import type { Context } from '../../../src/kit/operation/context.ts';
import { inWork } from '../../../src/kit/operation/work.ts';
import { contextOf, unique, until } from '../app.ts';
import {
  answeredVersion,
  isGoodToken,
  newAccess,
  refusedKey,
  type StoreAccess,
  showsKeys,
  tokenReply,
} from './store-access.ts';
import { newHooks, type StoreHooks, shopifyHooksReply, wooHooksReply } from './store-hooks.ts';
import { genericListReply, newListing, type StoreListing, shopifyListReply, wooListReply } from './store-orders.ts';

/** What a store has under a code. */
export interface StoreCoupon {
  kind: 'percentage' | 'fixed' | 'free_shipping';
  amount: number;
  active: boolean;
  /** Of WooCommerce: redeemed as often as it may be. */
  usedUp?: boolean;
}

export interface StoreRefund {
  id: number | string;
  date_created_gmt: string;
  amount: string;
  line_items: object[];
  shipping_lines?: object[] | undefined;
  fee_lines?: object[];
}

export interface TestStore {
  url: string;
  provider: Provider;
  token: string;
  name: string;
  currency: string;
  timeZone?: string | undefined;
  /** Its storefront's host; unique, so that a brand can connect many. */
  host: string;
  /** Where it says that it sells, instead of on its host. */
  storefrontUrl: string | undefined;
  /** By code, in lower case. */
  coupons: Map<string, StoreCoupon>;
  /** As its webhooks carry them, by id: what it answers when it is asked for an order, or for those that changed. */
  orders: Map<string, object>;
  listing: StoreListing;
  /** Of WooCommerce, by order. */
  refunds: Map<string, StoreRefund[]>;
  /** Of WooCommerce Subscriptions: the order that started each subscription. Empty: the plugin's routes are missing. */
  subscriptions: Map<string, number>;
  /** What it says of products; undefined: they may not be read. */
  products: Map<string, { categories: string[]; onSale: boolean }> | undefined;
  /** Of Shopify: orders whose prices include tax, and `shop` where they usually do. */
  taxesIncluded: Set<string>;
  /** Of Shopify: what it knows of the visits before an order, by its id. */
  journeys: Map<string, { ready: boolean; landingPages: string[] }>;
  /** Of Shopify: the orders whose journeys were requested, each time. */
  journeysRead: string[];
  /** Of Shopify: has no order any more that it is asked for. */
  isForgetful: boolean;
  access: StoreAccess;
  hooks: StoreHooks;
  /** `GET /path`, in the order they came. */
  requests: string[];
  /** What a call waits for before it is answered. */
  gate: ((path: string) => Promise<void>) | undefined;
  /** Answers every call with this status instead. */
  failWith: number | undefined;
  /** Of Shopify: answers every query with this error's code, with status 200 as GraphQL does. */
  denyWith: string | undefined;
  close(): Promise<void>;
}

export type Reply = { status: number; body: unknown; headers?: Record<string, string> };
const ok = (body: unknown): Reply => ({ status: 200, body });
const refused: Reply = { status: 401, body: { errors: 'unauthorized' } };
const missing: Reply = { status: 404, body: { message: 'not found' } };

const at = (coupons: TestStore['coupons'], code: string) => coupons.get(code.toLowerCase());

function discountOf({ kind, amount, active }: StoreCoupon) {
  const status = active ? 'ACTIVE' : 'EXPIRED';
  if (kind === 'free_shipping') return { __typename: 'DiscountCodeFreeShipping', status };
  const value =
    kind === 'percentage'
      ? { __typename: 'DiscountPercentage', percentage: amount / 100 }
      : { __typename: 'DiscountAmount' };
  return { __typename: 'DiscountCodeBasic', status, customerGets: { value } };
}

const storefrontOf = ({ storefrontUrl, host }: TestStore) => storefrontUrl ?? `https://${host}`;

function shopifyReply(store: TestStore, request: IncomingMessage, body: string): Reply {
  if (request.url === '/admin/oauth/access_token') return tokenReply(store.access, JSON.parse(body));
  const version = answeredVersion(store.access, request.url);
  if (!isGoodToken(store, request.headers['x-shopify-access-token'])) return refused;
  if (request.method !== 'POST' || version === undefined) return missing;
  const reply = graphqlReply(store, body);
  return { ...reply, headers: { ...reply.headers, 'x-shopify-api-version': version } };
}

/** A summary is there, and empty, before Shopify has gathered the visits. */
const journeyOf = (store: TestStore) => (gid: string) => {
  const id = gid.replace('gid://shopify/Order/', '');
  store.journeysRead.push(id);
  const { ready, landingPages } = store.journeys.get(id) ?? { ready: false, landingPages: [] };
  const visits = landingPages.map((landingPage) => ({ landingPage }));
  return {
    legacyResourceId: id,
    customerJourneySummary: { ready, lastVisit: visits.at(-1) ?? null, moments: { nodes: visits } },
  };
};

const shopifyProductOf = (store: TestStore) => (gid: string) => {
  const id = gid.replace('gid://shopify/Product/', '');
  const product = store.products?.get(id);
  if (!product) return null;
  const collections = product.categories.map((title, i) => ({ legacyResourceId: String(i), title, handle: title }));
  return {
    ...{ legacyResourceId: id, productType: '', category: null, collections: { nodes: collections } },
    variants: { nodes: [{ legacyResourceId: '1', price: '10.00', compareAtPrice: product.onSale ? '12.00' : null }] },
  };
};

function graphqlReply(store: TestStore, body: string): Reply {
  const hooks = shopifyHooksReply(store.hooks, JSON.parse(body));
  if (hooks) return hooks;
  if (store.denyWith) return ok({ errors: [{ message: 'no', extensions: { code: store.denyWith } }] });
  const { query, variables } = JSON.parse(body);
  const list = shopifyListReply(store, query, variables);
  if (list) return list;
  if (query.includes('query Products(')) {
    if (!store.products) return ok({ errors: [{ message: 'no', extensions: { code: 'ACCESS_DENIED' } }] });
    return ok({ data: { nodes: variables.ids.map(shopifyProductOf(store)) } });
  }
  if (query.includes('query Journeys(')) return ok({ data: { nodes: variables.ids.map(journeyOf(store)) } });
  if (query.includes('taxesIncluded')) {
    const id = String(variables.id).replace('gid://shopify/Order/', '');
    const order = store.isForgetful ? null : { taxesIncluded: store.taxesIncluded.has(id) };
    return ok({ data: { order, shop: { taxesIncluded: store.taxesIncluded.has('shop') } } });
  }
  const coupon = variables.code && at(store.coupons, variables.code);
  const node = coupon ? { codeDiscount: discountOf(coupon) } : null;
  const url = storefrontOf(store);
  const shop = {
    name: store.name,
    currencyCode: store.currency,
    ianaTimezone: store.timeZone,
    primaryDomain: { host: store.host, url },
  };
  return ok({ data: { ...(query.includes('shop {') ? { shop } : {}), codeDiscountNodeByCode: node } });
}

const wooType = { percentage: 'percent', fixed: 'fixed_cart', free_shipping: 'fixed_product' } as const;

/** As WordPress pages: ten unless asked for up to a hundred, and nothing past the end. */
function pageOf<T>(items: readonly T[], query: URLSearchParams): T[] {
  const size = Math.min(100, Number(query.get('per_page') ?? 10));
  const start = (Number(query.get('page') ?? 1) - 1) * size;
  return items.slice(start, start + size);
}

function wooReply(store: TestStore, request: IncomingMessage, body: string): Reply {
  const url = new URL(request.url ?? '', store.url);
  if (url.pathname === '/wp-json/')
    return ok({ name: store.name, home: storefrontOf(store), timezone_string: store.timeZone ?? '' });
  if (!showsKeys(store, request, url)) return refusedKey(store, request);
  const hooks = wooHooksReply(store.hooks, request.method, url, body);
  if (hooks) return hooks;
  if (url.pathname === '/wp-json/wc/v3/settings/general/woocommerce_currency') {
    return ok({ id: 'woocommerce_currency', value: store.currency });
  }
  if (url.pathname === '/wp-json/wc/v3/coupons') {
    const code = url.searchParams.get('code')?.toLowerCase() ?? '';
    const coupon = store.coupons.get(code);
    if (!coupon) return ok([]);
    const uses = coupon.usedUp ? { usage_limit: 3, usage_count: 3 } : { usage_limit: null, usage_count: 3 };
    const expires = { date_expires_gmt: coupon.active ? null : '2020-01-01T00:00:00' };
    const type = wooType[coupon.kind];
    return ok([{ id: 1, code, amount: coupon.amount.toFixed(2), discount_type: type, ...expires, ...uses }]);
  }
  const [, subscription] = /^\/wp-json\/wc\/v3\/subscriptions\/(\d+)$/.exec(url.pathname) ?? [];
  const parent = subscription && store.subscriptions.get(subscription);
  if (parent !== undefined && parent !== '') return ok({ id: Number(subscription), parent_id: parent });
  if (url.pathname === '/wp-json/wc/v3/products') {
    if (!store.products) return { status: 403, body: { code: 'woocommerce_rest_cannot_view' } };
    const ids = url.searchParams.get('include')?.split(',') ?? [];
    return ok(
      [...store.products].flatMap(([id, { categories, onSale }]) =>
        ids.includes(id)
          ? [{ id: Number(id), on_sale: onSale, categories: categories.map((name, i) => ({ id: i + 1, name })) }]
          : [],
      ),
    );
  }
  if (url.pathname === '/wp-json/wc/v3/orders') return wooListReply(store, url.searchParams);
  const [, id = '', refunds] = /^\/wp-json\/wc\/v3\/orders\/(\d+)(\/refunds)?$/.exec(url.pathname) ?? [];
  if (refunds) return ok(pageOf(store.refunds.get(id) ?? [], url.searchParams));
  const order = store.orders.get(id);
  if (order) return ok(order);
  const code = id ? 'woocommerce_rest_shop_order_invalid_id' : 'rest_no_route';
  return { status: 404, body: { code, message: 'Invalid ID.', data: { status: 404 } } };
}

function genericReply(store: TestStore, request: IncomingMessage): Reply {
  if (request.headers.authorization !== `Bearer ${store.token}`) return refused;
  if (request.url === '/store') {
    return ok({ name: store.name, currency: store.currency, storefront_url: storefrontOf(store) });
  }
  const { pathname, searchParams } = new URL(request.url ?? '', store.url);
  if (pathname === '/orders') return genericListReply(store, searchParams);
  const code = /^\/coupons\/(.+)$/.exec(request.url ?? '')?.[1];
  const coupon = code && at(store.coupons, decodeURIComponent(code));
  if (!code || !coupon) return missing;
  const percentage = coupon.kind === 'percentage' ? coupon.amount : null;
  return ok({ code: decodeURIComponent(code), percentage, active: coupon.active });
}

function replyOf(store: TestStore, request: IncomingMessage, body: string): Reply {
  store.requests.push(`${request.method} ${request.url}`);
  if (store.failWith !== undefined) return { status: store.failWith, body: { message: 'no' } };
  if (store.provider === 'shopify') return shopifyReply(store, request, body);
  return store.provider === 'woocommerce' ? wooReply(store, request, body) : genericReply(store, request);
}

async function listen(server: Server): Promise<string> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  return `http://127.0.0.1:${typeof address === 'object' && address ? address.port : 0}`;
}

/** A local server that speaks the documented API of a store. */
export async function startStore(provider: Provider, options: { currency?: string } = {}): Promise<TestStore> {
  const server = createServer(async (request, response) => {
    const { status, body, headers } = replyOf(store, request, await text(request));
    await store.gate?.(request.url ?? '');
    response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body));
  });
  const store: TestStore = {
    url: await listen(server),
    provider,
    token: provider === 'woocommerce' ? `ck_${unique('key')}:cs_secret` : unique('token'),
    name: 'A store',
    currency: options.currency ?? 'USD',
    host: `${unique('shop')}.example`,
    storefrontUrl: undefined,
    coupons: new Map(),
    orders: new Map(),
    listing: newListing(),
    refunds: new Map(),
    subscriptions: new Map(),
    products: new Map(),
    taxesIncluded: new Set(),
    journeys: new Map(),
    journeysRead: [],
    isForgetful: false,
    access: newAccess(),
    hooks: newHooks(),
    requests: [],
    gate: undefined,
    failWith: undefined,
    denyWith: undefined,
    close: async () => {
      server.close();
      server.closeAllConnections();
    },
  };
  return store;
}

export const WEBHOOK_SECRET = 'whsec of a test';

/** Connects a store as the command line does; answers the integration's id. */
export async function connectTestStore(context: Context, brandId: string, store: TestStore): Promise<string> {
  const { provider, url: baseUrl, token } = store;
  const met = await identifyStore(context, { provider, baseUrl, token, webhookSecret: WEBHOOK_SECRET });
  const actor = { brandId, keyId: null, operation: 'test', requestId: null };
  const { db } = context.postgres;
  const work = await inWork(db, context.clock, actor, (one) => connectStore(one, context.secrets, met));
  // What other tests run as workers must neither sweep it nor look at its webhooks.
  await scheduleSweep(context, work.id, null);
  await db.updateTable('integrations').set({ webhooksDueAt: null }).where('id', '=', work.id).execute();
  return work.id;
}

/** When a store is swept next; null: not at all. */
export async function scheduleSweep({ postgres }: Context, integrationId: string, at: Date | null): Promise<void> {
  await postgres.db.updateTable('integrations').set({ sweepAt: at }).where('id', '=', integrationId).execute();
}

/** Bytes as a store signs them. */
export function signedText(provider: Provider, secret: string, topic: string, body: string) {
  const hmac = (encoding: 'base64' | 'hex') => createHmac('sha256', secret).update(body).digest(encoding);
  const type = { 'content-type': 'application/json' };
  if (provider === 'shopify') {
    return { headers: { ...type, 'x-shopify-topic': topic, 'x-shopify-hmac-sha256': hmac('base64') }, body };
  }
  if (provider === 'woocommerce') {
    return { headers: { ...type, 'x-wc-webhook-topic': topic, 'x-wc-webhook-signature': hmac('base64') }, body };
  }
  return { headers: { ...type, 'x-service-signature': `sha256=${hmac('hex')}` }, body };
}

/** A webhook as the store sends it. Of a generic store the topic is the event, and `data` its body. */
export function signedDelivery(
  provider: Provider,
  secret: string,
  topic: string,
  data: object,
  createdAt = new Date(),
): { headers: Record<string, string>; body: string } {
  const reported = provider === 'generic' ? { event: topic, createdAt: createdAt.toISOString(), data } : data;
  return signedText(provider, secret, topic, JSON.stringify(reported));
}

/** Folds what the store has sent, as workers do; deliveries that wait for a later attempt go on waiting. */
export async function foldAll(context: Context, integrationId: string): Promise<void> {
  const { postgres, clock } = context;
  const { brandId } = await postgres.db
    .selectFrom('integrations')
    .select('brandId')
    .where('id', '=', integrationId)
    .executeTakeFirstOrThrow();
  const owner = unique('test');
  await until('its deliveries are folded', async () => {
    await foldBatch(context, owner, brandId);
    const { rows } = await sql`
      select from store_deliveries where brand_id = ${brandId} and integration_id = ${integrationId}
        and state = 'waiting' and next_attempt_at <= ${clock.now()} limit 1`.execute(postgres.db);
    return rows.length === 0;
  });
}

/** What became of the store's newest delivery. */
export async function newestDelivery({ postgres }: Context, integrationId: string) {
  const row = await postgres.db
    .selectFrom('storeDeliveries')
    .selectAll()
    .where('integrationId', '=', integrationId)
    .orderBy('receivedAt', 'desc')
    .orderBy('id', 'desc')
    .limit(1)
    .executeTakeFirst();
  return row && toStoreDelivery(row);
}

/** Delivers as a store does. An app of this process has folded what it took when this returns; `became` says how it went. */
export async function deliver(
  appUrl: string,
  provider: Provider,
  integrationId: string,
  delivery: { headers: Record<string, string>; body: string },
) {
  const response = await fetch(`${appUrl}/ingest/${provider}/${integrationId}`, { method: 'POST', ...delivery });
  const { status, headers } = response;
  const answer = { status, headers, body: JSON.parse(await response.text()) };
  const context = contextOf(appUrl);
  if (!context || status !== 200) return { ...answer, became: undefined };
  await foldAll(context, integrationId);
  return { ...answer, became: await newestDelivery(context, integrationId) };
}

/** Every way in which some deliveries may come. */
export function* inEveryOrder<T>(items: readonly T[]): Generator<T[]> {
  if (items.length === 0) yield [];
  for (const [i, item] of items.entries()) {
    for (const rest of inEveryOrder(items.toSpliced(i, 1))) yield [item, ...rest];
  }
}

/** A store of each provider. */
export async function startStores() {
  const stores = new Map<string, TestStore>();
  for (const provider of PROVIDERS) stores.set(provider, await startStore(provider, { currency: 'EUR' }));
  return {
    get: (provider: string): TestStore => {
      const store = stores.get(provider);
      if (!store) throw new Error(`No store ${provider}.`);
      return store;
    },
    close: async () => {
      for (const store of stores.values()) await store.close();
    },
  };
}

/** How a provider's client is given a store. */
export const requested = (store: TestStore) => ({
  baseUrl: store.url,
  token: store.token,
  currency: store.currency,
  renewalTags: null,
  firstTags: null,
  allow: ['127.0.0.1'],
});
