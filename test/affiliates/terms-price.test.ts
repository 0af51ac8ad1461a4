import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  type CommissionState,
  countRefunds,
  type OrderSnapshot,
  recompute,
} from '../../src/affiliates/orders/recompute.ts';
import { hasSharedLimit, measureRoom } from '../../src/affiliates/terms/room.ts';
import { listTakeBacks } from '../../src/affiliates/terms/take-backs.ts';
import { makePlainTerms } from '../../src/analytics/pricing/plain.ts';
import { type PricingInput, price, type Refund } from '../../src/analytics/pricing/price.ts';
import { allocateShares } from '../../src/analytics/pricing/shares.ts';
import { fromPpm } from '../../src/kit/values/money.ts';
import { Terms } from '../../src/workflow/terms/terms.shapes.ts';
import { randomRuns, testSeed } from '../harness/kit/random-runs.ts';
import { commissionOn, line, PLACED, priceSale, toPricingInput } from './priced.ts';

const RUNS = { seed: testSeed, numRuns: randomRuns(200) };

const SKUS = ['A', 'B', 'C', 'D'] as const;
const money = fc.oneof(fc.integer({ min: 0, max: 12 }), fc.integer({ min: 0, max: 1_000_000_000_000 }));
const smallMoney = fc.integer({ min: 0, max: 20_000 });
const hours = (count: number) => new Date(PLACED.getTime() + count * 3_600_000);

const arbitraryLine = fc
  .record({ sku: fc.constantFrom(...SKUS), amountMinor: smallMoney, quantity: fc.integer({ min: 0, max: 5 }) })
  .map(({ sku, amountMinor, quantity }) => line(sku, 0, { amountMinor, quantity }));

const arbitraryRefund = (id: number) =>
  fc
    .record({
      amountMinor: smallMoney,
      at: fc.integer({ min: 0, max: 5 }).map(hours),
      items: fc.array(fc.record({ lineId: fc.constantFrom(...SKUS, 'X'), amountMinor: smallMoney }), { maxLength: 3 }),
    })
    .map((refund): Refund => ({ ...refund, refundId: `r${id}` }));

const arbitraryRefunds = fc.tuple(...[0, 1, 2, 3].map(arbitraryRefund)).chain((all) => fc.subarray(all));

const percent = fc.integer({ min: 0, max: 1_000_000 }).map(fromPpm);
const amounts = fc.integer({ min: 1, max: 3_000 }).map((cents) => ({ USD: cents / 100 }));
const arbitraryRate = fc.oneof(
  percent.map((value) => ({ percent: value })),
  fc.record({ flat: amounts, per: fc.constantFrom('order', 'item') }),
);
const arbitraryTerms = fc
  .record({
    rate: arbitraryRate,
    rules: fc.array(fc.record({ product: fc.subarray([...SKUS], { minLength: 1 }), rate: arbitraryRate }), {
      maxLength: 3,
    }),
    cap: fc.option(amounts, { nil: null }),
  })
  .map(({ rate, rules, cap }) =>
    Terms.parse({
      rate,
      rules: rules.map(({ product, rate: own }, place) => ({ name: `${place}`, when: { product }, rate: own })),
      caps: cap && { order: cap },
    }),
  );

const arbitraryInput = fc
  .record({
    amountMinor: smallMoney,
    lines: fc.array(arbitraryLine, { maxLength: 5 }),
    refunds: arbitraryRefunds,
    isEnded: fc.boolean(),
    terms: arbitraryTerms,
    roomMinor: fc.option(smallMoney, { nil: null }),
  })
  .map(
    ({ amountMinor, roomMinor, ...rest }): PricingInput => ({
      ...rest,
      order: { currency: 'USD', amountMinor, placedAt: PLACED },
      facts: null,
      room: roomMinor === null ? null : { minor: roomMinor, by: 'month', limitMinor: roomMinor },
    }),
  );

const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0);

