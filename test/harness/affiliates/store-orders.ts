import { z } from 'zod';
import type { Reply, TestStore } from './store.ts';

/** How a test store lists its orders: `store.orders`, as its webhooks carry them. */
export interface StoreListing {
  /** Of a generic store: it serves `GET /orders`. */
  isServed: boolean;
  /** Of Shopify: points that queries may cost, which come back with the store's clock. */
  points: { left: number; most: number; aSecond: number; asOf: number };
  /** Answers the next calls of a list with 429, and these headers. */
  busy: Record<string, string>[];
  /** Of Shopify: what the token may not read is null, with an error beside it. */
  isWithoutEmails: boolean;
  /** The same of customers and addresses. */
  isWithoutCustomers: boolean;
}

export const newListing = (): StoreListing => ({
  isServed: true,
  points: { left: 2_000, most: 2_000, aSecond: 100, asOf: 0 },
  busy: [],
  isWithoutEmails: false,
  isWithoutCustomers: false,
});

/** A single query may cost no more. */
const MOST_POINTS = 1_000;
const POINTS_AN_ORDER = 40;
const LINES_AN_ORDER = 20;
const GENERIC_PAGE = 50;

const ok = (body: unknown, headers: Record<string, string> = {}): Reply => ({ status: 200, body, headers });

const text = z.string();
const Money = z.union([z.string(), z.number()]).transform((amount) => String(amount));
const MoneySet = z.object({ shop_money: z.object({ amount: Money, currency_code: text }) });
const RefundLine = z.looseObject({
  quantity: z.number(),
  line_item_id: z.number(),
  subtotal_set: MoneySet,
  total_tax_set: MoneySet,
});
const Address = z.object({ country_code: text.nullable() }).nullish();
const Body = z.looseObject({
  id: z.number(),
  currency: text,
  created_at: text,
  updated_at: text,
  cancelled_at: text.nullable(),
  financial_status: text.nullable(),
  test: z.boolean(),
  taxes_included: z.boolean(),
  email: text,
  landing_site: text.nullable(),
  customer: z.looseObject({ id: z.number(), email: text.nullish() }).nullish(),
  shipping_address: Address,
  billing_address: Address,
  total_price: Money.optional(),
  tags: text.default(''),
  note_attributes: z.array(z.object({ name: text, value: text })),
  discount_codes: z.array(z.looseObject({ code: text })),
  line_items: z.array(
    z.looseObject({
      id: z.number(),
      title: text,
      quantity: z.number(),
      price: Money,
      gift_card: z.boolean(),
      requires_shipping: z.boolean(),
      sku: text.nullish(),
      product_id: z.number().nullish(),
      variant_id: z.number().nullish(),
      properties: z.array(z.object({ name: text, value: text })).default([]),
      discount_allocations: z.array(z.looseObject({ amount: Money })),
      tax_lines: z.array(z.looseObject({ price: Money })),
    }),
  ),
  refunds: z.array(
    z.looseObject({
      id: z.number(),
      created_at: text,
      processed_at: text.optional(),
      refund_line_items: z.array(RefundLine),
      order_adjustments: z.array(z.looseObject({ amount: Money, kind: text.optional(), reason: text.optional() })),
    }),
  ),
});
type Body = z.output<typeof Body>;

const bag = (amount: string, currencyCode: string) => ({ shopMoney: { amount, currencyCode } });

/** The first of them, and where to go on: an offset. */
function connection<T>(nodes: readonly T[], first: number, after: string | null = null) {
  const start = Number(after ?? 0);
  const end = Math.min(start + first, nodes.length);
  return {
    pageInfo: { hasNextPage: end < nodes.length, endCursor: String(end) },
    nodes: nodes.slice(start, end),
  };
}

const isTip = (line: object) => 'tip' in line || 'tip_payment_gateway' in line;

