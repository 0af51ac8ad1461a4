import { z } from 'zod';
import { readReportedAddress } from '../../../kit/values/email.ts';
import { validationError } from '../../../kit/values/errors.ts';
import { Currency } from '../../../kit/values/money.ts';
import { readWooKind } from '../../terms/kinds.ts';
import { readClickIdFromUrl, readClickIds, uniqueClicks, uniqueCodes } from './click.ts';
import type { ItemFacts, OrderFacts, RefundFacts, UnpaidLine } from './facts.ts';
import { findCountry, limitItems, MOST_UNPAID_LINES, toLine, toOptionalId, toOrderNumber } from './items.ts';
import { createLenientReader, type LenientReader } from './lenient.ts';
import { Decimal, divideHalfEven, sumDecimals, takeGoodsShare, toMinorUnits } from './money.ts';
import { DeletedOrder, type Delivery, getHeader, Happened, parseBody, type Reading, StoreId } from './provider.ts';

const ORDER_TOPICS = ['order.created', 'order.updated', 'order.restored'];
/** Drafts are ignored: an unfinished checkout has no codes yet, and attribution is decided once. */
const DRAFTS = ['checkout-draft', 'auto-draft', 'draft'];
/** Orders in the trash count as cancelled; they may come back. */
const CANCELLED = ['cancelled', 'trash'];
/** A payment that failed is none; the order may still be paid later. */
const isCancelled = ({ status, date_paid_gmt }: Pick<WooOrderFields, 'status' | 'date_paid_gmt'>) =>
  CANCELLED.includes(status) || (status === 'failed' && !date_paid_gmt);

/** Times are GMT without an offset: `2017-03-22T16:28:02`. */
export const WooTime = z.iso
  .datetime({ local: true, offset: true })
  .transform((text) => new Date(/Z$|[+-]\d\d:\d\d$/.test(text) ? text : `${text}Z`));

const WooMoment = WooTime.pipe(Happened);

/** Totals of lines are after discounts and without tax, whichever way the shop shows its prices. */
const Line = z.object({ total: Decimal });

const LineItem = Line.extend({
  meta_data: z.unknown().optional(),
  id: z.unknown().optional(),
  sku: z.unknown().optional(),
  name: z.unknown().optional(),
  quantity: z.unknown().optional(),
  product_id: z.unknown().optional(),
  variation_id: z.unknown().optional(),
});

/** A part of a refund, with its tax; its totals are negative. */
const RefundedPart = z.object({
  total: Decimal.nullish().catch(null),
  total_tax: Decimal.nullish().catch(null),
});
const RefundedParts = z.array(RefundedPart.catch({ total: null, total_tax: null }));

const RefundedLine = Line.extend({ meta_data: z.unknown().optional(), total_tax: RefundedPart.shape.total_tax });

export const WooOrder = z.object({
  id: StoreId,
  status: z.string(),
  currency: Currency,
  date_created_gmt: WooMoment,
  date_modified_gmt: WooMoment,
  date_paid_gmt: WooMoment.nullish(),
  total: Decimal,
  line_items: z.array(LineItem),
  fee_lines: z.array(Line).default([]),
  refunds: z.array(z.object({ id: StoreId })).default([]),
  // The rest is read leniently.
  number: z.unknown().optional(),
  billing: z.unknown().optional(),
  shipping: z.unknown().optional(),
  customer_id: z.unknown().optional(),
  created_via: z.unknown().optional(),
  coupon_lines: z.unknown().optional(),
  meta_data: z.unknown().optional(),
});
type WooOrderFields = z.output<typeof WooOrder>;

export const WooRefunds = z.array(
  z.object({
    id: StoreId,
    date_created_gmt: WooMoment,
    amount: Decimal,
    line_items: z.array(RefundedLine).default([]),
    // Older versions of WooCommerce name lines of goods only.
    shipping_lines: RefundedParts.optional(),
    fee_lines: RefundedParts.optional(),
  }),
);
export type WooRefund = z.output<typeof WooRefunds>[number];

/** Reads what the webhooks of the store leave out. */
interface OrderReader {
  findOrder(orderId: string): Promise<WooOrderFields | undefined>;
  listRefunds(orderId: string): Promise<WooRefund[]>;
}

const Meta = z.object({ key: z.string(), value: z.unknown() });
const Billing = z.object({ email: z.string().max(320).nullish() });
const Address = z.object({ country: z.unknown().optional() });

