import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { findRowState } from '../../src/affiliates/terms/customer-rows.ts';
import { type CandidateNames, explainCustomer } from '../../src/affiliates/terms/customer-sentences.ts';
import type { CustomerCandidate } from '../../src/affiliates/terms/customers.ts';
import { readShopifyKind, readWooKind } from '../../src/affiliates/terms/kinds.ts';
import { addMonths } from '../../src/affiliates/terms/months.ts';
import { Terms } from '../../src/affiliates/terms/terms.shapes.ts';
import { randomRuns, testSeed } from '../harness/random-runs.ts';
import { createWorld, link, type Outcome, type Reported, SHOP } from './customer-world.ts';

const day = (number: number) => new Date(Date.UTC(2026, 2, number, 12));

const pays = ({ paid }: Outcome) => (paid ? [paid.creatorId, paid.minor / 100] : null);
const claims = ({ decision }: Outcome) => {
  const { candidate, winner, rule } = decision;
  return candidate ? { winner, rule, by: candidate.by, reason: candidate.reason } : { winner, rule };
};

const subscription = (percent: number, more: object = {}) => ({ rate: { percent }, covers: 'subscription', ...more });
const customer = (percent: number, more: object = {}) => ({ rate: { percent }, covers: 'customer', ...more });
const plain = (percent: number) => ({ rate: { percent } });

const order = (id: number, more: Partial<Reported> = {}): Reported => ({
  id: `ord_${String(id).padStart(6, '0')}`,
  placedAt: day(id),
  ...more,
});

const lead = (creatorId: string, terms: object, at: Date) => ({
  subscriptions: [],
  customerIds: [],
  emails: ['sub@mail.example'],
  ...link(creatorId, terms),
  origin: 'lead' as const,
  firstOrderId: null,
  products: [],
  since: at,
  endedAt: null,
  isOriginRejected: false,
});

