import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { summarizeTerms } from '../../src/affiliates/terms/summary.ts';
import { hasFlatRate, isPlain, liftsLimit, makePlainTerms } from '../../src/analytics/pricing/plain.ts';
import { toProblems } from '../../src/kit/values/problems.ts';
import { Terms } from '../../src/workflow/terms/terms.shapes.ts';
import { canonicalTerms, hashTerms, highestPercent } from '../../src/workflow/terms/terms.ts';

const Body = z.object({ terms: Terms });
const read = (terms: unknown) => toProblems(Body.safeParse({ terms }, { reportInput: true }));

const PERCENT = { percent: 10 };
const rule = (when: unknown, more: object = {}) => ({ name: 'Serums', when, rate: PERCENT, ...more });
const withRule = (when: unknown, more: object = {}) => ({ rate: PERCENT, rules: [rule(when, more)] });

const EXAMPLE = {
  rate: { percent: 10 },
  rules: [
    { name: 'Serums', when: { product: ['SERUM-30'], payment: { to: 3 } }, rate: { percent: 15 } },
    { name: 'New customers', when: { customer: 'new' }, rate: { flat: { USD: 5, EUR: 4.5 }, per: 'order' } },
  ],
  covers: 'subscription',
  months: 12,
  payments: null,
  caps: { order: { USD: 50 }, customer: { USD: 200 }, month: { USD: 1000 } },
  budget: { per: 'month', amount: { USD: 5000 } },
};

const BAD: [string, unknown, string][] = [
  ['no rate', {}, 'terms.rate'],
  ['neither percent nor flat', { rate: {} }, 'terms.rate'],
  ['both percent and flat', { rate: { percent: 10, flat: { USD: 5 }, per: 'order' } }, 'terms.rate'],
  ['more than 100 percent', { rate: { percent: 100.5 } }, 'terms.rate.percent'],
  ['a negative percentage', { rate: { percent: -1 } }, 'terms.rate.percent'],
  ['five decimals', { rate: { percent: 12.34567 } }, 'terms.rate.percent'],
  ['a percentage as text', { rate: { percent: '10' } }, 'terms.rate.percent'],
  ['a flat amount without per', { rate: { flat: { USD: 5 } } }, 'terms.rate.per'],
  ['per beside a percentage', { rate: { percent: 10, per: 'order' } }, 'terms.rate.per'],
  ['an unknown per', { rate: { flat: { USD: 5 }, per: 'line' } }, 'terms.rate.per'],
  ['an unknown currency', { rate: { flat: { USX: 5 }, per: 'order' } }, 'terms.rate.flat.USX'],
  ['an amount of 0', { rate: { flat: { USD: 0 }, per: 'order' } }, 'terms.rate.flat.USD'],
  ['half a yen', { rate: PERCENT, caps: { order: { JPY: 1.5 } } }, 'terms.caps.order.JPY'],
  ['an amount without currencies', { rate: PERCENT, caps: { month: {} } }, 'terms.caps.month'],
  ['an unknown cap', { rate: PERCENT, caps: { day: { USD: 5 } } }, 'terms.caps.day'],
  ['a budget without per', { rate: PERCENT, budget: { amount: { USD: 5 } } }, 'terms.budget.per'],
  ['months beside order', { rate: PERCENT, months: 12 }, 'terms.months'],
  ['payments beside order', { rate: PERCENT, covers: 'order', payments: 3 }, 'terms.payments'],
  ['121 months', { rate: PERCENT, covers: 'customer', months: 121 }, 'terms.months'],
  ['an unknown cover', { rate: PERCENT, covers: 'life' }, 'terms.covers'],
  ['an unknown field', { rate: PERCENT, bonus: 5 }, 'terms.bonus'],
  [
    '51 rules',
    { rate: PERCENT, rules: Array.from({ length: 51 }, (_, i) => rule({}, { name: `${i}` })) },
    'terms.rules',
  ],
  ['a rule without a name', { rate: PERCENT, rules: [{ when: {}, rate: PERCENT }] }, 'terms.rules[0].name'],
  ['a rule without a rate', withRule({}, { rate: undefined }), 'terms.rules[0].rate'],
  ['an unknown condition', withRule({ colour: ['red'] }), 'terms.rules[0].when.colour'],
  ['an empty list', withRule({ product: [] }), 'terms.rules[0].when.product'],
  ['101 values', withRule({ product: Array.from({ length: 101 }, String) }), 'terms.rules[0].when.product'],
  ['an empty value', withRule({ category: ['Skin', ' '] }), 'terms.rules[0].when.category[1]'],
  ['an unknown kind', withRule({ kind: ['first', 'second'] }), 'terms.rules[0].when.kind[1]'],
  ['an empty range', withRule({ payment: {} }), 'terms.rules[0].when.payment'],
  ['a range that ends before it starts', withRule({ payment: { from: 3, to: 2 } }), 'terms.rules[0].when.payment.to'],
  [
    'a time that ends as it starts',
    withRule({ placed: { from: '2026-12-01', to: '2026-12-01' } }),
    'terms.rules[0].when.placed.to',
  ],
  ['a time without its offset', withRule({ placed: { from: '2026-12-01T10:00' } }), 'terms.rules[0].when.placed.from'],
  ['a volume of nothing', withRule({ volume: { per: 'ever' } }), 'terms.rules[0].when.volume'],
  ['a quantity of 0', withRule({ quantity_from: 0 }), 'terms.rules[0].when.quantity_from'],
];