const linesOf = ({ line_items: lines, currency }: Body) =>
  lines.map((line) => ({
    id: `gid://shopify/LineItem/${line.id}`,
    title: line.title,
    sku: line.sku ?? null,
    quantity: line.quantity,
    isGiftCard: line.gift_card,
    requiresShipping: line.requires_shipping,
    product: isTip(line)
      ? null
      : typeof line.product_id === 'number'
        ? { id: `gid://shopify/Product/${line.product_id}` }
        : {},
    variant: typeof line.variant_id === 'number' ? { id: `gid://shopify/ProductVariant/${line.variant_id}` } : null,
    customAttributes: line.properties.map(({ name, value }) => ({ key: name, value })),
    originalUnitPriceSet: bag(line.price, currency),
    discountAllocations: line.discount_allocations.map(({ amount }) => ({ allocatedAmountSet: bag(amount, currency) })),
    taxLines: line.tax_lines.map(({ price }) => ({ priceSet: bag(price, currency) })),
  }));

const refundedLinesOf = (refund: Body['refunds'][number]) =>
  refund.refund_line_items.map(({ quantity, line_item_id: id, subtotal_set, total_tax_set }) => ({
    quantity,
    lineItem: { id: `gid://shopify/LineItem/${id}` },
    subtotalSet: bag(subtotal_set.shop_money.amount, subtotal_set.shop_money.currency_code),
    totalTaxSet: bag(total_tax_set.shop_money.amount, total_tax_set.shop_money.currency_code),
  }));

/** Refunded shipping is an adjustment in webhooks only. */
const adjustmentsOf = ({ order_adjustments: adjustments }: Body['refunds'][number], { currency }: Body) =>
  adjustments
    .filter(({ kind, reason = '' }) => kind !== 'shipping_refund' && !/^shipping/i.test(reason))
    .map(({ amount, reason = 'Refund discrepancy' }) => ({
      reason: reason.toUpperCase().replaceAll(' ', '_'),
      amountSet: bag(amount, currency),
    }));

const tipsOf = ({ line_items: lines }: Body): number =>
  lines.reduce((sum, line) => sum + (isTip(line) ? Number(line.price) : 0), 0);

/** Addresses and customers as GraphQL gives them. */
function peopleOf(body: Body, { isWithoutEmails, isWithoutCustomers }: StoreListing) {
  const email = isWithoutEmails ? null : body.email;
  if (isWithoutCustomers) return { email, customer: null, shippingAddress: null, billingAddress: null };
  const addressOf = (address: Body['billing_address']) => (address ? { countryCodeV2: address.country_code } : null);
  const { customer } = body;
  const address = customer?.email ? { emailAddress: customer.email } : null;
  return {
    email,
    customer: customer
      ? { id: `gid://shopify/Customer/${customer.id}`, defaultEmailAddress: isWithoutEmails ? null : address }
      : null,
    shippingAddress: addressOf(body.shipping_address),
    billingAddress: addressOf(body.billing_address),
  };
}

/** The order as GraphQL gives it, of what webhooks carry. */
function nodeOf(body: Body, listing: StoreListing) {
  return {
    legacyResourceId: String(body.id),
    name: body.name,
    currencyCode: body.currency,
    createdAt: body.created_at,
    updatedAt: body.updated_at,
    cancelledAt: body.cancelled_at,
    displayFinancialStatus: body.financial_status?.toUpperCase() ?? null,
    test: body.test,
    taxesIncluded: body.taxes_included,
    ...peopleOf(body, listing),
    discountCodes: body.discount_codes.map(({ code }) => code),
    sourceName: typeof body.source_name === 'string' ? body.source_name : 'web',
    tags: body.tags.split(', ').filter((tag) => tag !== ''),
    customAttributes: body.note_attributes.map(({ name, value }) => ({ key: name, value })),
    customerJourneySummary: body.landing_site === null ? null : { lastVisit: { landingPage: body.landing_site } },
    totalPriceSet: body.total_price === undefined ? null : bag(body.total_price, body.currency),
    totalTipReceivedSet: bag(tipsOf(body).toFixed(2), body.currency),
    lineItems: connection(linesOf(body), LINES_AN_ORDER),
    refunds: body.refunds.map((refund) => ({
      id: `gid://shopify/Refund/${refund.id}`,
      legacyResourceId: String(refund.id),
      createdAt: refund.created_at,
      processedAt: refund.processed_at ?? refund.created_at,
      refundLineItems: connection(refundedLinesOf(refund), LINES_AN_ORDER),
      orderAdjustments: { nodes: adjustmentsOf(refund, body) },
    })),
  };
}