describe('the price of any order', () => {
  it('adds up: lines and parts to the order, to its refunds and to the commission.', () => {
    fc.assert(
      fc.property(arbitraryInput, (input) => {
        const { order, refunds, isEnded, room, terms } = input;
        const { lines, parts, commissionMinor, uncappedMinor, capped } = price(input);
        const refunded = isEnded
          ? order.amountMinor
          : Math.min(order.amountMinor, sum(refunds.map(({ amountMinor }) => amountMinor)));
        for (const priced of [lines, parts]) {
          expect(sum(priced.map((one) => one.amountMinor))).toBe(order.amountMinor);
          expect(sum(priced.map((one) => one.refundedMinor))).toBe(refunded);
          expect(sum(priced.map((one) => one.commissionMinor))).toBe(commissionMinor);
          for (const one of priced) {
            expect(one.refundedMinor).toBeGreaterThanOrEqual(0);
            expect(one.refundedMinor).toBeLessThanOrEqual(one.amountMinor);
            expect(one.commissionMinor).toBeGreaterThanOrEqual(0);
          }
        }
        for (const part of parts) {
          const own = lines.filter(({ rule, amountMinor }) => rule === part.rule && amountMinor > 0);
          expect(sum(own.map((one) => one.commissionMinor))).toBe(part.commissionMinor);
        }
        const cap = Math.round((terms.caps?.order?.USD ?? Number.POSITIVE_INFINITY) * 100);
        expect(commissionMinor).toBe(Math.min(uncappedMinor, cap, room?.minor ?? Number.POSITIVE_INFINITY));
        expect(commissionMinor + (capped?.cutMinor ?? 0)).toBe(uncappedMinor);
      }),
      RUNS,
    );
  });

  it('rounds each part once: it is within half a unit of the exact sum, at its own rate.', () => {
    fc.assert(
      fc.property(arbitraryInput, (input) => {
        const { lines, parts } = price({ ...input, room: null, terms: { ...input.terms, caps: null } });
        for (const part of parts) {
          const { rate } = part.rule === null ? input.terms : (input.terms.rules[part.rule] ?? input.terms);
          const left = part.amountMinor - part.refundedMinor;
          const quantities = lines.flatMap(({ rule, amountMinor }, place) =>
            rule === part.rule && amountMinor > 0 ? [input.lines[place]?.quantity ?? (place === 0 ? 1 : 0)] : [],
          );
          const flat = (rate.flat?.USD ?? 0) * 100 * (rate.per === 'item' ? sum(quantities) : 1);
          const exact = rate.percent === undefined ? (flat * left) / part.amountMinor : (left * rate.percent) / 100;
          expect(Math.abs(part.commissionMinor - exact)).toBeLessThanOrEqual(0.5 + 1e-6);
        }
      }),
      RUNS,
    );
  });

  it('is the same in whichever order refunds are reported.', () => {
    fc.assert(
      fc.property(arbitraryInput, fc.integer(), (input, seed) => {
        const refunds = input.refunds.toSorted((a, b) => (seed % 7) * (a.amountMinor - b.amountMinor));
        expect(price({ ...input, refunds })).toEqual(price(input));
        expect(price({ ...input, refunds: input.refunds.toReversed() })).toEqual(price(input));
      }),
      RUNS,
    );
  });

  it('only falls with another refund, and is nothing at the end of the sale.', () => {
    fc.assert(
      fc.property(arbitraryInput, arbitraryRefund(9), (input, refund) => {
        const later = { ...refund, at: hours(9) };
        const before = price(input);
        const after = price({ ...input, refunds: [...input.refunds, later] });
        expect(after.commissionMinor).toBeLessThanOrEqual(before.commissionMinor);
        expect(after.effectiveRatePpm).toBe(before.effectiveRatePpm);
        expect(price({ ...input, isEnded: true }).commissionMinor).toBe(0);
      }),
      RUNS,
    );
  });

  it('takes back in all what the sum falls by, refund after refund.', () => {
    fc.assert(
      fc.property(arbitraryInput, (input) => {
        const { refunds, isEnded: _ended, ...rest } = input;
        const paidMinor = price({ ...rest, refunds: [], isEnded: false }).commissionMinor;
        const snapshot = makeSnapshot(rest.order.amountMinor);
        const counted = countRefunds(
          snapshot,
          refunds.map((refund) => ({ ...refund, items: refund.items ?? [], proratedMinor: 0 })),
        );
        const takeBacks = listTakeBacks(rest, counted, paidMinor);
        const left = price({ ...rest, refunds, isEnded: false }).commissionMinor;
        expect(paidMinor - sum(takeBacks.map(({ amountMinor }) => amountMinor))).toBe(left);
      }),
      RUNS,
    );
  });
});

