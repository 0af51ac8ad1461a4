import { z } from 'zod';
import { readReportedAddress } from '../../../kit/values/email.ts';
import { Currency } from '../../../kit/values/money.ts';
import { readShopifyKind, type SubscriptionFacts } from '../../terms/kinds.ts';
import { readClickIdFromUrl, readClickIds, uniqueClicks, uniqueCodes } from './click.ts';
import type { BankDispute, ItemFacts, OrderFacts, RefundFacts, UnpaidLine } from './facts.ts';
import { findCountry, limitItems, MOST_UNPAID_LINES, toLine, toOptionalId, toOrderNumber } from './items.ts';
import { createLenientReader, type LenientReader } from './lenient.ts';
import { Decimal, sumDecimals, takeGoodsShare, toMinorUnits } from './money.ts';
import {
  DeletedOrder,
  type Delivery,
  getHeader,
  parseBody,
  type Reading,
  StoreId,
  type StoreSettings,
  StoreTime,
} from './provider.ts';

const ORDER_TOPICS = ['orders/create', 'orders/paid', 'orders/updated', 'orders/cancelled'];
const DISPUTE_TOPICS = ['disputes/create', 'disputes/update'];
/** The payment was given up or came too late: nobody pays the order any more. */
const NEVER_PAID = ['voided', 'expired'];
const PAID = ['paid', 'partially_refunded', 'refunded'];

const Email = z.string().max(320);

const AmountText = z.union([z.string().max(40), z.number()]);
const MoneySet = z.object({ shop_money: z.object({ amount: AmountText, currency_code: Currency }) }).nullish();

/** Lines that earn no commission: gift cards, and tips. Only a tip's line has these fields, even if they are null. */
const ShopifyLineKind = z.object({
  gift_card: z.boolean().nullish(),
  tip: z.unknown().optional(),
  tip_payment_gateway: z.unknown().optional(),
});
type ShopifyLineKind = z.output<typeof ShopifyLineKind>;

const isGoods = ({ gift_card, tip, tip_payment_gateway }: ShopifyLineKind): boolean =>
  gift_card !== true && tip_payment_gateway === undefined && (tip ?? null) === null;

/** `subtotal` is a JSON float, which may have digits that nobody was charged; the text beside it is exact. */
const RefundLine = z
  .object({
    subtotal: AmountText,
    total_tax: AmountText,
    subtotal_set: MoneySet,
    total_tax_set: MoneySet,
    line_item_id: StoreId.nullish(),
    line_item: ShopifyLineKind.nullish(),
  })
  .transform(({ subtotal, total_tax, subtotal_set, total_tax_set, line_item_id, line_item }) => ({
    subtotal: subtotal_set?.shop_money.amount ?? subtotal,
    total_tax: total_tax_set?.shop_money.amount ?? total_tax,
    currency: subtotal_set?.shop_money.currency_code,
    lineId: line_item_id ?? undefined,
    line: line_item ?? undefined,
  }))
  .pipe(
    z.object({
      subtotal: Decimal,
      total_tax: Decimal,
      currency: z.union([z.string(), z.undefined()]),
      lineId: z.union([z.string(), z.undefined()]),
      line: z.union([ShopifyLineKind, z.undefined()]),
    }),
  );

const Adjustment = z.object({
  amount: Decimal,
  amount_set: MoneySet,
  kind: z.string().nullish(),
  reason: z.string().nullish(),
});

const ShopifyRefund = z.object({
  id: StoreId,
  created_at: StoreTime,
  processed_at: StoreTime.nullish(),
  refund_line_items: z.array(RefundLine).default([]),
  order_adjustments: z.array(Adjustment).default([]),
});
type ShopifyRefund = z.output<typeof ShopifyRefund>;

const OnlyRefund = ShopifyRefund.extend({ order_id: StoreId });

const LineItem = ShopifyLineKind.extend({
  id: StoreId.nullish(),
  price: Decimal,
  quantity: z.number().int().min(0),
  sku: z.unknown().optional(),
  title: z.unknown().optional(),
  product_id: z.unknown().optional(),
  variant_id: z.unknown().optional(),
  properties: z.unknown().optional(),
  total_discount: Decimal.nullish(),
  discount_allocations: z.array(z.object({ amount: Decimal })).nullish(),
  tax_lines: z.array(z.object({ price: Decimal })).nullish(),
});
type LineItem = z.output<typeof LineItem>;