describe('the shape of terms', () => {
  it.each(BAD)('refuses %s at its own path.', (_title, terms, field) => {
    expect(read(terms).map((problem) => problem.field)).toEqual([field]);
  });

  it('names the place in each list that leads to a value.', () => {
    const rules = ['A', 'B', 'C'].map((name) => rule({ country: ['DE'] }, { name }));
    const problems = read({ rate: PERCENT, rules: [...rules, rule({ country: ['UK', 'de'] })] });
    expect(problems).toEqual([
      {
        field: 'terms.rules[3].when.country[0]',
        code: 'invalid',
        message: 'must be a country of ISO 3166 such as DE; got "UK".',
      },
    ]);
  });

  it('refuses the name of an earlier rule, whatever its case.', () => {
    const rules = [rule({}, { name: 'Serums' }), rule({}, { name: 'Balms' }), rule({}, { name: 'SERUMS' })];
    expect(read({ rate: PERCENT, rules }).map(({ field }) => field)).toEqual(['terms.rules[2].name']);
  });

  it('fills in what was not given.', () => {
    const terms = Terms.parse({ rate: PERCENT });
    expect(terms).toEqual(makePlainTerms(10, 'order'));
    expect(Terms.parse(EXAMPLE)).toEqual(EXAMPLE);
  });

  it('leaves the paths of other bodies as they were.', () => {
    const Other = z.object({ links: z.array(z.string()), terms: z.object({ channels: z.array(z.string()) }) });
    const parsed = Other.safeParse({ links: ['a', 1], terms: { channels: [1] } }, { reportInput: true });
    expect(toProblems(parsed).map(({ field }) => field)).toEqual(['links.1', 'terms.channels.0']);
  });
});