describe('subscriptions from the field', () => {
  it('14: pays the renewals of a subscription that a link sold.', () => {
    const world = createWorld();
    const ana = link('ana', subscription(15));
    expect(pays(world.report(order(1), 'click', ana))).toEqual(['ana', 15]);
    const renewal = world.report(order(2, { kind: 'renewal' }));
    expect(pays(renewal)).toEqual(['ana', 15]);
    expect(claims(renewal)).toEqual({ winner: 'customer', rule: 'subscription', by: 'email', reason: null });
  });

  it('15: pays Shopify’s renewals, which carry neither code nor click.', () => {
    const world = createWorld();
    const read = (tag: string, sourceName: string) =>
      readShopifyKind({ tags: [tag], sourceName, attributes: [], renewalTags: [], firstTags: [] });
    const known = { amountMinor: 5_000, customerId: 'h77', products: ['1'] };
    const first = order(1, { ...known, ...read('appstle_subscription_first_order', 'web') });
    expect(pays(world.report(first, 'code', link('ana', subscription(10))))).toEqual(['ana', 5]);
    const tag = 'appstle_subscription_recurring_order';
    const renewal = world.report(order(2, { ...known, ...read(tag, 'subscription_contract_checkout_one') }));
    expect(pays(renewal)).toEqual(['ana', 5]);
    expect(claims(renewal)).toMatchObject({ rule: 'subscription', by: 'product' });
  });

  it.each(['appstle_subscription_recurring_order', 'manual_subscription_recurring_order'])(
    '16: pays nobody for a renewal that only its tag %s tells, with a code that pays none.',
    (tag) => {
      const world = createWorld();
      const facts = readShopifyKind({ tags: [tag], sourceName: 'web', attributes: [], renewalTags: [], firstTags: [] });
      expect(pays(world.report(order(1, { amountMinor: 5_000, ...facts }), 'code', link('ben', plain(10))))).toBe(null);
    },
  );

  it('17: pays a WooCommerce upgrade that names a subscription sold by a creator.', () => {
    const read = (meta: { name: string; value: unknown }[]) => readWooKind({ meta, createdVia: 'checkout' });
    const upgrade = order(2, { amountMinor: 3_000, ...read([{ name: '_subscription_switch', value: '8999' }]) });
    const unknown = createWorld();
    expect(pays(unknown.report(order(1, read([])), 'code', link('woo', subscription(10))))).toEqual(['woo', 10]);
    expect(pays(unknown.report(upgrade))).toEqual(['woo', 3]);
    const asked = createWorld();
    asked.report(order(1, { ...read([]), subscriptionId: '8999' }), 'code', link('woo', subscription(10)));
    const decided = asked.report({ ...upgrade, email: null });
    expect(pays(decided)).toEqual(['woo', 3]);
    expect(claims(decided)).toMatchObject({ by: 'subscription', rule: 'subscription' });
  });

  it('pays three payments of 15 %, then nobody; a later code of another creator wins its own order.', () => {
    const world = createWorld();
    const named = { subscriptionId: 's1' };
    const ana = link('ana', subscription(15, { payments: 3 }));
    expect(pays(world.report(order(1, { ...named, kind: 'first' }), 'code', ana))).toEqual(['ana', 15]);
    expect(pays(world.report(order(2, { ...named, kind: 'renewal' })))).toEqual(['ana', 15]);
    const upgrade = world.report(order(3, { ...named, kind: 'upgrade', amountMinor: 3_000 }));
    expect(pays(upgrade)).toEqual(['ana', 4.5]);
    const over = world.report(order(4, { ...named, kind: 'renewal' }));
    expect(pays(over)).toBe(null);
    expect(claims(over)).toMatchObject({ reason: 'payments_over' });
    expect(pays(world.report(order(5), 'code', link('ben', plain(20))))).toEqual(['ben', 20]);
  });

  it('pays the first charge after a trial under terms for first orders only, and nothing else.', () => {
    const world = createWorld();
    const ana = link('ana', plain(10));
    const named = { subscriptionId: 's1', amountMinor: 4_900, kind: 'renewal' as const };
    const trial = order(1, { subscriptionId: 's1', amountMinor: 0, kind: 'first' });
    expect(pays(world.report(trial, 'code', ana))).toEqual(['ana', 0]);
    expect(pays(world.report(order(2, named), 'code', ana))).toEqual(['ana', 4.9]);
    const second = world.report(order(3, named), 'code', ana);
    expect(pays(second)).toBe(null);
    expect(claims(second)).toMatchObject({ by: 'subscription', reason: 'first_order_only' });
    expect(pays(world.report(order(4)))).toBe(null);
  });
});