const ShopifyOrder = z.object({
  id: StoreId,
  currency: Currency,
  created_at: StoreTime,
  updated_at: StoreTime,
  cancelled_at: StoreTime.nullish(),
  financial_status: z.string().nullable(),
  taxes_included: z.boolean().default(false),
  line_items: z.array(LineItem),
  // A webhook may be set up with some of the fields only.
  refunds: z.array(ShopifyRefund).nullish(),
  // The rest is read leniently.
  name: z.unknown().optional(),
  order_number: z.unknown().optional(),
  test: z.unknown().optional(),
  email: z.unknown().optional(),
  contact_email: z.unknown().optional(),
  total_price: z.unknown().optional(),
  customer: z.unknown().optional(),
  landing_site: z.unknown().optional(),
  note_attributes: z.unknown().optional(),
  discount_codes: z.unknown().optional(),
  source_name: z.unknown().optional(),
  tags: z.unknown().optional(),
  shipping_address: z.unknown().optional(),
  billing_address: z.unknown().optional(),
});
type ShopifyOrder = z.output<typeof ShopifyOrder>;

const Attribute = z.object({ name: z.string(), value: z.unknown() });
/** Without the permission to read customers, Shopify sends their ids alone. */
const Customer = z.object({ id: z.unknown().optional(), email: z.unknown().optional() });
const Address = z.object({ country_code: z.unknown().optional() });

/** Computes what the customer paid for a line: discounts are allocated to lines, and prices may include tax. */
function computeAmount(line: LineItem, taxesIncluded: boolean): bigint {
  const discounts = line.discount_allocations?.map(({ amount }) => amount) ?? [line.total_discount ?? 0n];
  const taxes = taxesIncluded ? sumDecimals((line.tax_lines ?? []).map(({ price }) => price)) : 0n;
  return line.price * BigInt(line.quantity) - sumDecimals(discounts) - taxes;
}

const computeGoods = (line: LineItem, taxesIncluded: boolean): bigint =>
  isGoods(line) ? computeAmount(line, taxesIncluded) : 0n;

const toUnpaidLines = ({ line_items: lines, currency, taxes_included: taxesIncluded }: ShopifyOrder): UnpaidLine[] =>
  lines
    .filter((line) => !isGoods(line))
    .slice(0, MOST_UNPAID_LINES)
    .map((line) => ({
      kind: line.gift_card === true ? 'gift_card' : 'tip',
      amountMinor: toMinorUnits(computeAmount(line, taxesIncluded), currency),
    }));

function toItems({ line_items: lines, currency, taxes_included: taxesIncluded }: ShopifyOrder): ItemFacts[] {
  const items = lines.map((line, place) => ({
    // Lines without an id are named by their place.
    lineId: line.id ?? `#${place}`,
    sku: toLine(line.sku),
    title: toLine(line.title),
    quantity: line.quantity,
    amountMinor: toMinorUnits(computeGoods(line, taxesIncluded), currency),
    productId: toOptionalId(line.product_id),
    variantId: toOptionalId(line.variant_id),
  }));
  return limitItems(items.filter((_item, place) => isGoods(lines[place] ?? {})));
}

/** Refunded shipping does not count as goods. A pending refund has not happened yet. */
const isGoodsAdjustment = ({ kind, reason }: z.output<typeof Adjustment>) =>
  kind !== 'shipping_refund' && !/^(?:shipping|pending)\b/i.test(reason ?? '');

const sumGoods = ({ line_items: lines, taxes_included: taxesIncluded }: ShopifyOrder): bigint =>
  sumDecimals(lines.map((line) => computeGoods(line, taxesIncluded)));

/** The facts of an order by which a refund's amounts are read. */
interface RefundedOrder {
  currency: string;
  taxesIncluded: boolean;
  lines: readonly LineItem[];
  /** Undefined if the order is not known: then an amount without lines is all goods. */
  worth: { goods: bigint; total: bigint } | undefined;
}

/** The price of all lines with their tax. */
const sumGross = ({ line_items: lines, taxes_included: taxesIncluded }: ShopifyOrder): bigint =>
  sumDecimals(
    lines.flatMap((line) => [computeAmount(line, taxesIncluded), ...(line.tax_lines ?? []).map(({ price }) => price)]),
  );