/** WooCommerce's own order attribution keeps the page that the visit began with. */
const LANDING_PAGE = '_wc_order_attribution_session_entry';
/** WooCommerce has no test orders; WooPayments and PayPal Payments note which of their modes an order was paid in. */
const TESTED: ReadonlyMap<string, unknown> = new Map([
  ['_wcpay_mode', 'test'],
  ['_ppcp_paypal_payment_mode', 'sandbox'],
]);

const lineTotals = (lines: readonly z.output<typeof Line>[]) => sumDecimals(lines.map(({ total }) => total));

/**
 * Metadata of a line by which a gift card is bought: of WooCommerce's own extension, PW Gift Cards and YITH Gift Cards. A
 * card that pays is no line.
 */
const GIFT_CARD = /^_?(wc_gc_giftcard|pw_gift_card|ywgc)_/;

type WooLine = z.output<typeof LineItem>;

function isGiftCard({ meta_data }: WooLine): boolean {
  const entries = Array.isArray(meta_data) ? meta_data : [];
  return entries.some((entry) => GIFT_CARD.test(Meta.safeParse(entry).data?.key ?? ''));
}

/** Lines as they are listed, and after fees below zero, which plug-ins write discounts as. */
function sumLines({ line_items, fee_lines }: WooOrderFields) {
  const listedTotal = lineTotals(line_items);
  const chargedTotal = listedTotal + lineTotals(fee_lines.filter(({ total }) => total < 0n));
  return { listed: listedTotal, charged: chargedTotal > 0n ? chargedTotal : 0n };
}

/** A total after discounts that the order has as fees. */
function toCharged(total: bigint, order: WooOrderFields): bigint {
  const { listed, charged } = sumLines(order);
  return listed > 0n ? divideHalfEven(total * charged, listed) : total;
}

/** Sums the charges for goods: bought gift cards are none. */
const sumGoods = (order: WooOrderFields): bigint =>
  toCharged(lineTotals(order.line_items.filter((line) => !isGiftCard(line))), order);

const toChargedMinor = (total: bigint, order: WooOrderFields): number =>
  toMinorUnits(toCharged(total, order), order.currency);

const toItems = (order: WooOrderFields): ItemFacts[] =>
  limitItems(
    order.line_items.flatMap((line, place) => {
      if (isGiftCard(line)) return [];
      const item = {
        lineId: StoreId.safeParse(line.id).data ?? `#${place}`,
        sku: toLine(line.sku),
        title: toLine(line.name),
        quantity: z.number().int().min(0).safeParse(line.quantity).data ?? 1,
        amountMinor: toChargedMinor(line.total, order),
        productId: toOptionalId(line.product_id),
        variantId: toOptionalId(line.variation_id),
      };
      return [item];
    }),
  );

const toUnpaidLines = (order: WooOrderFields): UnpaidLine[] =>
  order.line_items
    .filter(isGiftCard)
    .slice(0, MOST_UNPAID_LINES)
    .map(({ total }) => ({ kind: 'gift_card', amountMinor: toChargedMinor(total, order) }));

/** Metadata key of a refunded line that holds the id of the order's line. */
const REFUNDED_LINE = '_refunded_item_id';

/** The line of the order that a line of a refund is for. */
function refundedLineId({ meta_data }: z.output<typeof RefundedLine>): string | undefined {
  const meta = z.array(Meta).safeParse(meta_data).data ?? [];
  return StoreId.safeParse(meta.find(({ key }) => key === REFUNDED_LINE)?.value).data;
}

/** The amount of a refund that neither its lines nor their tax, shipping and fees account for. */
function findUnnamed({ amount, line_items, shipping_lines, fee_lines }: WooRefund): bigint {
  // The lines alone do not say what of the rest was shipping.
  if (line_items.length > 0 && shipping_lines === undefined) return 0n;
  const parts = [...line_items, ...(shipping_lines ?? []), ...(fee_lines ?? [])];
  return amount + sumDecimals(parts.flatMap(({ total, total_tax }) => [total ?? 0n, total_tax ?? 0n]));
}

/**
 * Goods given back; discounts that are fees reduce each good by its share. Of an amount refunded without saying for
 * what, also beside lines, the goods' share of the order.
 */
function toRefund(refund: WooRefund, order: WooOrderFields): RefundFacts {
  const share = takeGoodsShare(findUnnamed(refund), { goods: sumGoods(order), total: order.total });
  const giftCards = new Set(order.line_items.filter(isGiftCard).map(({ id }) => StoreId.safeParse(id).data));
  const lines = refund.line_items.filter((line) => {
    const lineId = refundedLineId(line);
    return lineId === undefined || !giftCards.has(lineId);
  });
  return {
    refundId: refund.id,
    amountMinor: toMinorUnits(toCharged(-lineTotals(lines), order) + share, order.currency),
    at: refund.date_created_gmt,
    items: lines.flatMap((line) => {
      const [lineId, amountMinor] = [refundedLineId(line), toChargedMinor(-line.total, order)];
      return lineId === undefined || amountMinor === 0 ? [] : [{ lineId, amountMinor }];
    }),
  };
}

