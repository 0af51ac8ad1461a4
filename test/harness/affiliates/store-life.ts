import type { Provider } from '../../../src/affiliates/stores/formats/provider.ts';
import { shopifyOrder, shopifyRefund } from './shopify-order.ts';
import type { TestStore } from './store.ts';
import { wooOrder } from './woo-order.ts';

const MINUTE_MS = 60_000;

/** Numbers from 0 to 1, the same for the same seed. */
export function seeded(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

interface Line {
  cents: number;
  quantity: number;
  discountCents: number;
  taxCents: number;
}

interface Refund {
  id: number;
  at: Date;
  line: Line;
  cents: number;
}

/** An order as its shop knows it, whatever the provider. */
interface Order {
  id: number;
  at: Date;
  updatedAt: Date;
  isPaid: boolean;
  cancelledAt: Date | null;
  taxesIncluded: boolean;
  lines: Line[];
  refunds: Refund[];
}

export type Happening = 'created' | 'paid' | 'edited' | 'refunded' | 'cancelled';

export interface Event {
  /** After the life began. */
  afterMs: number;
  what: Happening;
  order: number;
  /** Its own source of chance. */
  seed: number;
}

/** What happens to so many orders within a time: each is created; some are paid later, edited, refunded or cancelled. */
export function lifeOf(seed: number, { orders, withinMs }: { orders: number; withinMs: number }): Event[] {
  const chance = seeded(seed);
  const events: Event[] = [];
  for (let order = 0; order < orders; order += 1) {
    let afterMs = Math.floor(chance() * withinMs * 0.9);
    const add = (what: Happening) => events.push({ afterMs, what, order, seed: Math.floor(chance() * 2 ** 32) });
    const later = (minutes: number) => {
      afterMs = Math.min(afterMs + Math.ceil(chance() * minutes) * MINUTE_MS, withinMs);
    };
    add('created');
    later(30);
    add('paid');
    for (const [what, share] of [
      ['edited', 0.3],
      ['refunded', 0.3],
      ['refunded', 0.1],
      ['cancelled', 0.06],
    ] as const) {
      if (chance() >= share) continue;
      later(300);
      add(what);
    }
  }
  return events.sort((a, b) => a.afterMs - b.afterMs || a.order - b.order);
}

const decimal = (cents: number) => (cents / 100).toFixed(2);

function newLine(chance: () => number): Line {
  const cents = 500 + Math.floor(chance() * 9_500);
  const quantity = 1 + Math.floor(chance() * 3);
  const discountCents = chance() < 0.4 ? Math.floor(cents * quantity * 0.1) : 0;
  return { cents, quantity, discountCents, taxCents: Math.floor((cents * quantity - discountCents) / 6) };
}

const paidCents = ({ cents, quantity, discountCents }: Line) => cents * quantity - discountCents;

function change(order: Order, { what, seed }: Event, at: Date): void {
  const chance = seeded(seed);
  order.updatedAt = at;
  if (what === 'paid') order.isPaid = true;
  if (what === 'cancelled') order.cancelledAt = at;
  if (what === 'edited') order.lines.push(newLine(chance));
  if (what !== 'refunded') return;
  const [line] = order.lines;
  if (!line) return;
  const left = Math.floor(paidCents(line) / 2);
  const cents = Math.max(1, Math.floor(left * chance()));
  order.refunds.push({ id: order.id * 10 + order.refunds.length, at, line, cents });
}

const statusOf = ({ isPaid, refunds }: Order) => {
  if (!isPaid) return 'pending';
  return refunds.length > 0 ? 'partially_refunded' : 'paid';
};

const shopifyRefundOf = ({ id, at, cents }: Refund, order: Order) =>
  shopifyRefund({
    ...{ id, at, orderId: order.id },
    lines: [{ subtotal: decimal(cents), tax: order.taxesIncluded ? decimal(Math.floor(cents / 6)) : '0.00' }],
  });

const shopifyBody = (order: Order, code: string) =>
  shopifyOrder({
    ...{ id: order.id, at: order.at, updatedAt: order.updatedAt, cancelledAt: order.cancelledAt },
    ...{ taxesIncluded: order.taxesIncluded, status: statusOf(order), codes: [code] },
    email: `c${order.id}@shop.example`,
    lines: order.lines.map(({ cents, quantity, discountCents, taxCents }) => ({
      ...{ price: decimal(cents), quantity },
      discounts: discountCents > 0 ? [decimal(discountCents)] : [],
      taxes: [decimal(taxCents)],
    })),
    refunds: order.refunds.map((refund) => shopifyRefundOf(refund, order)),
  });

const gmt = (at: Date) => at.toISOString().slice(0, 19);

function wooBody(order: Order, code: string) {
  const lines = order.lines.map((line) => decimal(paidCents(line)));
  const total = order.lines.reduce((sum, line) => sum + paidCents(line), 1_000);
  return {
    ...wooOrder({
      ...{ id: order.id, lines, total: decimal(total), codes: [code], modifiedAt: gmt(order.updatedAt) },
      status: order.cancelledAt ? 'cancelled' : order.isPaid ? 'processing' : 'pending',
      paidAt: order.isPaid ? gmt(order.at) : null,
      email: `c${order.id}@shop.example`,
      refunds: order.refunds.map(({ id, cents }) => ({ id, total: `-${decimal(cents)}` })),
    }),
    date_created_gmt: gmt(order.at),
  };
}

const wooRefunds = ({ refunds }: Order) =>
  refunds.map(({ id, at, cents }) => ({
    ...{ id, date_created_gmt: gmt(at), amount: decimal(cents) },
    line_items: [{ id: 1, name: 'Woo', quantity: -1, total: `-${decimal(cents)}`, total_tax: '0.00' }],
  }));

const genericBody = (order: Order, code: string) => ({
  order_id: String(order.id),
  currency: 'USD',
  amount: decimal(order.lines.reduce((sum, line) => sum + paidCents(line), 0)),
  placed_at: order.at.toISOString(),
  paid_at: order.isPaid ? order.at.toISOString() : null,
  cancelled_at: order.cancelledAt?.toISOString() ?? null,
  updated_at: order.updatedAt.toISOString(),
  customer_email: `c${order.id}@shop.example`,
  codes: [code],
  refunds: order.refunds.map(({ id, at, cents }) => ({
    refund_id: String(id),
    amount: decimal(cents),
    at: at.toISOString(),
  })),
});

const TOPICS: Readonly<Record<Provider, Readonly<Record<Happening, readonly string[]>>>> = {
  shopify: {
    created: ['orders/create'],
    paid: ['orders/paid', 'orders/updated'],
    edited: ['orders/updated'],
    refunded: ['refunds/create', 'orders/updated'],
    cancelled: ['orders/cancelled', 'orders/updated'],
  },
  woocommerce: {
    created: ['order.created'],
    paid: ['order.updated'],
    edited: ['order.updated'],
    refunded: ['order.updated'],
    cancelled: ['order.updated'],
  },
  generic: {
    created: ['order.created'],
    paid: ['order.paid'],
    edited: ['order.updated'],
    refunded: ['order.refunded'],
    cancelled: ['order.cancelled'],
  },
};

/** Lets a life happen in a store, event by event; answers what its webhooks report of each. */
export function openLife(store: TestStore, code: string) {
  const orders = new Map<number, Order>();
  const begin = ({ order, seed }: Event, at: Date): Order => {
    const chance = seeded(seed);
    const lines = Array.from({ length: 1 + Math.floor(chance() * 3) }, () => newLine(chance));
    const begun = { id: 5_000_000 + order, at, updatedAt: at, isPaid: false, cancelledAt: null, refunds: [], lines };
    return { ...begun, taxesIncluded: chance() < 0.5 };
  };
  return (event: Event, at: Date): { topic: string; body: object }[] => {
    const { provider } = store;
    const order = orders.get(event.order) ?? begin(event, at);
    orders.set(event.order, order);
    if (event.what !== 'created') change(order, event, at);
    const id = String(order.id);
    if (provider === 'woocommerce') store.refunds.set(id, wooRefunds(order));
    if (order.taxesIncluded) store.taxesIncluded.add(id);
    const bodyOf = { shopify: shopifyBody, woocommerce: wooBody, generic: genericBody }[provider];
    const body = bodyOf(order, code);
    store.orders.set(id, body);
    const refund = order.refunds.at(-1);
    return TOPICS[provider][event.what].map((topic) => ({
      topic,
      body: topic === 'refunds/create' && refund ? shopifyRefundOf(refund, order) : body,
    }));
  };
}