const makeSnapshot = (baseMinor: number, more: Partial<OrderSnapshot> = {}): OrderSnapshot => ({
  baseMinor,
  occurredAt: PLACED,
  paidAt: PLACED,
  cancelledAt: null,
  firstCancelledAt: null,
  updatedAt: PLACED,
  isTest: false,
  disputeLostAt: null,
  ...more,
});

const STANDING: CommissionState = {
  ratePpm: 0,
  holdDays: 14,
  status: 'pending',
  statusNote: null,
  rejectedFrom: null,
  noteBeforeRejection: null,
  clawedBackAt: null,
  commissionMinor: 0,
};

const plainSale = fc.record({
  baseMinor: money,
  ratePpm: fc.integer({ min: 0, max: 1_000_000 }),
  lines: fc.array(arbitraryLine, { maxLength: 4 }),
  refunds: fc
    .array(fc.record({ amountMinor: money, proratedMinor: money, hour: fc.integer({ min: 0, max: 4 }) }), {
      maxLength: 4,
    })
    .map((all) =>
      all.map(({ amountMinor, proratedMinor, hour }, place) => ({
        refundId: `r${place}`,
        amountMinor,
        proratedMinor,
        at: hours(hour),
      })),
    ),
  cancelledAt: fc.option(fc.constant(hours(8)), { nil: null }),
  paidMinor: money,
});

describe('plain terms', () => {
  it('pay what a flat percentage always paid.', () => {
    fc.assert(
      fc.property(plainSale, ({ baseMinor, ratePpm, lines, refunds, cancelledAt }) => {
        const { columns } = recompute(
          makeSnapshot(baseMinor, { cancelledAt, firstCancelledAt: cancelledAt }),
          refunds,
          { ...STANDING, ratePpm },
          [],
        );
        const priced = price({
          order: { currency: 'USD', amountMinor: baseMinor, placedAt: PLACED },
          lines,
          refunds,
          isEnded: cancelledAt !== null,
          terms: makePlainTerms(fromPpm(ratePpm), 'order'),
          facts: null,
          room: null,
        });
        expect(priced.commissionMinor).toBe(columns.commissionMinor);
        expect(sum(priced.lines.map(({ refundedMinor }) => refundedMinor))).toBe(columns.refundedMinor);
        expect(priced.effectiveRatePpm).toBe(ratePpm);
      }),
      RUNS,
    );
  });

  it('take back from a paid commission what a flat percentage always took.', () => {
    fc.assert(
      fc.property(plainSale, ({ baseMinor, ratePpm, lines, refunds, cancelledAt, paidMinor }) => {
        const snapshot = makeSnapshot(baseMinor, { cancelledAt, firstCancelledAt: cancelledAt });
        const standing = { ...STANDING, ratePpm, status: 'paid' as const, commissionMinor: paidMinor };
        const { adjustments } = recompute(snapshot, refunds, standing, []);
        const input = {
          order: { currency: 'USD', amountMinor: baseMinor, placedAt: PLACED },
          lines,
          terms: makePlainTerms(fromPpm(ratePpm), 'order'),
          facts: null,
          room: null,
        };
        expect(listTakeBacks(input, countRefunds(snapshot, refunds), paidMinor)).toEqual(adjustments);
      }),
      RUNS,
    );
  });
});