function toRefundedOrder(order: ShopifyOrder): RefundedOrder {
  const { data: total = sumGross(order) } = Decimal.safeParse(order.total_price);
  return {
    currency: order.currency,
    taxesIncluded: order.taxes_included,
    lines: order.line_items,
    worth: { goods: sumGoods(order), total },
  };
}

/** The amount that a refund gives back beyond its lines; below zero where a part of them was kept, as a restocking fee. */
const sumAdjustments = ({ order_adjustments: adjustments }: ShopifyRefund): bigint =>
  sumDecimals(adjustments.filter(isGoodsAdjustment).map(({ amount }) => -amount));

/**
 * Converts a refund of goods. An amount beside or without lines is a negative adjustment, of which the goods' share of
 * the order counts: it also gives back tax and shipping.
 */
function toRefund(refund: ShopifyRefund, { currency, taxesIncluded, lines, worth }: RefundedOrder): RefundFacts {
  const goods = refund.refund_line_items.filter(({ line, lineId }) =>
    isGoods(line ?? lines.find(({ id }) => id === lineId) ?? {}),
  );
  const getRefunded = ({ subtotal, total_tax }: (typeof goods)[number]) => subtotal - (taxesIncluded ? total_tax : 0n);
  const adjustment = sumAdjustments(refund);
  const counted = worth !== undefined && adjustment > 0n ? takeGoodsShare(adjustment, worth) : adjustment;
  return {
    refundId: refund.id,
    amountMinor: toMinorUnits(sumDecimals([...goods.map(getRefunded), counted]), currency),
    at: refund.processed_at ?? refund.created_at,
    items: goods.flatMap((line) => {
      const amountMinor = toMinorUnits(getRefunded(line), currency);
      return line.lineId === undefined || amountMinor === 0 ? [] : [{ lineId: line.lineId, amountMinor }];
    }),
  };
}

const dropEmptyRefunds = (refunds: RefundFacts[]) => refunds.filter(({ amountMinor }) => amountMinor > 0);

function readEmail({ email, contact_email, customer }: ShopifyOrder, { one }: LenientReader): string | null {
  const own = one('email', Email, email) || one('contact_email', Email, contact_email);
  const address = own || one('customer.email', Email, one('customer', Customer, customer)?.email);
  return readReportedAddress(address) ?? null;
}

/** Reads how the order belongs to a subscription, which Shopify itself does not say. */
function readKind(
  { source_name, tags, line_items: lines }: ShopifyOrder,
  attributes: readonly { name: string; value: unknown }[],
  { renewalTags, firstTags }: StoreSettings,
  { one }: LenientReader,
): SubscriptionFacts {
  const properties = lines.flatMap((line) => z.array(Attribute).safeParse(line.properties).data ?? []);
  return readShopifyKind({
    tags: (one('tags', z.string(), tags) ?? '').split(','),
    sourceName: one('source_name', z.string(), source_name) ?? null,
    attributes: [...attributes, ...properties],
    renewalTags: renewalTags ?? [],
    firstTags: firstTags ?? [],
  });
}

function toOrderFacts(order: ShopifyOrder, store: StoreSettings, lenient: LenientReader): OrderFacts {
  const { currency } = order;
  const refundedOrder = toRefundedOrder(order);
  const attributes = lenient.list('note_attributes', Attribute, order.note_attributes);
  const codes = lenient.list('discount_codes', z.object({ code: z.string() }), order.discount_codes);
  const landingSite = lenient.one('landing_site', z.string(), order.landing_site);
  const addresses = [order.shipping_address, order.billing_address];
  return {
    ...readKind(order, attributes, store, lenient),
    orderId: order.id,
    orderNumber: toOrderNumber(order.name) ?? toOrderNumber(order.order_number),
    currency,
    baseMinor: toMinorUnits(sumGoods(order), currency),
    occurredAt: order.created_at,
    // An order does not say when it was paid: the earliest delivery that says it was counts, sent as it was paid.
    paidAt: PAID.includes(order.financial_status ?? '') ? order.updated_at : null,
    cancelledAt: order.cancelled_at ?? (NEVER_PAID.includes(order.financial_status ?? '') ? order.updated_at : null),
    updatedAt: order.updated_at,
    customerEmail: readEmail(order, lenient),
    customerId: toOptionalId(Customer.safeParse(order.customer).data?.id) ?? null,
    country: findCountry(addresses.map((address) => Address.safeParse(address).data?.country_code)),
    codes: uniqueCodes(codes.map(({ code }) => code)),
    clickIds: uniqueClicks([...readClickIds(attributes), readClickIdFromUrl(landingSite)]),
    refunds: dropEmptyRefunds((order.refunds ?? []).map((refund) => toRefund(refund, refundedOrder))),
    hasAllRefunds: (order.refunds ?? null) !== null,
    isTest: lenient.one('test', z.boolean(), order.test) ?? false,
    dispute: null,
    items: toItems(order),
    unpaidLines: toUnpaidLines(order),
  };
}