const Variables = z.object({
  first: z.number().default(50),
  after: text.nullable().default(null),
  query: text.default(''),
  id: text.default(''),
});
type Variables = z.output<typeof Variables>;

const bodiesOf = ({ orders }: TestStore): Body[] => [...orders.values()].map((body) => Body.parse(body));

function ordersOf(store: TestStore, { first, after, query }: Variables) {
  const [, since = '', before = '9999-01-01'] =
    /^updated_at:>='([^']+)'(?: AND updated_at:<'([^']+)')?$/.exec(query) ?? [];
  const found = bodiesOf(store)
    .filter(({ updated_at }) => Date.parse(updated_at) >= Date.parse(since))
    .filter(({ updated_at }) => Date.parse(updated_at) < Date.parse(before))
    .sort((a, b) => Date.parse(a.updated_at) - Date.parse(b.updated_at) || a.id - b.id);
  // A cursor names an order by its place in the sort, so that pages do not move as orders change.
  const from = found.findIndex(({ updated_at, id }) => `${updated_at} ${id}` > (after ?? ''));
  const page = after !== null && from < 0 ? [] : found.slice(Math.max(from, 0), Math.max(from, 0) + first);
  const last = page.at(-1);
  return {
    pageInfo: {
      hasNextPage: last !== undefined && last !== found.at(-1),
      endCursor: last ? `${last.updated_at} ${last.id}` : null,
    },
    nodes: page.map((body) => nodeOf(body, store.listing)),
  };
}

function dataOf(store: TestStore, query: string, variables: Variables): { cost: number; used: number; data: object } {
  if (query.includes('query Orders(')) {
    const orders = ordersOf(store, variables);
    const used = 2 + orders.nodes.length * Math.ceil(POINTS_AN_ORDER / 4);
    return { cost: 2 + variables.first * POINTS_AN_ORDER, used, data: { orders } };
  }
  if (query.includes('query Order(')) {
    const body = bodiesOf(store).find(({ id }) => variables.id === `gid://shopify/Order/${id}`);
    return { cost: POINTS_AN_ORDER, used: 10, data: { order: body ? nodeOf(body, store.listing) : null } };
  }
  if (query.includes('query Lines(')) {
    const body = bodiesOf(store).find(({ id }) => variables.id === `gid://shopify/Order/${id}`);
    const order = body ? { lineItems: connection(linesOf(body), 50, variables.after) } : null;
    return { cost: 402, used: 102, data: { order } };
  }
  const refunds = bodiesOf(store).flatMap((body) => body.refunds);
  const found = refunds.find(({ id }) => variables.id === `gid://shopify/Refund/${id}`);
  const refund = found ? { refundLineItems: connection(refundedLinesOf(found), 50, variables.after) } : null;
  return { cost: 302, used: 102, data: { refund } };
}

