import { z } from 'zod';
import { Currency } from '../values/money.ts';
import { clickIdOfUrl, clickIdsOf, distinct } from './click.ts';
import type { OrderFacts, RefundFacts } from './facts.ts';
import { Decimal, divideHalfEven, sumOf, toMinorUnits } from './money.ts';
import { DeletedOrder, type Delivery, Happened, headerOf, parseBody, type Reading, StoreId } from './provider.ts';

const ORDER_TOPICS = ['order.created', 'order.updated', 'order.restored'];
/** Not placed yet: a checkout that is being filled in has no codes yet, and attribution is decided once. */
const DRAFTS = ['checkout-draft', 'auto-draft', 'draft'];
/** What is put in the trash may come back. */
const CANCELLED = ['cancelled', 'trash'];

/** GMT without saying so: `2017-03-22T16:28:02`. */
export const WooTime = z.iso
  .datetime({ local: true, offset: true })
  .transform((text) => new Date(/Z$|[+-]\d\d:\d\d$/.test(text) ? text : `${text}Z`));

const WooMoment = WooTime.pipe(Happened);

/** Totals of lines are after discounts and without tax, whichever way the shop shows its prices. */
const Line = z.object({ total: Decimal });

export const WooOrder = z.object({
  id: StoreId,
  status: z.string(),
  currency: Currency,
  date_created_gmt: WooMoment,
  date_modified_gmt: WooMoment,
  date_paid_gmt: WooMoment.nullish(),
  total: Decimal,
  billing: z.object({ email: z.string().max(320).nullish() }).nullish(),
  line_items: z.array(Line),
  coupon_lines: z.array(z.object({ code: z.string() })).default([]),
  meta_data: z.array(z.object({ key: z.string(), value: z.unknown() })).default([]),
  refunds: z.array(z.object({ id: StoreId })).default([]),
});
type Order = z.output<typeof WooOrder>;

export const WooRefunds = z.array(
  z.object({
    id: StoreId,
    date_created_gmt: WooMoment,
    amount: Decimal,
    line_items: z.array(Line).default([]),
    shipping_lines: z.array(z.unknown()).default([]),
    fee_lines: z.array(z.unknown()).default([]),
  }),
);
export type WooRefund = z.output<typeof WooRefunds>[number];

/** What is read from the store, because its webhooks leave it out. */
interface Requested {
  findOrder(orderId: string): Promise<Order | undefined>;
  listRefunds(orderId: string): Promise<WooRefund[]>;
}

/** WooCommerce's own order attribution keeps the page that the visit began with. */
function landingPageOf({ meta_data }: Order): string | undefined {
  const entry = meta_data.find(({ key }) => key === '_wc_order_attribution_session_entry')?.value;
  return typeof entry === 'string' ? entry : undefined;
}

const goodsOf = (order: Order) => sumOf(order.line_items.map(({ total }) => total));

/** Goods given back. Of an amount refunded without saying for what, the goods' share of the order. */
function refundOf(refund: WooRefund, order: Order): RefundFacts {
  const hasLines = [refund.line_items, refund.shipping_lines, refund.fee_lines].some(({ length }) => length > 0);
  const lines = -sumOf(refund.line_items.map(({ total }) => total));
  const share = order.total > 0n ? divideHalfEven(refund.amount * goodsOf(order), order.total) : 0n;
  return {
    refundId: refund.id,
    amountMinor: toMinorUnits(hasLines ? lines : share, order.currency),
    at: refund.date_created_gmt,
  };
}

function factsOf(order: Order, refunds: readonly WooRefund[]): OrderFacts {
  const attributes = order.meta_data.map(({ key, value }) => ({ name: key, value }));
  return {
    orderId: order.id,
    currency: order.currency,
    baseMinor: toMinorUnits(goodsOf(order), order.currency),
    occurredAt: order.date_created_gmt,
    paidAt: order.date_paid_gmt ?? null,
    cancelledAt: CANCELLED.includes(order.status) ? order.date_modified_gmt : null,
    updatedAt: order.date_modified_gmt,
    customerEmail: order.billing?.email || null,
    codes: distinct(order.coupon_lines.map(({ code }) => code)),
    clickIds: distinct([...clickIdsOf(attributes), clickIdOfUrl(landingPageOf(order))]),
    refunds: refunds.map((refund) => refundOf(refund, order)).filter(({ amountMinor }) => amountMinor > 0),
    hasAllRefunds: true,
  };
}

/** An order names its refunds' sums with tax and shipping and without their times: the rest is read from the store. */
async function readOrder(order: Order, { listRefunds }: Requested): Promise<Reading | undefined> {
  if (DRAFTS.includes(order.status)) return undefined;
  const refunds = order.refunds.length === 0 ? [] : await listRefunds(order.id);
  return { kind: 'order', facts: factsOf(order, refunds) };
}

/** `order.deleted` means the trash and says neither when nor whether it still lies there: the store is asked. */
async function readDeletion(orderId: string, requested: Requested): Promise<Reading | undefined> {
  const order = await requested.findOrder(orderId);
  return order ? await readOrder(order, requested) : { kind: 'deletion', orderId };
}

export async function readWooCommerce({ headers, body }: Delivery, requested: Requested): Promise<Reading | undefined> {
  const topic = headerOf(headers, 'x-wc-webhook-topic');
  if (topic === 'order.deleted') return await readDeletion(parseBody(DeletedOrder, body).id, requested);
  return ORDER_TOPICS.includes(topic) ? await readOrder(parseBody(WooOrder, body), requested) : undefined;
}
