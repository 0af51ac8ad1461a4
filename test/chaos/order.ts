import { multiplyPpm } from '../../src/kit/values/money.ts';
import { orderNumber, shopifyOrder, shopifyRefund } from '../harness/affiliates/shopify-order.ts';
import type { Random } from './random.ts';
import type { Assignment, Brand, Shop } from './world.ts';

/** What a store tells: the topic and its body. */
export type Delivery = readonly [topic: string, body: object];

/** An order's whole life, and what must be left of it once all of it has been reported, in whatever order. */
export interface Order {
  id: string;
  brand: Brand;
  shop: Shop;
  deliveries: Delivery[];
  /** Undefined: it pays nobody. */
  winner: Assignment | undefined;
  revenueMinor: number;
  pendingMinor: number;
}

interface Refund {
  id: number;
  minor: number;
  at: Date;
}

/** An order as its store sees it at one moment. */
interface Snapshot {
  baseMinor: number;
  updatedAt: Date;
  isPaid: boolean;
  cancelledAt: Date | null;
  refunds: Refund[];
}

interface Facts {
  id: number;
  placedAt: Date;
  codes: string[];
  clickIds: string[];
}

const major = (minor: number) => (minor / 100).toFixed(2);

function genericBody({ id, placedAt, codes, clickIds }: Facts, snapshot: Snapshot): object {
  const { baseMinor, updatedAt, isPaid, cancelledAt, refunds } = snapshot;
  return {
    ...{ order_id: String(id), currency: 'USD', amount: major(baseMinor), placed_at: placedAt.toISOString() },
    ...{ paid_at: isPaid ? placedAt.toISOString() : null, updated_at: updatedAt.toISOString() },
    cancelled_at: cancelledAt?.toISOString() ?? null,
    ...{ customer_email: `c${id}@shop.example`, codes, click_ids: clickIds },
    refunds: refunds.map(genericRefund),
  };
}

const genericRefund = ({ id, minor, at }: Refund) => ({
  refund_id: String(id),
  amount: major(minor),
  at: at.toISOString(),
});

const shopifyPart = ({ id, minor, at }: Refund, orderId?: number) =>
  shopifyRefund({ id, lines: [{ subtotal: major(minor) }], at, ...(orderId === undefined ? {} : { orderId }) });

function shopifyBody({ id, placedAt, codes, clickIds }: Facts, snapshot: Snapshot): object {
  const { baseMinor, updatedAt, isPaid, cancelledAt, refunds } = snapshot;
  const [first, ...rest] = clickIds;
  return shopifyOrder({
    ...{ id, lines: [{ price: major(baseMinor) }], status: isPaid ? 'paid' : 'pending', at: placedAt, updatedAt },
    ...{ cancelledAt, email: `c${id}@shop.example`, codes },
    landingSite: first === undefined ? null : `/summer?click_id=${first}`,
    noteAttributes: rest.map((value) => ({ name: 'click_id', value })),
    refunds: refunds.map((refund) => shopifyPart(refund)),
  });
}

const TOPICS = {
  generic: { create: 'order.created', pay: 'order.paid', update: 'order.updated', cancel: 'order.cancelled' },
  shopify: { create: 'orders/create', pay: 'orders/paid', update: 'orders/updated', cancel: 'orders/cancelled' },
} as const;

function refundDelivery({ provider }: Shop, orderId: number, refund: Refund): Delivery {
  if (provider === 'shopify') return ['refunds/create', shopifyPart(refund, orderId)];
  const refunds = [genericRefund(refund)];
  return ['order.refunded', { order_id: String(orderId), currency: 'USD', refunds }];
}

type Moment = [moment: keyof typeof TOPICS.generic, snapshot: Snapshot];

/** What happens to an order, each a moment after the last, and the refunds it has at the end. */
function lifeOf(random: Random, placedAt: Date): { moments: Moment[]; refunds: Refund[]; end: Snapshot } {
  let ms = placedAt.getTime();
  const next = () => {
    ms += 1;
    return new Date(ms);
  };
  const moments: Moment[] = [];
  let end: Snapshot = {
    ...{ baseMinor: random.between(500, 40_000), updatedAt: placedAt, isPaid: false, cancelledAt: null, refunds: [] },
  };
  if (random.chance(0.3)) moments.push(['create', end]);
  const goOn = (moment: Moment[0], change: Partial<Snapshot>) => {
    end = { ...end, ...change, updatedAt: next() };
    moments.push([moment, end]);
  };
  goOn('pay', { isPaid: true });
  if (random.chance(0.3)) goOn('update', { baseMinor: random.between(500, 40_000) });
  const refunds = Array.from({ length: random.pick([0, 0, 0, 1, 2]) }, () => {
    const minor = random.between(1, Math.floor(end.baseMinor / 3));
    return { id: orderNumber(), minor, at: next() };
  });
  if (random.chance(0.3)) goOn('update', { refunds });
  if (random.chance(0.05)) goOn('cancel', { refunds, cancelledAt: next() });
  return { moments, refunds, end };
}

/** Sent late, early or twice, as it happens. */
function asSent(random: Random, deliveries: readonly Delivery[]): Delivery[] {
  const twice = deliveries.flatMap((delivery) => (random.chance(0.25) ? [delivery, delivery] : [delivery]));
  return random.chance(0.25) ? random.shuffled(twice) : twice;
}

interface Carried {
  winner: Assignment | undefined;
  codes: string[];
  clickIds: string[];
}

/** What the order carries; a code wins over clicks. */
function carried(random: Random, brand: Brand, recent: (link: Assignment) => string | undefined): Carried {
  const link = random.pick(brand.links);
  const token = recent(link);
  const clickIds = token === undefined ? [] : [token];
  const way = random.below(20);
  if (way === 0) return { winner: undefined, codes: ['NOBODYS'], clickIds: [] };
  if (way < 10 && clickIds.length > 0) return { winner: link, codes: [], clickIds };
  const assignment = random.pick(brand.codes);
  return { winner: assignment, codes: [assignment.code ?? ''], clickIds: way < 15 ? clickIds : [] };
}

export function makeOrder(
  random: Random,
  brand: Brand,
  recent: (link: Assignment) => string | undefined,
  placedAt: Date,
): Order {
  const shop = random.pick(brand.shops);
  const { winner, ...carries } = carried(random, brand, recent);
  const facts = { id: orderNumber(), placedAt, ...carries };
  const { moments, refunds, end } = lifeOf(random, placedAt);
  const bodyOf = shop.provider === 'shopify' ? shopifyBody : genericBody;
  const reported = moments.map(
    ([moment, snapshot]) => [TOPICS[shop.provider][moment], bodyOf(facts, snapshot)] as const,
  );
  const deliveries = asSent(random, [...reported, ...refunds.map((refund) => refundDelivery(shop, facts.id, refund))]);
  const refunded = refunds.reduce((sum, { minor }) => sum + minor, 0);
  const revenueMinor = end.cancelledAt || !winner ? 0 : end.baseMinor - refunded;
  const pendingMinor = multiplyPpm(revenueMinor, winner?.ratePpm ?? 0);
  return { id: String(facts.id), brand, shop, deliveries, winner, revenueMinor, pendingMinor };
}