describe('what terms are', () => {
  it('calls terms plain that are a percentage and what it covers.', () => {
    expect(isPlain(Terms.parse({ rate: PERCENT, covers: 'customer', caps: {} }))).toBe(true);
    const others = [
      EXAMPLE,
      { rate: { flat: { USD: 5 }, per: 'order' } },
      { rate: PERCENT, covers: 'subscription', months: 3 },
      { rate: PERCENT, covers: 'customer', payments: 3 },
      { rate: PERCENT, caps: { month: { USD: 5 } } },
      { rate: PERCENT, budget: { per: 'ever', amount: { USD: 5 } } },
      { rate: PERCENT, rules: [rule({})] },
    ];
    for (const terms of others) expect(isPlain(Terms.parse(terms))).toBe(false);
  });

  it('has one text and one hash for one deal.', () => {
    const { rate, ...rest } = EXAMPLE;
    const [a, b] = [Terms.parse(EXAMPLE), Terms.parse({ ...rest, rate })];
    expect(canonicalTerms(a)).toBe(canonicalTerms(b));
    expect(hashTerms(a)).toBe(hashTerms(b));
    expect(hashTerms(a)).toMatch(/^[0-9a-f]{64}$/);
    expect(hashTerms(Terms.parse({ ...EXAMPLE, months: 11 }))).not.toBe(hashTerms(a));
    expect(Terms.parse(JSON.parse(canonicalTerms(a)))).toEqual(a);
  });

  it('knows the highest percentage, flat rates and lifted limits.', () => {
    const terms = Terms.parse(EXAMPLE);
    expect(highestPercent(terms)).toBe(15);
    expect(hasFlatRate(terms)).toBe(true);
    expect(highestPercent(Terms.parse({ rate: { flat: { USD: 5 }, per: 'item' } }))).toBe(null);
    const change = (more: object) => Terms.parse({ ...EXAMPLE, ...more });
    expect(
      liftsLimit(terms, change({ caps: { order: { USD: 40 }, customer: { USD: 200 }, month: { USD: 999 } } })),
    ).toBe(false);
    expect(liftsLimit(terms, change({ caps: { ...EXAMPLE.caps, month: { EUR: 1 } } }))).toBe(true);
    expect(liftsLimit(terms, change({ caps: null }))).toBe(true);
    expect(liftsLimit(terms, change({ budget: { per: 'month', amount: { USD: 5001 } } }))).toBe(true);
    expect(liftsLimit(change({ caps: null, budget: null }), terms)).toBe(false);
  });
});

describe('the deal in a sentence', () => {
  const summary = (terms: unknown) => summarizeTerms(Terms.parse(terms));

  it('says what is paid, for what and for how long.', () => {
    expect(summary({ rate: PERCENT })).toBe('10% of each order.');
    expect(summary(EXAMPLE)).toBe(
      '10% of each order; 15% for SERUM-30 on the first 3 payments (Serums); ' +
        '$5 or €4.50 an order for new customers (New customers); also on renewals of the subscription for 12 months; ' +
        'at most $50 an order, $200 a customer and $1,000 a month; within a budget of $5,000 a month for all.',
    );
    expect(summary({ rate: { flat: { USD: 1.25 }, per: 'item' }, covers: 'customer', payments: 1 })).toBe(
      '$1.25 an item; also on all later orders of the customer up to 1 payment in all.',
    );
  });

  it('says every condition, and how many values and rules it leaves out.', () => {
    const when = {
      category: ['Skin', 'Hair', 'Body', 'Men', 'Sun'],
      on_sale: true,
      quantity_from: 2,
      kind: ['renewal', 'upgrade'],
      country: ['DE', 'AT'],
      by: 'code',
      payment: { from: 2, to: 4 },
      amount_from: { USD: 100 },
      placed: { from: '2026-11-27', to: '2026-12-01' },
      volume: { per: 'month', orders_from: 20 },
    };
    const rules = [rule(when, { name: 'All', rate: { percent: 0 } })];
    expect(summary({ rate: PERCENT, rules })).toBe(
      '10% of each order; nothing in Skin, Hair, Body or 2 more for items on sale from 2 items on ' +
        'for renewals and changes of plan in DE or AT by a code on payments 2 to 4 from $100 on from 2026-11-27 ' +
        'before 2026-12-01 after 20 orders in a month (All).',
    );
    const seven = Array.from({ length: 7 }, (_, i) => rule({ customer: 'new' }, { name: `R${i}` }));
    expect(summary({ rate: PERCENT, rules: seven })).toMatch(/\(R4\); 2 more rules\.$/);
  });
});
