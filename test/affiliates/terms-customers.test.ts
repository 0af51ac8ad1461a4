import { describe, expect, it } from 'vitest';
import { readShopifyKind, readWooKind } from '../../src/affiliates/terms/kinds.ts';
import { claims, createWorld, customer, day, link, order, pays, plain, SHOP, subscription } from './customer-world.ts';

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
