import { z } from 'zod';
import { foldCase } from '../../../kit/values/fold.ts';
import { Currency } from '../../../kit/values/money.ts';
import {
  askStore,
  type Coupon,
  callStore,
  getFromStore,
  getHeader,
  type ListedWebhook,
  needsReconnect,
  type StoreAccess,
  type StoreAnswer,
  type StoreClient,
  StorefrontUrl,
  StoreName,
  type StoreRequest,
  StoreZone,
  storeUnavailable,
  WebhookRefused,
} from './provider.ts';
import { isSignedBy } from './signature.ts';
import { listWooOrders, WooOrders } from './woocommerce-list.ts';
import { readWooCommerce, WooOrder, type WooRefund, WooRefunds, WooTime } from './woocommerce-orders.ts';
import { listWooProducts } from './woocommerce-products.ts';
import { readWooWish } from './woocommerce-wishes.ts';

const API = '/wp-json/wc/v3';
/** Largest page that WooCommerce allows. */
const PER_PAGE = 100;
const MAX_PAGES = 50;

const Site = z.object({ name: StoreName, home: StorefrontUrl, timezone_string: StoreZone });
const Setting = z.object({ value: Currency });

const Coupons = z.array(
  z.object({
    code: z.string(),
    amount: z.string(),
    discount_type: z.string(),
    status: z.string().optional(),
    date_expires_gmt: WooTime.nullish(),
    usage_limit: z.number().int().nullish(),
    usage_count: z.number().int().default(0),
  }),
);
type WooCoupon = z.output<typeof Coupons>[number];

/** The token is `consumer key:consumer secret`, as basic authentication writes it. */
function credentials({ token, keysInQuery }: StoreAccess) {
  if (!keysInQuery) return { headers: { authorization: `Basic ${Buffer.from(token).toString('base64')}` } };
  const [key = '', secret = ''] = token.split(':');
  return { query: { consumer_key: key, consumer_secret: secret } };
}

/** WooCommerce received no key: `Consumer key is missing`, or an error for anonymous callers. */
const NO_KEY_SEEN = /Consumer key is missing|woocommerce_rest_cannot_/i;

/** Moves the keys to the query if the host drops the `Authorization` header, over TLS only: they would be readable. */
function showsAgain(store: StoreAccess, text: string): boolean {
  if (store.keysInQuery || !NO_KEY_SEEN.test(text) || !store.baseUrl.startsWith('https:')) return false;
  store.keysInQuery = true;
  return true;
}

const toRequest = <T>(path: string, shape: z.ZodType<T>): StoreRequest<T> => ({
  method: 'GET',
  path,
  shape,
  credentials,
  showsAgain,
});

const get = <T>(store: StoreAccess, path: string, shape: z.ZodType<T>) => getFromStore(store, toRequest(path, shape));

async function list<T>(store: StoreAccess, path: string, shape: z.ZodType<T>): Promise<StoreAnswer<T>> {
  const answer = await callStore(store, { ...toRequest(`${API}${path}`, shape), isList: true });
  if (!answer) throw storeUnavailable(new Error(`It has no ${API}${path}.`));
  return answer;
}

const listCoupons = (store: StoreAccess, code: string) =>
  get(store, `${API}/coupons?code=${encodeURIComponent(code)}`, Coupons);

function isActive({ status, date_expires_gmt, usage_limit, usage_count }: WooCoupon, now: Date): boolean {
  const isPublished = status === undefined || status === 'publish';
  const isUsedUp = usage_limit !== null && usage_limit !== undefined && usage_limit > 0 && usage_count >= usage_limit;
  return isPublished && !isUsedUp && (!date_expires_gmt || date_expires_gmt > now);
}

async function findCoupon(store: StoreAccess, code: string, now: Date): Promise<Coupon> {
  const coupons = await listCoupons(store, code);
  const coupon = coupons.find((one) => foldCase(one.code) === foldCase(code));
  if (!coupon) return { state: 'not_found' };
  if (coupon.discount_type !== 'percent') return { state: 'not_percentage' };
  if (!isActive(coupon, now)) return { state: 'inactive' };
  return { state: 'active', percentage: Number(coupon.amount), endsAt: coupon.date_expires_gmt ?? null };
}

/** WooCommerce's own code; WordPress answers 404 as well where the plugin or its routes are off. */
const NO_SUCH_ORDER = 'woocommerce_rest_shop_order_invalid_id';

const orderPath = (orderId: string) => `${API}/orders/${encodeURIComponent(orderId)}`;

