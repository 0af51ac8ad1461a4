import { z } from 'zod';
import { Currency } from '../values/money.ts';
import { clickIdOfUrl, clickIdsOf, distinct } from './click.ts';
import type { OrderFacts, RefundFacts } from './facts.ts';
import { Decimal, sumOf, toMinorUnits } from './money.ts';
import { DeletedOrder, type Delivery, headerOf, parseBody, type Reading, StoreId, StoreTime } from './provider.ts';

const ORDER_TOPICS = ['orders/create', 'orders/paid', 'orders/updated', 'orders/cancelled'];
const PAID = ['paid', 'partially_refunded', 'refunded'];

const email = z.string().max(320).nullish();

const Written = z.union([z.string().max(40), z.number()]);
const Shown = z.object({ shop_money: z.object({ amount: Written, currency_code: Currency }) }).nullish();

/** `subtotal` is a JSON float, which may have digits that nobody was charged; the text beside it is exact. */
const RefundLine = z
  .object({ subtotal: Written, total_tax: Written, subtotal_set: Shown, total_tax_set: Shown })
  .transform(({ subtotal, total_tax, subtotal_set, total_tax_set }) => ({
    subtotal: subtotal_set?.shop_money.amount ?? subtotal,
    total_tax: total_tax_set?.shop_money.amount ?? total_tax,
    currency: subtotal_set?.shop_money.currency_code,
  }))
  .pipe(z.object({ subtotal: Decimal, total_tax: Decimal, currency: z.union([z.string(), z.undefined()]) }));

const Adjustment = z.object({ amount: Decimal, kind: z.string().nullish(), reason: z.string().nullish() });

const Refund = z.object({
  id: StoreId,
  created_at: StoreTime,
  processed_at: StoreTime.nullish(),
  refund_line_items: z.array(RefundLine).default([]),
  order_adjustments: z.array(Adjustment).default([]),
});
type Refund = z.output<typeof Refund>;

const OnlyRefund = Refund.extend({ order_id: StoreId });

const LineItem = z.object({
  price: Decimal,
  quantity: z.number().int().min(0),
  total_discount: Decimal.nullish(),
  discount_allocations: z.array(z.object({ amount: Decimal })).optional(),
  tax_lines: z.array(z.object({ price: Decimal })).default([]),
});

const Order = z.object({
  id: StoreId,
  currency: Currency,
  created_at: StoreTime,
  updated_at: StoreTime,
  cancelled_at: StoreTime.nullish(),
  financial_status: z.string().nullish(),
  taxes_included: z.boolean().default(false),
  email,
  contact_email: email,
  customer: z.object({ email }).nullish(),
  landing_site: z.string().nullish(),
  note_attributes: z.array(z.object({ name: z.string(), value: z.unknown() })).default([]),
  discount_codes: z.array(z.object({ code: z.string() })).default([]),
  line_items: z.array(LineItem),
  // A webhook may be set up with some of the fields only.
  refunds: z.array(Refund).optional(),
});
type Order = z.output<typeof Order>;

/** What a line's goods cost the customer: order-wide discounts are allocated to lines, and prices may include tax. */
function goodsOf(line: z.output<typeof LineItem>, taxesIncluded: boolean): bigint {
  const discounts = line.discount_allocations?.map(({ amount }) => amount) ?? [line.total_discount ?? 0n];
  const taxes = taxesIncluded ? sumOf(line.tax_lines.map(({ price }) => price)) : 0n;
  return line.price * BigInt(line.quantity) - sumOf(discounts) - taxes;
}

/** Refunded shipping does not count as goods. A pending refund has not happened yet. */
const isOfGoods = ({ kind, reason }: z.output<typeof Adjustment>) =>
  kind !== 'shipping_refund' && !/^(?:shipping|pending)\b/i.test(reason ?? '');

/** Goods given back. An amount refunded beside or without lines is an adjustment below zero. */
function refundOf(refund: Refund, currency: string, taxesIncluded: boolean): RefundFacts {
  const lines = refund.refund_line_items.map(({ subtotal, total_tax }) => subtotal - (taxesIncluded ? total_tax : 0n));
  const adjustments = refund.order_adjustments.filter(isOfGoods).map(({ amount }) => -amount);
  return {
    refundId: refund.id,
    amountMinor: toMinorUnits(sumOf([...lines, ...adjustments]), currency),
    at: refund.processed_at ?? refund.created_at,
  };
}

const ofGoods = (refunds: RefundFacts[]) => refunds.filter(({ amountMinor }) => amountMinor > 0);

function factsOf(order: Order): OrderFacts {
  const { currency, taxes_included: taxesIncluded } = order;
  return {
    orderId: order.id,
    currency,
    baseMinor: toMinorUnits(sumOf(order.line_items.map((line) => goodsOf(line, taxesIncluded))), currency),
    occurredAt: order.created_at,
    // An order does not say when it was paid: the earliest delivery that says it was counts, sent as it was paid.
    paidAt: PAID.includes(order.financial_status ?? '') ? order.updated_at : null,
    cancelledAt: order.cancelled_at ?? null,
    updatedAt: order.updated_at,
    customerEmail: order.email || order.contact_email || order.customer?.email || null,
    codes: distinct(order.discount_codes.map(({ code }) => code)),
    clickIds: distinct([...clickIdsOf(order.note_attributes), clickIdOfUrl(order.landing_site)]),
    refunds: ofGoods((order.refunds ?? []).map((refund) => refundOf(refund, currency, taxesIncluded))),
    hasAllRefunds: order.refunds !== undefined,
  };
}

/** A refund alone does not say whether its lines' sums include their tax; without tax it does not matter. */
async function readRefund(
  body: unknown,
  shopCurrency: string,
  areTaxesIncluded: (orderId: string) => Promise<boolean>,
): Promise<Reading> {
  const refund = parseBody(OnlyRefund, body);
  const hasTax = refund.refund_line_items.some(({ total_tax }) => total_tax !== 0n);
  const currency = refund.refund_line_items[0]?.currency ?? shopCurrency;
  const taxesIncluded = hasTax && (await areTaxesIncluded(refund.order_id));
  const refunds = ofGoods([refundOf(refund, currency, taxesIncluded)]);
  const received = { currency, refunds, updatedAt: refund.created_at, hasAllRefunds: false };
  return { kind: 'refund', facts: { orderId: refund.order_id, ...received } };
}

export async function readShopify(
  { headers, body }: Delivery,
  shopCurrency: string,
  areTaxesIncluded: (orderId: string) => Promise<boolean>,
): Promise<Reading | undefined> {
  const topic = headerOf(headers, 'x-shopify-topic');
  if (ORDER_TOPICS.includes(topic)) return { kind: 'order', facts: factsOf(parseBody(Order, body)) };
  if (topic === 'refunds/create') return await readRefund(body, shopCurrency, areTaxesIncluded);
  if (topic === 'orders/delete') return { kind: 'deletion', orderId: parseBody(DeletedOrder, body).id };
  return undefined;
}
