import { z } from 'zod';
import { Currency } from '../../../kit/values/money.ts';
import type { ChangedOrdersQuery, OrderPage, StoreAccess } from './provider.ts';
import { callShopify, getAffordableShare, type ShopifyAnswer } from './shopify-graphql.ts';

/** First page size. A page above the cost limit is requested again with fewer orders. */
const MOST_AT_ONCE = 50;
/** Shopify may add other costs to its estimate, so pages stay below it. */
const MARGIN = 0.9;

const MONEY = '{ shopMoney { amount currencyCode } }';

const LINES = `pageInfo { hasNextPage endCursor } nodes {
  id title sku quantity isGiftCard requiresShipping product { id } variant { id }
  customAttributes { key value }
  originalUnitPriceSet ${MONEY}
  discountAllocations { allocatedAmountSet ${MONEY} }
  taxLines { priceSet ${MONEY} }
}`;

const REFUNDED_LINES = `pageInfo { hasNextPage endCursor } nodes {
  quantity lineItem { id } subtotalSet ${MONEY} totalTaxSet ${MONEY}
}`;

/** All that `orders/updated` says of an order and that decides whose it is and what it pays. */
const ORDER = `
  legacyResourceId name currencyCode createdAt updatedAt cancelledAt displayFinancialStatus
  test taxesIncluded email discountCodes sourceName tags
  customer { id defaultEmailAddress { emailAddress } }
  shippingAddress { countryCodeV2 }
  billingAddress { countryCodeV2 }
  customAttributes { key value }
  customerJourneySummary { lastVisit { landingPage } }
  totalPriceSet ${MONEY}
  totalTipReceivedSet ${MONEY}
  lineItems(first: 20) { ${LINES} }
  refunds {
    id legacyResourceId createdAt processedAt
    refundLineItems(first: 20) { ${REFUNDED_LINES} }
    orderAdjustments(first: 10) { nodes { reason amountSet ${MONEY} } }
  }`;

/** Sorted by change, so that orders that change meanwhile appear again on a later page. */
const ORDERS = `query Orders($first: Int!, $after: String, $query: String!) {
  orders(first: $first, after: $after, sortKey: UPDATED_AT, query: $query) {
    pageInfo { hasNextPage endCursor }
    nodes { ${ORDER} }
  }
}`;

const ONE_ORDER = `query Order($id: ID!) { order(id: $id) { ${ORDER} } }`;

const MORE_LINES = `query Lines($id: ID!, $after: String!) {
  order(id: $id) { lineItems(first: 50, after: $after) { ${LINES} } }
}`;

const MORE_REFUNDED_LINES = `query RefundedLines($id: ID!, $after: String!) {
  refund(id: $id) { refundLineItems(first: 50, after: $after) { ${REFUNDED_LINES} } }
}`;

const Bag = z.object({ shopMoney: z.object({ amount: z.string(), currencyCode: Currency }) });
type Bag = z.output<typeof Bag>;

const PageInfo = z.object({ hasNextPage: z.boolean(), endCursor: z.string().nullable() });
const createConnectionShape = <T>(node: z.ZodType<T>) => z.object({ pageInfo: PageInfo, nodes: z.array(node) });

const ShopifyListLine = z.object({
  id: z.string(),
  title: z.string(),
  sku: z.string().nullish(),
  quantity: z.number().int(),
  isGiftCard: z.boolean(),
  requiresShipping: z.boolean(),
  product: z.object({ id: z.string().optional() }).nullable(),
  variant: z.object({ id: z.string() }).nullish(),
  customAttributes: z.array(z.object({ key: z.string(), value: z.string().nullable() })).default([]),
  originalUnitPriceSet: Bag,
  discountAllocations: z.array(z.object({ allocatedAmountSet: Bag })),
  taxLines: z.array(z.object({ priceSet: Bag })),
});
type ShopifyListLine = z.output<typeof ShopifyListLine>;
const Lines = createConnectionShape(ShopifyListLine);

const RefundedLine = z.object({
  quantity: z.number().int(),
  lineItem: z.object({ id: z.string() }),
  subtotalSet: Bag,
  totalTaxSet: Bag,
});
const RefundedLines = createConnectionShape(RefundedLine);

const Refund = z.object({
  id: z.string(),
  legacyResourceId: z.string(),
  createdAt: z.string().nullable(),
  processedAt: z.string().nullish(),
  refundLineItems: RefundedLines,
  orderAdjustments: z.object({ nodes: z.array(z.object({ reason: z.string().nullable(), amountSet: Bag })) }),
});

const Address = z.object({ countryCodeV2: z.string().nullish() }).nullish();