describe('shares', () => {
  it('add up, follow the weights, and give what is over to the largest remainders, the earlier first.', () => {
    expect(allocateShares(10, [1, 1, 1])).toEqual([4, 3, 3]);
    expect(allocateShares(2, [1, 1, 1])).toEqual([1, 1, 0]);
    expect(allocateShares(300, [3333, 495])).toEqual([261, 39]);
    expect(allocateShares(0, [5, 0])).toEqual([0, 0]);
    fc.assert(
      fc.property(fc.array(money, { minLength: 1, maxLength: 6 }), money, (weights, total) => {
        const all = sum(weights);
        const shares = allocateShares(all === 0 ? 0 : total, weights);
        expect(sum(shares)).toBe(all === 0 ? 0 : total);
        for (const [place, share] of shares.entries()) {
          const weight = weights[place] ?? 0;
          if (weight === 0) expect(share).toBe(0);
          const distance = BigInt(share) * BigInt(all) - BigInt(total) * BigInt(weight);
          if (all > 0) expect(distance < BigInt(all) && distance > -BigInt(all)).toBe(true);
          if (total <= all) expect(share).toBeLessThanOrEqual(weight);
        }
      }),
      RUNS,
    );
  });
});

const withRule = (when: unknown) => ({ rate: { percent: 10 }, rules: [{ name: 'It', when, rate: { percent: 50 } }] });

/** An order of 100.00 that pays 50.00 where the rule holds, and 10.00 where it does not. */
const holds = (when: unknown, sale: Partial<Parameters<typeof commissionOn>[1]> = {}) => {
  const paid = commissionOn(withRule(when), { amount: 100, lines: [line('SERUM-30', 100)], ...sale });
  expect([10, 50]).toContain(paid);
  return paid === 50;
};

const volume = (orders: number, revenueMinor: number) => ({ orders, revenueMinor });

describe('conditions', () => {
  it('on a line read its product, category, sale and quantity.', () => {
    const lines = [
      line('SERUM-30', 100, {
        productId: '77',
        variantId: '7701',
        categories: ['Skin Care'],
        onSale: false,
        quantity: 3,
      }),
    ];
    for (const product of ['serum-30', '77', '7701']) expect(holds({ product: ['X', product] }, { lines })).toBe(true);
    expect(holds({ product: ['SERUM'] }, { lines })).toBe(false);
    expect(holds({ category: ['skin care'] }, { lines })).toBe(true);
    expect(holds({ category: ['hair'] }, { lines })).toBe(false);
    expect(holds({ on_sale: false }, { lines })).toBe(true);
    expect(holds({ on_sale: true }, { lines })).toBe(false);
    expect(holds({ quantity_from: 3 }, { lines })).toBe(true);
    expect(holds({ quantity_from: 4 }, { lines })).toBe(false);
    expect(holds({ product: ['77'], category: ['hair'] }, { lines })).toBe(false);
  });

  it('never hold for what nobody reported.', () => {
    expect(holds({ category: ['skin care'] })).toBe(false);
    expect(holds({ on_sale: false })).toBe(false);
    expect(holds({ customer: 'new' }, { facts: { customer: null } })).toBe(false);
    expect(holds({ country: ['DE'] }, { facts: { country: null } })).toBe(false);
    expect(holds({ payment: { from: 1 } }, { facts: { payment: null } })).toBe(false);
    expect(holds({ volume: { per: 'ever', orders_from: 1 } }, { facts: { volume: null } })).toBe(false);
    expect(holds({ product: ['SERUM-30'] }, { lines: [] })).toBe(false);
    expect(holds({ quantity_from: 1 }, { lines: [] })).toBe(false);
  });

  it('on an order read who bought, from where, of what kind and how it was won.', () => {
    expect(holds({ customer: 'new' }, { facts: { customer: 'new' } })).toBe(true);
    expect(holds({ customer: 'new' }, { facts: { customer: 'returning' } })).toBe(false);
    expect(holds({ country: ['at', 'DE'] }, { facts: { country: 'de' } })).toBe(true);
    expect(holds({ country: ['AT'] }, { facts: { country: 'DE' } })).toBe(false);
    expect(holds({ kind: ['renewal', 'upgrade'] }, { facts: { kind: 'upgrade' } })).toBe(true);
    expect(holds({ kind: ['renewal'] }, { facts: { kind: 'first' } })).toBe(false);
    expect(holds({ by: 'click' }, { facts: { by: 'click' } })).toBe(true);
    expect(holds({ by: 'click' }, { facts: { by: 'customer' } })).toBe(false);
    expect(holds({})).toBe(true);
    expect(holds({}, { lines: [] })).toBe(true);
  });

  it('read ranges with both ends, but for the end of a time.', () => {
    const payment = (number: number) => ({ facts: { payment: number } });
    expect([1, 2, 3, 4].map((number) => holds({ payment: { from: 2, to: 3 } }, payment(number)))).toEqual([
      false,
      true,
      true,
      false,
    ]);
    const placed = { from: '2026-11-27', to: '2026-12-01' };
    const times = ['2026-11-26T23:59:59Z', '2026-11-27T00:00:00Z', '2026-11-30T23:59:59Z', '2026-12-01T00:00:00Z'];
    expect(times.map((at) => holds({ placed }, { placedAt: new Date(at) }))).toEqual([false, true, true, false]);
  });

  it('read amounts in the currency of the order, and before refunds.', () => {
    expect(holds({ amount_from: { USD: 100 } })).toBe(true);
    expect(holds({ amount_from: { USD: 100.01 } })).toBe(false);
    expect(holds({ amount_from: { EUR: 1 } })).toBe(false);
    const refunds = [{ amount: 60 }];
    expect(commissionOn(withRule({ amount_from: { USD: 100 } }), { amount: 100, refunds })).toBe(20);
    const facts = { volume: { month: volume(19, 99_999), ever: volume(20, 100_000) } };
    expect(holds({ volume: { per: 'month', orders_from: 20 } }, { facts })).toBe(false);
    expect(holds({ volume: { per: 'ever', orders_from: 20 } }, { facts })).toBe(true);
    expect(holds({ volume: { per: 'month', revenue_from: { USD: 1000 } } }, { facts })).toBe(false);
    expect(holds({ volume: { per: 'ever', revenue_from: { USD: 1000 } } }, { facts })).toBe(true);
    expect(holds({ volume: { per: 'ever', revenue_from: { EUR: 1 } } }, { facts })).toBe(false);
  });

  it('are tried in order: the first rule that holds decides a line.', () => {
    const rules = [
      { name: 'Big', when: { quantity_from: 2 }, rate: { percent: 1 } },
      { name: 'Serums', when: { product: ['SERUM'] }, rate: { percent: 20 } },
    ];
    const lines = [line('BALM', 10), line('SERUM', 20), line('SERUM', 40, { quantity: 2 })];
    const { parts } = priceSale({ rate: { percent: 10 }, rules }, { amount: 70, lines });
    expect(parts.map(({ rule, name, commissionMinor }) => [rule, name, commissionMinor])).toEqual([
      [null, null, 100],
      [1, 'Serums', 400],
      [0, 'Big', 40],
    ]);
  });
});