describe('who decides an order', () => {
  it('is the earliest row of its subscription, also for a one-time order that names it.', () => {
    const world = createWorld();
    world.report(order(1, { kind: 'first', subscriptionId: 's1' }), 'code', link('ana', subscription(10)));
    world.report(order(2, { kind: 'once', subscriptionId: 's1' }), 'code', link('ben', subscription(20)));
    expect(pays(world.report(order(3, { kind: 'renewal', subscriptionId: 's1' })))).toEqual(['ana', 10]);
    const once = world.report(order(4, { kind: 'once', subscriptionId: 's1', email: null }));
    expect(claims(once)).toMatchObject({ winner: 'customer', rule: 'subscription', by: 'subscription' });
  });

  it('knows a subscription at its own shop only.', () => {
    const world = createWorld();
    world.report(order(1, { kind: 'first', subscriptionId: '1', email: null }), 'code', link('ana', subscription(10)));
    const elsewhere = { integrationId: 'int_other', email: null };
    expect(pays(world.report(order(2, { kind: 'renewal', subscriptionId: '1', ...elsewhere })))).toBe(null);
  });

  it('is nobody for a subscription that nobody sold, also when its customer is brought later.', () => {
    const world = createWorld();
    world.report(order(1, { kind: 'first', subscriptionId: 'old' }));
    expect(pays(world.report(order(2), 'click', link('ana', customer(10))))).toEqual(['ana', 10]);
    const renewal = world.report(order(3, { kind: 'renewal', subscriptionId: 'old' }));
    expect(pays(renewal)).toBe(null);
    expect(claims(renewal)).toMatchObject({ by: 'subscription', reason: 'nobody_sold_it' });
  });

  it('is nobody for a product whose first order nobody sold, and the latest first order otherwise.', () => {
    const world = createWorld();
    const firstOf = (id: number, product: string) => order(id, { kind: 'first', products: [product] });
    world.report(firstOf(1, 'tea'), 'code', link('ana', subscription(10)));
    world.report(firstOf(2, 'milk'));
    const renewalOf = (id: number, product: string) => order(id, { kind: 'renewal', products: [product] });
    expect(pays(world.report(renewalOf(3, 'tea')))).toEqual(['ana', 10]);
    const milk = world.report(renewalOf(4, 'milk'));
    expect(claims(milk)).toMatchObject({ winner: 'nobody', by: 'product', reason: 'nobody_sold_it' });
    world.report(firstOf(5, 'tea'), 'code', link('ben', subscription(20)));
    expect(pays(world.report(renewalOf(6, 'tea')))).toEqual(['ben', 20]);
  });

  it('is the latest row of the product without a first order, else the latest row at all.', () => {
    const world = createWorld();
    world.report(order(1, { products: ['tea'] }), 'code', link('ana', subscription(10)));
    world.report(order(2, { products: ['milk'] }), 'code', link('ben', subscription(20)));
    expect(pays(world.report(order(3, { kind: 'renewal', products: ['tea'] })))).toEqual(['ana', 10]);
    expect(pays(world.report(order(4, { kind: 'upgrade', products: ['oats'] })))).toEqual(['ben', 20]);
    expect(pays(world.report(order(5, { kind: 'once', products: ['tea'] })))).toBe(null);
  });

  it('does not try another row where the one that continues no longer runs.', () => {
    const world = createWorld();
    world.report(order(1, { products: ['tea'] }), 'code', link('ana', customer(10)));
    world.report(order(2, { products: ['milk'] }), 'code', link('ben', subscription(20, { payments: 1 })));
    const renewal = world.report(order(3, { kind: 'renewal', products: ['milk'] }));
    expect(claims(renewal)).toMatchObject({ winner: 'nobody', reason: 'payments_over' });
  });

  it('is the earliest row that runs and covers the customer, for all other orders.', () => {
    const world = createWorld();
    world.report(order(1), 'code', link('ana', customer(10, { payments: 2 })));
    world.report(order(2), 'code', link('ben', customer(20)));
    expect(pays(world.report(order(3)))).toEqual(['ana', 10]);
    const later = world.report(order(4));
    expect(pays(later)).toEqual(['ben', 20]);
    expect(claims(later)).toMatchObject({ rule: 'customer', by: 'email' });
  });

  it('recognizes a customer by the id at one shop or by the address, and by nothing that leads from one to the other.', () => {
    const world = createWorld();
    world.report(order(1, { customerId: 'h1', email: 'a' }), 'code', link('ana', customer(10)));
    expect(claims(world.report(order(2, { customerId: 'h1', email: 'b' })))).toMatchObject({ by: 'customer_id' });
    expect(claims(world.report(order(3, { customerId: 'h2', email: 'a' })))).toMatchObject({ by: 'email' });
    expect(pays(world.report(order(4, { customerId: 'h2', email: 'b' })))).toBe(null);
    expect(pays(world.report(order(5, { customerId: 'h1', email: null, integrationId: 'int_2' })))).toBe(null);
    expect(pays(world.report(order(6, { customerId: null, email: null })))).toBe(null);
  });

  it('counts no order before a row’s start, and an order that was recorded first as the earlier.', () => {
    const world = createWorld();
    world.report(order(5), 'code', link('ana', customer(10)));
    expect(pays(world.report({ ...order(4), placedAt: day(4) }))).toBe(null);
    expect(pays(world.report({ ...order(6), placedAt: day(5) }))).toEqual(['ana', 10]);
  });

  it('keeps rows of a link that is bound to a store to orders of that store.', () => {
    const world = createWorld();
    world.report(order(1), 'code', link('ana', customer(10), SHOP));
    expect(pays(world.report(order(2, { integrationId: 'int_2' })))).toBe(null);
    expect(pays(world.report(order(3)))).toEqual(['ana', 10]);
  });

  it('lets history and tests say nothing.', () => {
    const world = createWorld();
    const silent = { kind: 'first' as const, subscriptionId: 's1', products: ['tea'] };
    world.report(order(1, silent));
    world.report(order(2, silent));
    world.change(order(1).id, { isHistory: true });
    world.change(order(2).id, { isTest: true });
    world.report(order(3, { products: ['tea'] }), 'code', link('ana', subscription(10)));
    const renewal = world.report(order(4, { ...silent, kind: 'renewal' }));
    expect(claims(renewal)).toMatchObject({ winner: 'customer', by: 'product' });
  });

  it('follows a subscription that its customer began anew.', () => {
    const world = createWorld();
    const named = { subscriptionId: 's1' };
    world.report(order(1, { ...named, kind: 'first' }), 'code', link('ana', subscription(10)));
    const again = order(2, { kind: 'resubscribe', subscriptionId: 's2', previousSubscriptionId: 's1', email: null });
    expect(claims(world.report(again))).toMatchObject({ winner: 'customer', by: 'subscription' });
    expect(pays(world.report(order(3, { kind: 'renewal', subscriptionId: 's2', email: null })))).toEqual(['ana', 10]);
  });

  it('follows the owner of the earliest order that named a subscription without a row of its own.', () => {
    const world = createWorld();
    const ana = link('ana', customer(10));
    world.report(order(1), 'code', ana);
    world.report(order(2, { kind: 'first', subscriptionId: 's2' }));
    world.report(order(3, { kind: 'first', subscriptionId: 's3' }), 'code', ana);
    expect(world.rows).toHaveLength(1);
    for (const [id, subscriptionId] of [
      [4, 's2'],
      [5, 's3'],
    ] as const) {
      const renewal = world.report(order(id, { kind: 'renewal', subscriptionId, email: null }));
      expect(pays(renewal)).toEqual(['ana', 10]);
    }
  });

  it('makes the row that a renewal with a code did not make, once it is continued.', () => {
    const world = createWorld();
    const renewal = (id: number) => order(id, { kind: 'renewal', subscriptionId: 's1' });
    const ana = link('ana', subscription(10, { payments: 2 }));
    expect(pays(world.report(renewal(1), 'code', ana))).toEqual(['ana', 10]);
    expect(world.rows).toHaveLength(0);
    expect(pays(world.report(renewal(2), 'code', ana))).toEqual(['ana', 10]);
    expect(world.rows).toMatchObject([{ firstOrderId: order(1).id, creatorId: 'ana' }]);
    expect(claims(world.report(renewal(3), 'code', ana))).toMatchObject({ winner: 'nobody', reason: 'payments_over' });
  });

  it('pays nobody for what continues an order whose terms covered it alone.', () => {
    const world = createWorld();
    const named = { subscriptionId: 's1' };
    world.report(order(1, { ...named, kind: 'first' }), 'code', link('ana', plain(10)));
    const renewal = world.report(order(2, { ...named, kind: 'renewal' }));
    expect(claims(renewal)).toMatchObject({ winner: 'nobody', by: 'subscription', reason: 'first_order_only' });
    expect(renewal.decision.candidate).toMatchObject({ rowId: null, linkId: 'lnk_ana', firstOrderId: order(1).id });
  });
});