const ShopifyListOrder = z.object({
  legacyResourceId: z.string(),
  name: z.string().nullish(),
  currencyCode: z.string(),
  createdAt: z.string(),
  updatedAt: z.string(),
  cancelledAt: z.string().nullable(),
  displayFinancialStatus: z.string().nullable(),
  test: z.boolean(),
  taxesIncluded: z.boolean(),
  email: z.string().nullable(),
  customer: z
    .object({ id: z.string().nullish(), defaultEmailAddress: z.object({ emailAddress: z.string() }).nullish() })
    .nullish(),
  shippingAddress: Address,
  billingAddress: Address,
  discountCodes: z.array(z.string()),
  sourceName: z.string().nullable(),
  tags: z.array(z.string()),
  customAttributes: z.array(z.object({ key: z.string(), value: z.string().nullable() })),
  customerJourneySummary: z
    .object({ lastVisit: z.object({ landingPage: z.string().nullable() }).nullable() })
    .nullable(),
  totalPriceSet: Bag.nullish(),
  totalTipReceivedSet: Bag.nullable(),
  lineItems: Lines,
  refunds: z.array(Refund),
});
type ShopifyListOrder = z.output<typeof ShopifyListOrder>;

const Orders = z.object({ orders: createConnectionShape(ShopifyListOrder) });
const OneOrder = z.object({ order: ShopifyListOrder.nullable() });
const MoreLines = z.object({ order: z.object({ lineItems: Lines }).nullable() });
const MoreRefundedLines = z.object({ refund: z.object({ refundLineItems: RefundedLines }).nullable() });

type Connection<T> = { pageInfo: z.output<typeof PageInfo>; nodes: T[] };

/** Lists all nodes of a connection, whose first page comes with the order. */
async function listAllNodes<T>(
  first: Connection<T>,
  more: (after: string) => Promise<Connection<T> | undefined>,
): Promise<T[]> {
  const nodes = [...first.nodes];
  let { pageInfo } = first;
  while (pageInfo.hasNextPage && pageInfo.endCursor !== null) {
    const next = await more(pageInfo.endCursor);
    if (!next) break;
    nodes.push(...next.nodes);
    pageInfo = next.pageInfo;
  }
  return nodes;
}

/** `gid://shopify/LineItem/7` is 7 in webhooks. */
const toNumericId = (gid: string): string => gid.slice(gid.lastIndexOf('/') + 1);

/** The id of something that the order may lack, or that the token may not read. */
const toOptionalNumericId = (node: { id?: string | null | undefined } | null | undefined): string | null =>
  typeof node?.id === 'string' ? toNumericId(node.id) : null;

const toWebhookAddress = (address: z.output<typeof Address>) => address && { country_code: address.countryCodeV2 };

const getAmount = ({ shopMoney: { amount } }: Bag): string => amount;
const toMoneySet = ({ shopMoney: { amount, currencyCode } }: Bag) => ({
  shop_money: { amount, currency_code: currencyCode },
});

/** `PENDING_REFUND_DISCREPANCY` is "Pending refund discrepancy" in webhooks. */
const toWebhookReason = (reason: string): string =>
  reason.charAt(0) + reason.slice(1).toLowerCase().replaceAll('_', ' ');

/** A tip is a line of no product; only webhooks mark it. */
function isTip(
  { product, requiresShipping, originalUnitPriceSet }: ShopifyListLine,
  { totalTipReceivedSet: tips }: ShopifyListOrder,
): boolean {
  if (product !== null || requiresShipping || tips === null) return false;
  return Number(getAmount(tips)) > 0 && Number(getAmount(originalUnitPriceSet)) <= Number(getAmount(tips));
}

const toWebhookLine = (line: ShopifyListLine, order: ShopifyListOrder) => ({
  id: toNumericId(line.id),
  title: line.title,
  product_id: toOptionalNumericId(line.product),
  variant_id: toOptionalNumericId(line.variant),
  sku: line.sku ?? null,
  quantity: line.quantity,
  gift_card: line.isGiftCard,
  properties: line.customAttributes.map(({ key, value }) => ({ name: key, value })),
  ...(isTip(line, order) ? { tip: {} } : {}),
  price: getAmount(line.originalUnitPriceSet),
  discount_allocations: line.discountAllocations.map((one) => ({ amount: getAmount(one.allocatedAmountSet) })),
  tax_lines: line.taxLines.map(({ priceSet }) => ({ price: getAmount(priceSet) })),
});