describe('details of the sum', () => {
  it('pays a flat amount above the order, and none for an order or lines of 0.00.', () => {
    const flat = { rate: { flat: { USD: 5 }, per: 'order' } };
    expect(commissionOn(flat, { amount: 1 })).toBe(5);
    expect(commissionOn(flat, { amount: 0, lines: [line('A', 0)] })).toBe(0);
    expect(priceSale(flat, { amount: 1 }).effectiveRatePpm).toBe(5_000_000);
  });

  it('rounds half of a cent to the even one, as a commission without terms is rounded.', () => {
    const pays = (amount: number) => commissionOn({ rate: { percent: 12.5 } }, { amount });
    // 2.5, 7.5 and 12.5 cents.
    expect([pays(0.2), pays(0.6), pays(1)]).toEqual([0.02, 0.08, 0.12]);
  });

  it('counts no items for the rest of an order that has lines.', () => {
    const terms = { rate: { flat: { USD: 1 }, per: 'item' } };
    expect(commissionOn(terms, { amount: 100, lines: [line('A', 60, { quantity: 2 })] })).toBe(2);
  });

  it('takes a refund off named lines up to what they have left, and its rest off all.', () => {
    const terms = withRule({ product: ['A'] });
    const lines = [line('A', 10), line('B', 30)];
    const refunds = [{ amount: 20, items: { A: 15 } }];
    const priced = priceSale(terms, { amount: 40, lines, refunds });
    expect(priced.lines.map(({ refundedMinor }) => refundedMinor)).toEqual([1000, 1000]);
    const unknown = priceSale(terms, { amount: 40, lines, refunds: [{ amount: 20, items: { Z: 20 } }] });
    expect(unknown.lines.map(({ refundedMinor }) => refundedMinor)).toEqual([500, 1500]);
    const inOrder = priceSale(terms, { amount: 40, lines, refunds: [{ amount: 12, items: { B: 11, A: 9 } }] });
    expect(inOrder.lines.map(({ refundedMinor }) => refundedMinor)).toEqual([100, 1100]);
  });

  it('takes refunds off by their time, and those of one time by their id.', () => {
    const input = toPricingInput({ rate: { percent: 10 } }, { amount: 40, lines: [line('A', 10), line('B', 30)] });
    const refund = (refundId: string, hour: number, items: Refund['items'] = []) => ({
      refundId,
      amountMinor: 1_000,
      at: hours(hour),
      items,
    });
    const refunded = (refunds: Refund[]) =>
      price({ ...input, refunds }).lines.map(({ refundedMinor }) => refundedMinor);
    const ofB = [{ lineId: 'B', amountMinor: 1_000 }];
    expect(refunded([refund('x', 2, ofB), refund('y', 1)])).toEqual([250, 1_750]);
    expect(refunded([refund('x', 1, ofB), refund('y', 2)])).toEqual([333, 1_667]);
    expect(refunded([refund('y', 1), refund('x', 1, ofB)])).toEqual([333, 1_667]);
  });

  it('names the limit that cuts: the order’s own, or the tighter room.', () => {
    const terms = { rate: { percent: 10 }, caps: { order: { USD: 5 } } };
    const room = (minor: number) => ({ minor, by: 'budget' as const, limitMinor: 100_000 });
    expect(priceSale(terms, { amount: 100, room: room(300) }).capped).toEqual({
      by: 'budget',
      limitMinor: 100_000,
      cutMinor: 700,
    });
    expect(priceSale(terms, { amount: 100, room: room(500) }).capped).toEqual({
      by: 'order',
      limitMinor: 500,
      cutMinor: 500,
    });
    expect(priceSale(terms, { amount: 50 }).capped).toBe(null);
    expect(priceSale(terms, { amount: 100, currency: 'EUR' }).capped).toBe(null);
  });

  it('measures the room of the tightest limit, at most what the order pays.', () => {
    const terms = Terms.parse({
      rate: { percent: 10 },
      caps: { customer: { USD: 20 }, month: { USD: 50 } },
      budget: { per: 'month', amount: { EUR: 10 } },
    });
    const used = { customerMinor: 500, monthMinor: 4_000, budgetMinor: 900 };
    expect(measureRoom(terms, 'USD', used, 9_999)).toEqual({ minor: 1_000, by: 'month', limitMinor: 5_000 });
    expect(measureRoom(terms, 'USD', used, 700)).toEqual({ minor: 700, by: 'customer', limitMinor: 2_000 });
    expect(measureRoom(terms, 'USD', { ...used, customerMinor: 2_500 }, 700)?.minor).toBe(0);
    expect(measureRoom(terms, 'EUR', used, 700)).toEqual({ minor: 100, by: 'budget', limitMinor: 1_000 });
    expect(measureRoom(terms, 'GBP', used, 700)).toBe(null);
    expect([hasSharedLimit(terms, 'EUR'), hasSharedLimit(terms, 'GBP')]).toEqual([true, false]);
  });

  it('says the percentage that decided all of an order, or what the parts come to.', () => {
    const terms = { ...withRule({ product: ['A'] }), caps: { order: { USD: 1 } } };
    const rate = (amount: number, lines: Parameters<typeof line>[]) =>
      priceSale(terms, { amount, lines: lines.map((one) => line(...one)), refunds: [{ amount: 1 }] }).effectiveRatePpm;
    expect(rate(0.45, [['B', 0.45]])).toBe(100_000);
    expect(
      rate(20, [
        ['A', 10],
        ['B', 10],
      ]),
    ).toBe(300_000);
    expect(rate(0, [])).toBe(100_000);
  });
});