describe('what an order carries', () => {
  it('wins it, whoever owns the customer, and changes nothing for later ones.', () => {
    const world = createWorld();
    world.report(order(1), 'code', link('ana', customer(10)));
    const carried = world.report(order(2), 'code', link('ben', plain(20)));
    expect(pays(carried)).toEqual(['ben', 20]);
    expect(claims(carried)).toMatchObject({ winner: 'carried', by: 'email', reason: 'own_code_or_click' });
    expect(pays(world.report(order(3)))).toEqual(['ana', 10]);
  });

  it('does not get round a duration as a recurring coupon of the same creator.', () => {
    const world = createWorld();
    const ana = link('ana', subscription(10, { payments: 2 }));
    const renewal = (id: number) => order(id, { kind: 'renewal', subscriptionId: 's1' });
    world.report(order(1, { kind: 'first', subscriptionId: 's1' }), 'code', ana);
    const second = world.report(renewal(2), 'code', ana);
    expect(claims(second)).toMatchObject({ winner: 'customer', reason: null });
    expect(second.decision.candidate?.payment).toBe(2);
    expect(claims(world.report(renewal(3), 'code', ana))).toMatchObject({ winner: 'nobody', reason: 'payments_over' });
    expect(pays(world.report(renewal(4), 'code', link('ben', subscription(20))))).toEqual(['ben', 20]);
    expect(pays(world.report(renewal(5), 'click', ana))).toEqual(['ana', 10]);
    const anew = order(6, { kind: 'resubscribe', subscriptionId: 's2', previousSubscriptionId: 's1' });
    expect(claims(world.report(anew, 'code', ana))).toMatchObject({ winner: 'carried' });
    expect(pays(world.report(order(7, { kind: 'renewal', subscriptionId: 's2' })))).toEqual(['ana', 10]);
  });

  it('wins as it always did under plain terms.', () => {
    const world = createWorld();
    const ana = link('ana', subscription(10));
    world.report(order(1, { kind: 'first', subscriptionId: 's1' }), 'code', ana);
    const renewal = world.report(order(2, { kind: 'renewal', subscriptionId: 's1' }), 'code', ana);
    expect(claims(renewal)).toMatchObject({ winner: 'carried', reason: 'own_code_or_click' });
  });

  it('comes after a row that runs, and only that, by the policy customer_wins.', () => {
    const world = createWorld({ policy: 'customer_wins' });
    world.report(order(1), 'code', link('ana', customer(10, { payments: 2 })));
    const ben = link('ben', plain(20));
    expect(pays(world.report(order(2), 'code', ben))).toEqual(['ana', 10]);
    const later = world.report(order(3), 'code', ben);
    expect(pays(later)).toEqual(['ben', 20]);
    expect(claims(later)).toMatchObject({ winner: 'carried', reason: 'payments_over' });
  });
});