/** A list of orders by GraphQL, at its price; undefined of another query. */
export function shopifyListReply(store: TestStore, query: string, given: object): Reply | undefined {
  if (!/query (?:Orders?|Lines|RefundedLines)\(/.test(query)) return undefined;
  const { listing, access } = store;
  const busy = listing.busy.shift();
  if (busy) return { status: 429, body: { errors: 'Exceeded 2 calls per second' }, headers: busy };
  const { cost, used, data } = dataOf(store, query, Variables.parse(given));
  if (cost > MOST_POINTS) {
    const message = `Query cost is ${cost}, which exceeds the single query max cost limit (${MOST_POINTS}).`;
    return ok({ errors: [{ message, extensions: { code: 'MAX_COST_EXCEEDED', cost, maxCost: MOST_POINTS } }] });
  }
  const { points } = listing;
  const nowMs = access.now().getTime();
  points.left = Math.min(points.most, points.left + ((nowMs - points.asOf) / 1_000) * points.aSecond);
  points.asOf = nowMs;
  const isThrottled = points.left < cost;
  if (!isThrottled) points.left -= used;
  const throttleStatus = {
    ...{ maximumAvailable: points.most, currentlyAvailable: points.left, restoreRate: points.aSecond },
  };
  const extensions = {
    cost: { requestedQueryCost: cost, actualQueryCost: isThrottled ? null : used, throttleStatus },
  };
  if (isThrottled) return ok({ errors: [{ message: 'Throttled', extensions: { code: 'THROTTLED' } }], extensions });
  const hidden = [
    ...(listing.isWithoutEmails ? ['email'] : []),
    ...(listing.isWithoutCustomers ? ['customer', 'shippingAddress', 'billingAddress'] : []),
  ];
  const errors = hidden.map((field) => ({
    message: `This app is not approved to use the ${field} field.`,
    path: ['orders', 'nodes', 0, field],
    extensions: { code: 'ACCESS_DENIED' },
  }));
  return ok({ data, ...(errors.length > 0 ? { errors } : {}), extensions });
}

const WooBody = z.looseObject({ id: z.number(), status: text, date_modified_gmt: text });
/** Of its site, which is where `modified_after` is without `dates_are_gmt`. */
const SITE_OFFSET_MS = -5 * 3_600_000;

export function wooListReply(store: TestStore, query: URLSearchParams): Reply {
  const busy = store.listing.busy.shift();
  if (busy) return { status: 429, body: { code: 'too_many_requests' }, headers: busy };
  const offsetMs = query.get('dates_are_gmt') === 'true' ? 0 : SITE_OFFSET_MS;
  const after = Date.parse(`${query.get('modified_after')}Z`) + offsetMs;
  const before = Date.parse(`${query.get('modified_before') ?? '9999-01-01T00:00:00'}Z`) + offsetMs;
  const isTrash = query.get('status') === 'trash';
  const modified = (body: z.output<typeof WooBody>) => Date.parse(`${body.date_modified_gmt}Z`);
  const found = [...store.orders.values()]
    .map((body) => WooBody.parse(body))
    .filter((body) => (body.status === 'trash') === isTrash && modified(body) > after && modified(body) < before)
    .sort((a, b) => modified(a) - modified(b) || a.id - b.id);
  if (query.get('orderby') !== 'modified' || query.get('order') !== 'asc') found.reverse();
  const size = Math.min(100, Number(query.get('per_page') ?? 10));
  const start = (Number(query.get('page') ?? 1) - 1) * size;
  const pages = Math.max(1, Math.ceil(found.length / size));
  return ok(found.slice(start, start + size), {
    'x-wp-total': String(found.length),
    'x-wp-totalpages': String(pages),
  });
}

const GenericBody = z.looseObject({ updated_at: text });

export function genericListReply({ listing, orders }: TestStore, query: URLSearchParams): Reply {
  if (!listing.isServed) return { status: 404, body: { message: 'not found' } };
  const busy = listing.busy.shift();
  if (busy) return { status: 429, body: {}, headers: busy };
  const since = Date.parse(query.get('updated_since') ?? '');
  const found = [...orders.values()]
    .map((body) => GenericBody.parse(body))
    .filter(({ updated_at }) => Date.parse(updated_at) >= since)
    .sort((a, b) => Date.parse(a.updated_at) - Date.parse(b.updated_at));
  const { nodes, pageInfo } = connection(found, GENERIC_PAGE, query.get('cursor'));
  return ok({ orders: nodes, next_cursor: pageInfo.hasNextPage ? pageInfo.endCursor : null });
}