async function toWebhookRefund(store: StoreAccess, refund: z.output<typeof Refund>, order: ShopifyListOrder) {
  const { id, legacyResourceId, createdAt, processedAt, refundLineItems, orderAdjustments } = refund;
  const lines = await listAllNodes(refundLineItems, async (after) => {
    const request = { query: MORE_REFUNDED_LINES, variables: { id, after }, data: MoreRefundedLines };
    return (await callShopify(store, request)).data.refund?.refundLineItems;
  });
  return {
    id: legacyResourceId,
    created_at: createdAt ?? order.updatedAt,
    processed_at: processedAt ?? null,
    refund_line_items: lines.map(({ quantity, lineItem, subtotalSet, totalTaxSet }) => ({
      quantity,
      line_item_id: toNumericId(lineItem.id),
      subtotal: getAmount(subtotalSet),
      total_tax: getAmount(totalTaxSet),
      subtotal_set: toMoneySet(subtotalSet),
      total_tax_set: toMoneySet(totalTaxSet),
    })),
    // Unlike webhooks, GraphQL does not list refunded shipping among them.
    order_adjustments: orderAdjustments.nodes.map(({ reason, amountSet }) => ({
      kind: 'refund_discrepancy',
      reason: toWebhookReason(reason ?? ''),
      amount: getAmount(amountSet),
    })),
  };
}

/** Converts an order to the body of `orders/updated`, so that the same code reads both. */
async function toWebhookBody(store: StoreAccess, order: ShopifyListOrder): Promise<object> {
  const id = `gid://shopify/Order/${order.legacyResourceId}`;
  const lines = await listAllNodes(order.lineItems, async (after) => {
    const request = { query: MORE_LINES, variables: { id, after }, data: MoreLines };
    return (await callShopify(store, request)).data.order?.lineItems;
  });
  const refunds: object[] = [];
  for (const refund of order.refunds) refunds.push(await toWebhookRefund(store, refund, order));
  return {
    id: order.legacyResourceId,
    name: order.name ?? null,
    currency: order.currencyCode,
    created_at: order.createdAt,
    updated_at: order.updatedAt,
    cancelled_at: order.cancelledAt,
    financial_status: order.displayFinancialStatus?.toLowerCase() ?? null,
    test: order.test,
    taxes_included: order.taxesIncluded,
    email: order.email,
    customer: order.customer && {
      id: toOptionalNumericId(order.customer),
      email: order.customer.defaultEmailAddress?.emailAddress ?? null,
    },
    shipping_address: toWebhookAddress(order.shippingAddress),
    billing_address: toWebhookAddress(order.billingAddress),
    total_price: order.totalPriceSet ? getAmount(order.totalPriceSet) : null,
    landing_site: order.customerJourneySummary?.lastVisit?.landingPage ?? null,
    source_name: order.sourceName,
    tags: order.tags.join(', '),
    note_attributes: order.customAttributes.map(({ key, value }) => ({ name: key, value })),
    discount_codes: order.discountCodes.map((code) => ({ code })),
    line_items: lines.map((line) => toWebhookLine(line, order)),
    refunds,
  };
}

interface PageRequest {
  first: number;
  after: string | null;
  query: string;
}

/** Requests fewer orders until a page is below the cost limit; the next page keeps the size. */
async function requestPage(
  store: StoreAccess,
  request: PageRequest,
): Promise<ShopifyAnswer<z.output<typeof Orders>> & { first: number }> {
  try {
    const { first } = request;
    return {
      first,
      ...(await callShopify(store, { query: ORDERS, variables: request, data: Orders, isPartial: true })),
    };
  } catch (error) {
    const share = getAffordableShare(error);
    if (share === undefined || request.first === 1) throw error;
    const first = Math.max(1, Math.min(request.first - 1, Math.floor(request.first * share * MARGIN)));
    return await requestPage(store, { ...request, first });
  }
}

export async function listShopifyOrders(
  store: StoreAccess,
  { since, before, cursor }: ChangedOrdersQuery,
): Promise<OrderPage> {
  const until = before === undefined ? '' : ` AND updated_at:<'${before.toISOString()}'`;
  // A cursor holds the affordable page size and the start of the page.
  const [, size = String(MOST_AT_ONCE), after = ''] = /^(\d+) (.*)$/.exec(cursor ?? '') ?? [];
  const request = { first: Number(size), after: after || null, query: `updated_at:>='${since.toISOString()}'${until}` };
  const { data, waitMs, first } = await requestPage(store, request);
  const { nodes, pageInfo } = data.orders;
  const orders: OrderPage['orders'] = [];
  for (const order of nodes) {
    orders.push({ headers: { 'x-shopify-topic': 'orders/updated' }, body: await toWebhookBody(store, order) });
  }
  const isLast = !pageInfo.hasNextPage || pageInfo.endCursor === null;
  return { orders, cursor: isLast ? null : `${first} ${pageInfo.endCursor}`, waitMs };
}

/** Fetches one order as the body of `orders/updated`; undefined if the shop no longer shows it. */
export async function findShopifyOrder(store: StoreAccess, orderId: string): Promise<object | undefined> {
  const variables = { id: `gid://shopify/Order/${orderId}` };
  const { data } = await callShopify(store, { query: ONE_ORDER, variables, data: OneOrder, isPartial: true });
  return data.order ? await toWebhookBody(store, data.order) : undefined;
}