describe('a row', () => {
  it('is made by orders once, first and resubscribe whose terms cover more, and by any trial.', () => {
    const rowsAfter = (more: Partial<Reported>, terms: object) => {
      const world = createWorld();
      world.report(order(1, more), 'code', link('ana', terms));
      return world.rows.length;
    };
    for (const kind of ['once', 'first', 'resubscribe'] as const) {
      expect(rowsAfter({ kind }, subscription(10))).toBe(1);
      expect(rowsAfter({ kind }, plain(10))).toBe(0);
      expect(rowsAfter({ kind, amountMinor: 0 }, plain(10))).toBe(1);
    }
    for (const kind of ['renewal', 'upgrade'] as const) expect(rowsAfter({ kind }, subscription(10))).toBe(0);
    expect(rowsAfter({ email: null }, subscription(10))).toBe(0);
  });

  it('is not made while the same creator has one that runs and covers the customer.', () => {
    const world = createWorld();
    const ana = link('ana', customer(10, { payments: 2 }));
    world.report(order(1), 'code', ana);
    world.report(order(2), 'code', ana);
    world.report(order(3, { email: 'other' }), 'code', ana);
    expect(world.rows).toHaveLength(2);
    world.report(order(4));
    world.report(order(5), 'code', ana);
    expect(world.rows).toHaveLength(3);
  });

  it('copies terms, link and creator, starts when its order was placed, and has the keys of the order.', () => {
    const world = createWorld();
    const more = { subscriptionId: 's1', customerId: 'h1', email: 'a', products: ['tea'], kind: 'first' as const };
    world.report(order(1, more), 'code', link('ana', subscription(10, { months: 3 })));
    expect(world.rows).toMatchObject([
      {
        linkId: 'lnk_ana',
        creatorId: 'ana',
        terms: { months: 3 },
        origin: 'order',
        since: day(1),
        subscriptions: [{ integrationId: SHOP, id: 's1' }],
        customerIds: [{ integrationId: SHOP, id: 'h1' }],
        emails: ['a'],
      },
    ]);
  });

  const stopped = (terms: object, change: (world: ReturnType<typeof createWorld>) => void, at = day(20)) => {
    const world = createWorld();
    world.report(order(1, { kind: 'first', subscriptionId: 's1' }), 'code', link('ana', terms));
    change(world);
    return claims(world.report({ ...order(20, { kind: 'renewal', subscriptionId: 's1' }), placedAt: at })).reason;
  };
  const changeRow = (change: object) => (world: ReturnType<typeof createWorld>) => {
    Object.assign(world.rows[0] ?? {}, change);
  };

  it('stops running for the first reason in the order of the rules.', () => {
    const over = subscription(10, { payments: 1, months: 1 });
    const late = new Date(Date.UTC(2026, 5, 1));
    expect(stopped(over, changeRow({ endedAt: day(2), isOriginRejected: true }), late)).toBe('ended');
    expect(stopped(over, changeRow({ isOriginRejected: true }), late)).toBe('origin_rejected');
    expect(stopped(over, () => undefined, late)).toBe('payments_over');
    expect(stopped(subscription(10, { months: 1 }), () => undefined, late)).toBe('duration_over');
    expect(stopped(subscription(10), () => undefined, late)).toBe(null);
  });

  it('that was ended decides orders from before its end as before.', () => {
    expect(stopped(subscription(10), changeRow({ endedAt: day(20) }), day(19))).toBe(null);
    expect(stopped(subscription(10), changeRow({ endedAt: day(20) }), day(20))).toBe('ended');
  });

  it('counts months from its first payment in UTC, to the last day of a shorter month.', () => {
    expect(addMonths(new Date('2027-01-31T10:00:00Z'), 1)).toEqual(new Date('2027-02-28T10:00:00Z'));
    expect(addMonths(new Date('2027-01-31T10:00:00Z'), 13)).toEqual(new Date('2028-02-29T10:00:00Z'));
    const world = createWorld();
    const named = { subscriptionId: 's1' };
    const at = (text: string, id: number, more: Partial<Reported> = {}) =>
      world.report({ ...order(id, { ...named, kind: 'renewal', ...more }), placedAt: new Date(text) });
    const trial = {
      ...order(1, { ...named, kind: 'first', amountMinor: 0 }),
      placedAt: new Date('2026-06-15T00:00:00Z'),
    };
    world.report(trial, 'code', link('ana', subscription(10, { months: 6 })));
    expect(pays(at('2026-08-31T10:00:00Z', 2))).toEqual(['ana', 10]);
    expect(pays(at('2027-02-28T09:59:59Z', 3))).toEqual(['ana', 10]);
    const over = at('2027-02-28T10:00:00Z', 4);
    expect(claims(over)).toMatchObject({ winner: 'nobody', reason: 'duration_over' });
    expect(over.decision.candidate?.until).toEqual(new Date('2027-02-28T10:00:00Z'));
  });

  it('counts as payments its own orders above 0.00 from before, but those that were cancelled unpaid.', () => {
    const world = createWorld();
    const renewal = (id: number, more: Partial<Reported> = {}) =>
      order(id, { kind: 'renewal', subscriptionId: 's1', ...more });
    const number = (outcome: Outcome) => outcome.decision.candidate?.payment;
    world.report(order(1, { kind: 'first', subscriptionId: 's1' }), 'code', link('ana', subscription(10)));
    expect(number(world.report(renewal(2)))).toBe(2);
    expect(number(world.report(renewal(3, { amountMinor: 0 })))).toBe(3);
    expect(number(world.report(renewal(4)))).toBe(3);
    world.report(renewal(5), 'code', link('ben', subscription(20)));
    expect(number(world.report(renewal(6)))).toBe(4);
    world.change(renewal(4).id, { isCancelledUnpaid: true });
    expect(number(world.report(renewal(7)))).toBe(4);
    expect(number(world.report({ ...renewal(8), placedAt: new Date(day(1).getTime() + 1) }))).toBe(2);
  });

  it('holds its orders to the smallest order of the brand, but for a trial.', () => {
    const world = createWorld({ minimumMinor: 2_000 });
    world.report(order(1), 'code', link('ana', customer(10)));
    const small = world.report(order(2, { amountMinor: 1_999 }));
    expect(claims(small)).toMatchObject({ winner: 'nobody', reason: 'below_minimum' });
    expect(claims(world.report(order(3, { amountMinor: 0, kind: 'first' })))).toMatchObject({ winner: 'customer' });
    expect(claims(world.report(order(4, { amountMinor: 0 })))).toMatchObject({ winner: 'nobody' });
  });

  it('is open, running, over or ended.', () => {
    const row = lead('ana', subscription(10, { payments: 2 }), day(1));
    const paid = (made: number) => ({ made, firstAt: made > 0 ? day(1) : null });
    expect(findRowState(row, paid(0), day(2))).toBe('open');
    expect(findRowState(row, paid(1), day(2))).toBe('running');
    expect(findRowState(row, paid(2), day(2))).toBe('over');
    expect(findRowState({ ...row, endedAt: day(2) }, paid(2), day(2))).toBe('ended');
  });
});