/** Asks the shop what a refund alone does not say of its order. */
export interface ShopifyReader {
  areTaxesIncluded(orderId: string): Promise<boolean>;
  /** The order as the body of its webhook; undefined if the shop no longer shows it. */
  findOrder(orderId: string): Promise<object | undefined>;
}

/**
 * A refund alone does not say whether its lines' sums include their tax, which matters only with tax, and not what else
 * its order costs, which matters only for an amount beyond its lines.
 */
async function readRefund(
  body: unknown,
  shopCurrency: string,
  { areTaxesIncluded, findOrder }: ShopifyReader,
): Promise<Reading> {
  const refund = parseBody(OnlyRefund, body);
  const order = sumAdjustments(refund) > 0n ? await findOrder(refund.order_id) : undefined;
  const hasTax = refund.refund_line_items.some(({ total_tax }) => total_tax !== 0n);
  const [line, adjustment] = [refund.refund_line_items[0], refund.order_adjustments[0]];
  const currency = line?.currency ?? adjustment?.amount_set?.shop_money.currency_code ?? shopCurrency;
  const known = order && toRefundedOrder(parseBody(ShopifyOrder, order));
  const taxesIncluded = hasTax && (known?.taxesIncluded ?? (await areTaxesIncluded(refund.order_id)));
  const lines = known?.lines ?? [];
  const refunds = dropEmptyRefunds([toRefund(refund, { currency, taxesIncluded, lines, worth: known?.worth })]);
  const refundReport = { currency, refunds, updatedAt: refund.created_at, hasAllRefunds: false };
  return { kind: 'refund', facts: { orderId: refund.order_id, ...refundReport }, notes: [] };
}

const Dispute = z.object({
  id: StoreId,
  order_id: StoreId.nullable(),
  status: z.string(),
  initiated_at: StoreTime,
  // A day alone, as Shopify's other interface has it, says nothing of the time.
  finalized_on: StoreTime.nullish().catch(null),
});

/** The bank decided for the customer, or the shop accepted the dispute. Refunded charges arrive as refunds. */
const LOST = ['lost', 'accepted'];
const WON = ['won', 'charge_refunded'];

/** A dispute does not say when it changed: its end does, else the time at which the delivery was triggered. */
function readDispute({ headers, body }: Delivery): Reading | undefined {
  const dispute = parseBody(Dispute, body);
  // The charge belongs to no order.
  if (dispute.order_id === null) return undefined;
  const { data: triggeredAt } = StoreTime.safeParse(getHeader(headers, 'x-shopify-triggered-at'));
  const at = dispute.finalized_on ?? triggeredAt ?? dispute.initiated_at;
  const status: BankDispute['status'] = LOST.includes(dispute.status)
    ? 'lost'
    : WON.includes(dispute.status)
      ? 'won'
      : 'open';
  const facts = { orderId: dispute.order_id, disputeId: dispute.id, status, at };
  return { kind: 'dispute', facts, notes: [] };
}

export async function readShopify(
  delivery: Delivery,
  store: StoreSettings,
  reader: ShopifyReader,
): Promise<Reading | undefined> {
  const { headers, body } = delivery;
  const topic = getHeader(headers, 'x-shopify-topic');
  if (ORDER_TOPICS.includes(topic)) {
    const lenient = createLenientReader();
    return { kind: 'order', facts: toOrderFacts(parseBody(ShopifyOrder, body), store, lenient), notes: lenient.notes };
  }
  if (topic === 'refunds/create') return await readRefund(body, store.currency, reader);
  if (DISPUTE_TOPICS.includes(topic)) return readDispute(delivery);
  if (topic === 'orders/delete') return { kind: 'deletion', orderId: parseBody(DeletedOrder, body).id, notes: [] };
  return undefined;
}