async function listRefunds(store: StoreAccess, orderId: string): Promise<WooRefund[]> {
  const allRefunds: WooRefund[] = [];
  for (let page = 1; page <= MAX_PAGES; page += 1) {
    const path = `${orderPath(orderId)}/refunds?per_page=${PER_PAGE}&page=${page}`;
    const refunds = await get(store, path, WooRefunds);
    allRefunds.push(...refunds);
    if (refunds.length < PER_PAGE) return allRefunds;
  }
  throw storeUnavailable(new Error(`It has ${allRefunds.length} refunds of the order ${orderId}, or more.`));
}

const TOPICS = ['order.created', 'order.updated', 'order.deleted', 'order.restored'] as const;

/** Of WooCommerce Subscriptions. One that a person made has no order that started it. */
const Subscription = z.object({ parent_id: z.number().int() });

const Webhook = z.object({
  id: z.number().int(),
  topic: z.string(),
  delivery_url: z.string(),
  status: z.enum(['active', 'paused', 'disabled']),
});

async function listWebhooks(store: StoreAccess): Promise<ListedWebhook[]> {
  const allWebhooks: ListedWebhook[] = [];
  for (let page = 1; page <= MAX_PAGES; page += 1) {
    const webhooks = await get(store, `${API}/webhooks?per_page=${PER_PAGE}&page=${page}`, z.array(Webhook));
    allWebhooks.push(
      ...webhooks.map(({ id, topic, delivery_url: url, status: state }) => ({ id: String(id), topic, url, state })),
    );
    if (webhooks.length < PER_PAGE) break;
  }
  return allWebhooks;
}

const READ_ONLY =
  'The key may not make webhooks. In WooCommerce, under Settings, Advanced, REST API, make a key with the permission Read/Write, of a user who may manage WooCommerce.';

/** A key that may only read is refused with the status of a wrong key. */
function throwWriteRefused(error: unknown): never {
  if (needsReconnect(error)) throw new WebhookRefused(READ_ONLY, { cause: error });
  throw error;
}

export const woocommerce: StoreClient = {
  topics: TOPICS,
  webhooks: {
    alsoTopics: [],
    mayBeMade: () => true,
    list: listWebhooks,
    make: async (store, { topic, url, secret }) => {
      const body = { name: `Rollcall ${topic}`, topic, delivery_url: url, secret, status: 'active' };
      const request = { ...toRequest(`${API}/webhooks`, Webhook), method: 'POST' as const, body };
      await getFromStore(store, request).catch(throwWriteRefused);
    },
    remove: async (store, id) => {
      const request = { ...toRequest(`${API}/webhooks/${id}?force=true`, z.unknown()), method: 'DELETE' as const };
      await askStore(store, request).catch(throwWriteRefused);
    },
    sign: async (store, id, secret) => {
      const request = { ...toRequest(`${API}/webhooks/${id}`, Webhook), method: 'POST' as const, body: { secret } };
      await getFromStore(store, request).catch(throwWriteRefused);
    },
  },
  connect: async (store) => {
    const site = await get(store, '/wp-json/', Site);
    const { value: currency } = await get(store, `${API}/settings/general/woocommerce_currency`, Setting);
    // Shows now, not at the first link, that the key may read coupons.
    await listCoupons(store, 'rollcall');
    const { name, home, timezone_string: timeZone } = site;
    return { name: name || new URL(home).host, currency, storefrontUrl: home, timeZone };
  },
  findCoupon,
  verify: (rawBody, headers, secret) => isSignedBy(secret, rawBody, headers['x-wc-webhook-signature'], 'base64'),
  readWish: readWooWish,
  isPing: (rawBody, headers) =>
    /^application\/x-www-form-urlencoded\b/i.test(getHeader(headers, 'content-type')) &&
    rawBody.length < 50 &&
    /^webhook_id=\d+$/.test(rawBody.toString('latin1')),
  read: (delivery, store) =>
    readWooCommerce(delivery, {
      findOrder: (orderId) => askStore(store, { ...toRequest(orderPath(orderId), WooOrder), goneText: NO_SUCH_ORDER }),
      listRefunds: (orderId) => listRefunds(store, orderId),
    }),
  findFirstOrder: async (store, id) => {
    const path = `${API}/subscriptions/${encodeURIComponent(id)}`;
    const parent = (await askStore(store, toRequest(path, Subscription)))?.parent_id;
    return parent === 0 ? undefined : parent?.toString();
  },
  listProducts: (store, lines) => listWooProducts(async (path, shape) => (await list(store, path, shape)).body, lines),
  listOrders: (store, since) => listWooOrders(since, (path) => list(store, path, WooOrders)),
};
