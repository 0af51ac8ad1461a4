import { z } from 'zod';
import { besideOthers, type Unchecked } from '../../api/problems.ts';
import type { OrderFacts, RefundFacts } from '../../resources/integrations/schema.ts';
import { Currency, decimalsOf } from '../../values/money.ts';
import { distinct, MAX_LENGTH, MAX_VALUES } from './click.ts';
import { Decimal, excessOf, toMinorUnits, writeDecimal } from './money.ts';
import {
  askStore,
  type Coupon,
  type Delivery,
  getFromStore,
  headerOf,
  parseBody,
  type Reading,
  type Store,
  type StoreClient,
  StorefrontUrl,
  StoreId,
  StoreName,
  StoreTime,
} from './provider.ts';
import { isSignedBy } from './signature.ts';

const EVENTS = ['order.created', 'order.paid', 'order.updated', 'order.cancelled', 'order.refunded'];
/** What an event is about; its name alone says nothing of when. */
const NEEDED: Readonly<Record<string, 'paid_at' | 'cancelled_at' | 'refunds'>> = {
  'order.paid': 'paid_at',
  'order.cancelled': 'cancelled_at',
  'order.refunded': 'refunds',
};
const SIGNATURE = /^sha256=([0-9a-f]{64})$/;

const StoreInfo = z.object({
  name: StoreName.pipe(z.string().min(1)),
  currency: Currency,
  storefront_url: StorefrontUrl,
});
const CouponInfo = z.object({ code: z.string(), percentage: z.number().nullish(), active: z.boolean() });

/** Major units: as text, or a number with no more decimals than the currency has. */
const isWhole = (decimal: bigint, currency: string) => decimal % 10n ** BigInt(8 - decimalsOf(currency)) === 0n;

const Refund = z.object({ refund_id: StoreId, amount: Decimal, at: StoreTime });

/** More than what is looked at is refused, rather than left out. */
const Carried = z.array(z.string().max(MAX_LENGTH)).max(MAX_VALUES).default([]);

const Order = z
  .object({
    order_id: StoreId,
    currency: Currency,
    amount: Decimal.optional(),
    placed_at: StoreTime.optional(),
    paid_at: StoreTime.nullish(),
    cancelled_at: StoreTime.nullish(),
    updated_at: StoreTime.optional(),
    customer_email: z.string().max(320).nullish(),
    codes: Carried,
    click_ids: Carried,
    refunds: z.array(Refund).optional(),
  })
  .superRefine((order: Unchecked<'currency' | 'amount' | 'refunds'>, context) => {
    const { data: currency } = Currency.safeParse(order.currency);
    if (currency === undefined) return;
    const message = `must be at least 0 with at most ${decimalsOf(currency)} decimals in ${currency}`;
    const check = (one: unknown, path: (string | number)[]) => {
      if (typeof one !== 'bigint') return;
      const problem = one >= 0n && isWhole(one, currency) ? excessOf(one, currency) : message;
      if (problem !== undefined) context.addIssue({ code: 'custom', path, message: problem, input: writeDecimal(one) });
    };
    check(order.amount, ['amount']);
    const refunds = Array.isArray(order.refunds) ? order.refunds : [];
    for (const [i, refund] of refunds.entries()) check(Object(refund).amount, ['refunds', i, 'amount']);
  }, besideOthers);
type Order = z.output<typeof Order>;

const Envelope = z.object({ event: z.string(), createdAt: StoreTime });
const Message = Envelope.extend({ data: Order }).superRefine(({ event, data }, context) => {
  const field = NEEDED[event];
  if (field === undefined || (data[field] ?? null) !== null) return;
  context.addIssue({ code: 'custom', path: ['data', field], message: `is needed of ${event}`, input: data[field] });
});
/** Needed of a whole order. */
const Placed = z.object({ amount: z.bigint(), placed_at: z.date() });

const bearer = (store: Store) => ({ authorization: `Bearer ${store.token}` });

async function findCoupon(store: Store, code: string): Promise<Coupon> {
  const path = `/coupons/${encodeURIComponent(code)}`;
  const coupon = await askStore(store, { method: 'GET', path, headers: bearer(store), shape: CouponInfo });
  if (!coupon) return { state: 'not_found' };
  if (typeof coupon.percentage !== 'number') return { state: 'not_percentage' };
  return coupon.active ? { state: 'active', percentage: coupon.percentage } : { state: 'inactive' };
}

function refundsOf({ refunds = [], currency }: Order): RefundFacts[] {
  return refunds.map(({ refund_id, amount, at }) => ({
    refundId: refund_id,
    amountMinor: toMinorUnits(amount, currency),
    at,
  }));
}

function factsOf(order: Order, sentAt: Date): OrderFacts {
  const { amount, placed_at } = parseBody(Placed, order);
  return {
    orderId: order.order_id,
    currency: order.currency,
    baseMinor: toMinorUnits(amount, order.currency),
    occurredAt: placed_at,
    paidAt: order.paid_at ?? null,
    cancelledAt: order.cancelled_at ?? null,
    updatedAt: order.updated_at ?? sentAt,
    customerEmail: order.customer_email || null,
    codes: distinct(order.codes),
    clickIds: distinct(order.click_ids),
    refunds: refundsOf(order),
    hasAllRefunds: order.refunds !== undefined,
  };
}

/** Every event carries the whole order; a refund may also come with its order's id alone. */
function read({ body }: Delivery): Reading | undefined {
  if (!EVENTS.includes(parseBody(Envelope, body).event)) return undefined;
  const { event, createdAt, data } = parseBody(Message, body);
  if (event === 'order.refunded' && data.amount === undefined) {
    const told = { currency: data.currency, refunds: refundsOf(data), updatedAt: createdAt, hasAllRefunds: false };
    return { kind: 'refund', facts: { orderId: data.order_id, ...told } };
  }
  return { kind: 'order', facts: factsOf(data, createdAt) };
}

/** A store of the brand's own making, which signs as our own webhooks do. */
export const generic: StoreClient = {
  connect: async (store) => {
    const info = await getFromStore(store, { method: 'GET', path: '/store', headers: bearer(store), shape: StoreInfo });
    return { name: info.name, currency: info.currency, storefrontUrl: info.storefront_url };
  },
  findCoupon,
  verify: (rawBody, headers, secret) => {
    const hex = SIGNATURE.exec(headerOf(headers, 'x-service-signature'))?.[1];
    return isSignedBy(secret, rawBody, hex, 'hex');
  },
  isPing: () => false,
  read: async (delivery) => read(delivery),
};