describe('a lead', () => {
  it('decides the first order of the customer, at its own moment already, and then what its terms cover.', () => {
    const world = createWorld();
    world.addRow(lead('ana', subscription(10), day(1)));
    const first = world.report({ ...order(1, { kind: 'first', subscriptionId: 's1' }), placedAt: day(1) });
    expect(pays(first)).toEqual(['ana', 10]);
    expect(claims(first)).toMatchObject({ rule: 'customer', by: 'lead' });
    expect(pays(world.report(order(2)))).toBe(null);
    expect(pays(world.report(order(3, { kind: 'renewal', subscriptionId: 's1' })))).toEqual(['ana', 10]);
  });

  it('of terms for one order pays one order.', () => {
    const world = createWorld();
    world.addRow(lead('ana', plain(10), day(1)));
    expect(pays(world.report(order(2)))).toEqual(['ana', 10]);
    expect(pays(world.report(order(3)))).toBe(null);
    expect(claims(world.report(order(4, { kind: 'renewal' })))).toMatchObject({ reason: 'first_order_only' });
  });
});

describe('a first order that is known too late', () => {
  it('has the orders of its keys decided again that paid nobody, oldest first.', () => {
    const world = createWorld();
    const named = { subscriptionId: 's1' };
    const third = world.report(order(3, { ...named, kind: 'renewal' }));
    const second = world.report(order(2, { ...named, kind: 'renewal' }));
    expect([third, second].map(pays)).toEqual([null, null]);
    world.report(order(1, { ...named, kind: 'first' }), 'code', link('ana', subscription(10, { payments: 2 })));
    expect([1, 2, 3].map((id) => world.outcomes.get(order(id).id)?.paid?.creatorId)).toEqual(['ana', 'ana', undefined]);
  });

  it('moves no decision that pays, none from before its start, and none from more than 90 days ago.', () => {
    const world = createWorld({ now: new Date(day(2).getTime() + 90 * 86_400_000 + 1) });
    world.report(order(4), 'code', link('ben', plain(20)));
    world.report(order(1));
    world.report(order(2));
    world.report(order(3));
    world.report({ ...order(5), placedAt: new Date(day(1).getTime() + 1) }, 'code', link('ana', customer(10)));
    expect([1, 2, 3, 4].map((id) => world.outcomes.get(order(id).id)?.paid?.creatorId)).toEqual([
      undefined,
      undefined,
      'ana',
      'ben',
    ]);
  });

  it('gives subscriptions whose first orders come late to the creators whom they have in order.', () => {
    const creators = ['ana', 'ben', null] as const;
    const arbitraryWorld = fc.array(
      fc.record({
        creator: fc.constantFrom(...creators),
        covers: fc.constantFrom('subscription', 'customer', 'order'),
        payments: fc.option(fc.integer({ min: 1, max: 4 }), { nil: null }),
        renewals: fc.integer({ min: 0, max: 5 }),
        isTrial: fc.boolean(),
        lateness: fc.integer({ min: 0, max: 6 }),
      }),
      { minLength: 1, maxLength: 5 },
    );
    fc.assert(
      fc.property(arbitraryWorld, (subscriptions) => {
        const reports = subscriptions.flatMap(({ creator, covers, payments, renewals, isTrial, lateness }, place) => {
          const terms = { rate: { percent: 10 }, covers, payments: covers === 'order' ? null : payments };
          const base = { email: `buyer${place}`, subscriptionId: `s${place}` };
          return Array.from({ length: renewals + 1 }, (_, number) => {
            const first = { kind: 'first' as const, amountMinor: isTrial ? 0 : 5_000 };
            const reported = order(1 + number * 3, { ...base, kind: 'renewal', ...(number === 0 ? first : {}) });
            return {
              order: { ...reported, id: `ord_${String(place * 10 + number).padStart(6, '0')}` },
              carried: number === 0 && creator ? link(creator, terms) : undefined,
              arrival: number === 0 ? lateness + 0.5 : number + place / 10,
            };
          });
        });
        const run = (all: typeof reports) => {
          const world = createWorld({ now: day(40) });
          for (const one of all) world.report(one.order, 'code', one.carried);
          const paid = [...world.outcomes.values()].map((one) => [one.order.id, pays(one)] as const);
          return paid.toSorted(([a], [b]) => (a < b ? -1 : 1));
        };
        const inOrder = run(reports.toSorted((a, b) => a.order.placedAt.getTime() - b.order.placedAt.getTime()));
        const shuffled = run(reports.toSorted((a, b) => a.arrival - b.arrival));
        expect(shuffled).toEqual(inOrder);
      }),
      { seed: testSeed, numRuns: randomRuns(100) },
    );
  });
});

