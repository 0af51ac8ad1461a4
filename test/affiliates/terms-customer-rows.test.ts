import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { findRowState } from '../../src/affiliates/terms/customer-rows.ts';
import { type CandidateNames, explainCustomer } from '../../src/affiliates/terms/customer-sentences.ts';
import type { CustomerCandidate } from '../../src/affiliates/terms/customers.ts';
import { addMonths } from '../../src/affiliates/terms/months.ts';
import { Terms } from '../../src/workflow/terms/terms.shapes.ts';
import { randomRuns, testSeed } from '../harness/kit/random-runs.ts';
import {
  claims,
  createWorld,
  customer,
  day,
  lead,
  link,
  type Outcome,
  order,
  pays,
  plain,
  type Reported,
  SHOP,
  subscription,
} from './customer-world.ts';

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
    timeZone: 'UTC',
  };
  const say = (change: Partial<CustomerCandidate>, more: Partial<CandidateNames> = {}) =>
    explainCustomer({ ...candidate, ...change }, { ...names, ...more });

  it('says what the order continues, who sold it, and which payment it is.', () => {
    expect(say({})).toBe(
      'Continues subscription 8999, which Ana Ortiz sold with ANA15 on March 1 (order 9000): payment 4 of 12.',
    );
    expect(say({ by: 'product', terms: Terms.parse(subscription(10)) })).toBe(
      'Continues an order of the same product, which Ana Ortiz sold with ANA15 on March 1 (order 9000): payment 4.',
    );
    expect(say({ by: 'email' }, { orderPlacedAt: new Date('2027-01-02T00:00:00Z') })).toBe(
      'Is by a customer whom Ana Ortiz brought with ANA15 on March 1, 2026 (order 9000): payment 4 of 12.',
    );
    expect(say({ by: 'lead', payment: 1 })).toBe(
      'Is the first order of a lead, whom Ana Ortiz brought with ANA15 on March 1: payment 1 of 12.',
    );
  });

  it('says why it pays nobody.', () => {
    const start = 'Continues subscription 8999, which Ana Ortiz sold with ANA15 on March 1 (order 9000); ';
    expect(say({ reason: 'payments_over' })).toBe(`${start}all 12 payments came before it.`);
    expect(say({ reason: 'duration_over' })).toBe(`${start}the 12 months ended on March 1, 2027.`);
    expect(say({ reason: 'ended' })).toBe(`${start}this was ended on March 1, 2027.`);
    expect(say({ reason: 'first_order_only' })).toBe(`${start}only the first order pays.`);
    expect(say({ reason: 'own_code_or_click' })).toBe(`${start}the code or click that the order carries comes first.`);
    expect(say({ reason: 'nobody_sold_it' })).toBe('Continues subscription 8999, which no creator sold.');
  });
});