/** The address that WooCommerce's eraser leaves of a customer. */
const ERASED = 'deleted@site.invalid';

function readCustomer(email: string | null | undefined): Pick<OrderFacts, 'customerEmail' | 'isErased'> {
  return email?.toLowerCase() === ERASED
    ? { customerEmail: null, isErased: true }
    : { customerEmail: readReportedAddress(email) ?? null };
}

function toOrderFacts(order: WooOrderFields, refunds: readonly WooRefund[], { one, list }: LenientReader): OrderFacts {
  const attributes = list('meta_data', Meta, order.meta_data).map(({ key, value }) => ({ name: key, value }));
  const landingPage = attributes.find(({ name }) => name === LANDING_PAGE)?.value;
  const codes = list('coupon_lines', z.object({ code: z.string() }), order.coupon_lines);
  const createdVia = typeof order.created_via === 'string' ? order.created_via : null;
  return {
    ...readWooKind({ meta: attributes, createdVia }),
    orderId: order.id,
    orderNumber: toOrderNumber(order.number),
    currency: order.currency,
    baseMinor: toMinorUnits(sumGoods(order), order.currency),
    occurredAt: order.date_created_gmt,
    paidAt: order.date_paid_gmt ?? null,
    cancelledAt: isCancelled(order) ? order.date_modified_gmt : null,
    updatedAt: order.date_modified_gmt,
    ...readCustomer(one('billing', Billing, order.billing)?.email),
    // Guests have the id 0.
    customerId: toOptionalId(order.customer_id) ?? null,
    country: findCountry([order.shipping, order.billing].map((address) => Address.safeParse(address).data?.country)),
    codes: uniqueCodes(codes.map(({ code }) => code)),
    clickIds: uniqueClicks([
      ...readClickIds(attributes),
      readClickIdFromUrl(typeof landingPage === 'string' ? landingPage : undefined),
    ]),
    refunds: refunds.map((refund) => toRefund(refund, order)).filter(({ amountMinor }) => amountMinor > 0),
    hasAllRefunds: true,
    isTest: attributes.some(({ name, value }) => TESTED.has(name) && TESTED.get(name) === value),
    dispute: null,
    items: toItems(order),
    unpaidLines: toUnpaidLines(order),
  };
}

/** An order names its refunds' sums with tax and shipping and without their times: the rest is read from the store. */
async function readOrder(order: WooOrderFields, { listRefunds }: OrderReader): Promise<Reading | undefined> {
  if (DRAFTS.includes(order.status)) return undefined;
  const refunds = order.refunds.length === 0 ? [] : await listRefunds(order.id);
  const lenient = createLenientReader();
  return { kind: 'order', facts: toOrderFacts(order, refunds, lenient), notes: lenient.notes };
}

/** Error body of WordPress's API. */
const ErrorBody = z.object({ code: z.string(), message: z.string(), id: z.undefined().optional() });

/** A webhook whose user lost its rights sends the refusal that the user would get, and signs it. */
function assertNoError(body: unknown): void {
  const { data } = ErrorBody.safeParse(body);
  if (data === undefined) return;
  const reason = `${data.code.slice(0, 100)} (${data.message.slice(0, 200)})`;
  const message =
    `is an error of the store instead of an order: ${reason}. The user that the webhook belongs to may not read orders; ` +
    'make the webhook again as an administrator.';
  throw validationError([{ field: 'body', code: 'store_error', message }]);
}

export async function readWooCommerce({ headers, body }: Delivery, reader: OrderReader): Promise<Reading | undefined> {
  const topic = getHeader(headers, 'x-wc-webhook-topic');
  if (topic === 'order.deleted' || ORDER_TOPICS.includes(topic)) assertNoError(body);
  if (topic === 'order.deleted') {
    // The topic means the trash and says neither when nor whether the order is still there: the store is queried.
    const { id: orderId } = parseBody(DeletedOrder, body);
    const order = await reader.findOrder(orderId);
    return order ? await readOrder(order, reader) : { kind: 'deletion', orderId, notes: [] };
  }
  return ORDER_TOPICS.includes(topic) ? await readOrder(parseBody(WooOrder, body), reader) : undefined;
}