describe('the sentence of a decision', () => {
  const candidate: CustomerCandidate = {
    rowId: 'cus_1',
    by: 'subscription',
    linkId: 'lnk_1',
    creatorId: 'crt_1',
    firstOrderId: 'ord_1',
    terms: Terms.parse(subscription(10, { payments: 12, months: 12 })),
    since: day(1),
    until: new Date('2027-03-01T12:00:00Z'),
    payment: 4,
    outcome: 'won',
    reason: null,
  };
  const names: CandidateNames = {
    creatorName: 'Ana Ortiz',
    linkValue: 'ANA15',
    subscriptionId: '8999',
    firstOrderId: '9000',
    orderPlacedAt: day(20),
  };
  const say = (change: Partial<CustomerCandidate>, more: Partial<CandidateNames> = {}) =>
    explainCustomer({ ...candidate, ...change }, { ...names, ...more });

  it('says what the order continues, who sold it, and which payment it is.', () => {
    expect(say({})).toBe(
      'Continues subscription 8999, which Ana Ortiz sold with ANA15 on 1 March (order 9000): payment 4 of 12.',
    );
    expect(say({ by: 'product', terms: Terms.parse(subscription(10)) })).toBe(
      'Continues an order of the same product, which Ana Ortiz sold with ANA15 on 1 March (order 9000): payment 4.',
    );
    expect(say({ by: 'email' }, { orderPlacedAt: new Date('2027-01-02T00:00:00Z') })).toBe(
      'Is by a customer whom Ana Ortiz brought with ANA15 on 1 March 2026 (order 9000): payment 4 of 12.',
    );
    expect(say({ by: 'lead', payment: 1 })).toBe(
      'Is the first order of a lead, whom Ana Ortiz brought with ANA15 on 1 March: payment 1 of 12.',
    );
  });

  it('says why it pays nobody.', () => {
    const start = 'Continues subscription 8999, which Ana Ortiz sold with ANA15 on 1 March (order 9000); ';
    expect(say({ reason: 'payments_over' })).toBe(`${start}all 12 payments were made.`);
    expect(say({ reason: 'duration_over' })).toBe(`${start}the 12 months ended on 1 March 2027.`);
    expect(say({ reason: 'ended' })).toBe(`${start}this was ended on 1 March 2027.`);
    expect(say({ reason: 'first_order_only' })).toBe(`${start}only the first order pays.`);
    expect(say({ reason: 'own_code_or_click' })).toBe(`${start}the code or click that the order carries comes first.`);
    expect(say({ reason: 'nobody_sold_it' })).toBe('Continues subscription 8999, which no creator sold.');
  });
});
