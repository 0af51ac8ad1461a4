import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { startApp, type TestApp, unique } from '../harness/app.ts';
import { openShop, type TermsShop } from './terms-shop.ts';

let app: TestApp;
let shop: TermsShop;
beforeAll(async () => {
  app = await startApp();
  shop = await openShop(app);
});
afterAll(() => app?.close());

const PERCENT = { rate: { percent: 10 } };
const SERUMS = {
  ...PERCENT,
  rules: [{ name: 'Serums', when: { product: ['SERUM'] }, rate: { percent: 15 } }],
};
const SERUM_AND_BALM = [
  { sku: 'SERUM', amount: 33.33 },
  { sku: 'BALM', amount: 9.95 },
];

/** Sells with a code that has the terms, and returns what each order pays. */
async function sell(terms: object, ...orders: object[]) {
  const { value } = await shop.makeCode(terms);
  const placed = [];
  for (const order of orders) placed.push(await shop.place({ codes: [value], ...order }));
  return placed;
}

const earn = async (terms: object, order: object) => (await sell(terms, order))[0]?.commission;

/** Sells one order, refunds it, and returns what it pays then. */
async function earnAfterRefund(terms: object, order: object, amount: number, lines: Record<string, number> = {}) {
  const [placed] = await sell(terms, order);
  return placed && (await shop.refund(placed, amount, lines));
}

/** The examples that the manual explains to brands, reported to the API. */
describe('the ten worked orders, reported to the API,', () => {
  afterEach(async () => {
    expect(await shop.listProblems()).toEqual([]);
  });

  it('1: pay a percentage that is rounded once an order, halves to the even cent.', async () => {
    const items = ['A', 'B', 'C'].map((sku) => ({ sku, amount: 0.15 }));
    expect(await earn(PERCENT, { amount: 0.45, items })).toBe(0.04);
  });

  it('2: pay serums at their own rate, and lose of each line what is refunded of it.', async () => {
    const order = { amount: 43.28, items: SERUM_AND_BALM };
    const [sold] = await sell(SERUMS, order);
    if (!sold) throw new Error('Nothing was sold.');
    expect(sold.commission).toBe(6);
    const { commission } = await shop.explain(sold);
    expect(commission.parts).toMatchObject([
      { rule: 0, name: 'Serums', amount_minor: 3_333, commission_minor: 500 },
      { rule: null, name: null, amount_minor: 995, commission_minor: 100 },
    ]);
    expect(await shop.refund(sold, 5, { BALM: 5 })).toBe(5.5);
    expect(await earnAfterRefund(SERUMS, order, 8, { BALM: 5 })).toBe(5.07);
    expect(await earnAfterRefund(SERUMS, order, 9.95, { BALM: 9.95 })).toBe(5);
  });

  it('3: pay a flat amount for new customers, less by the part that is refunded, in the currencies that it names.', async () => {
    const rules = [{ name: 'New', when: { customer: 'new' }, rate: { flat: { USD: 5 }, per: 'order' } }];
    const terms = { ...PERCENT, rules };
    const { value } = await shop.makeCode(terms);
    const order = () => ({ amount: 40, codes: [value], customer_email: `${unique('buyer')}@mail.example` });
    const [first, other] = [order(), order()];
    const sold = await shop.place(first);
    const returning = await shop.place(first);
    expect([sold.commission, returning.commission]).toEqual([5, 4]);
    expect(await shop.refund(sold, 10)).toBe(3.75);
    expect((await shop.place({ ...order(), currency: 'EUR' })).commission).toBe(0);
    expect((await shop.place({ ...other, amount: 0 })).commission ?? 0).toBe(0);
    expect((await shop.place({ ...order(), amount: 3 })).commission).toBe(5);
  });

  it('4: pay a flat amount for each item that cost something.', async () => {
    const terms = { rate: { flat: { USD: 1.25 }, per: 'item' } };
    const items = [
      { sku: 'A', quantity: 3, amount: 60 },
      { sku: 'B', quantity: 2, amount: 30 },
      { sku: 'GIFT', quantity: 1, amount: 0 },
    ];
    const [sold] = await sell(terms, { amount: 90, items });
    if (!sold) throw new Error('Nothing was sold.');
    expect(sold.commission).toBe(6.25);
    expect(await shop.refund(sold, 30, { B: 30 })).toBe(4.17);
    expect(await earn(terms, { amount: 90 })).toBe(1.25);
  });

  it('5: divide an order among lines that come to more, and pay the base rate for what they lack.', async () => {
    const items = [
      { sku: 'SERUM', amount: 60 },
      { sku: 'BALM', amount: 60 },
    ];
    expect(await earn(SERUMS, { amount: 100, items })).toBe(12.5);
    expect(await earn(SERUMS, { amount: 150, items })).toBe(18);
  });

  it('6: pay nothing for what a rule of 0 % excludes.', async () => {
    const rules = [{ name: 'Gift sets', when: { product: ['SET'] }, rate: { percent: 0 } }];
    const items = [
      { sku: 'SET', amount: 89 },
      { sku: 'BALM', amount: 9.95 },
    ];
    expect(await earn({ ...PERCENT, rules }, { amount: 98.95, items })).toBe(1);
  });

  it('7: pay at most the cap of an order, also after a refund.', async () => {
    const terms = { ...SERUMS, caps: { order: { USD: 5 } } };
    const [sold] = await sell(terms, { amount: 43.28, items: SERUM_AND_BALM });
    if (!sold) throw new Error('Nothing was sold.');
    expect(sold.commission).toBe(5);
    const { commission } = await shop.explain(sold);
    expect(commission).toMatchObject({
      capped: { by: 'order', limit_minor: 500, cut_minor: 100 },
      parts: [{ commission_minor: 417 }, { commission_minor: 83 }],
    });
    expect(await shop.refund(sold, 15, { SERUM: 15 })).toBe(3.75);
  });

  it('8: pay a subscription for the payments that the terms say, and a later code its own order.', async () => {
    const ana = await shop.makeCode({ rate: { percent: 15 }, covers: 'subscription', payments: 3 });
    const ben = await shop.makeCode({ rate: { percent: 20 } });
    const customer_email = `${unique('buyer')}@mail.example`;
    const of = { customer_email, subscription_id: unique('sub') };
    const placed = [
      await shop.place({ ...of, amount: 100, kind: 'first', codes: [ana.value] }),
      await shop.place({ ...of, amount: 100, kind: 'renewal' }),
      await shop.place({ ...of, amount: 30, kind: 'upgrade' }),
      await shop.place({ ...of, amount: 100, kind: 'renewal' }),
      await shop.place({ customer_email, amount: 100, codes: [ben.value] }),
    ];
    expect(placed.map(({ commission }) => commission)).toEqual([15, 15, 4.5, null, 20]);
    expect(placed.map(({ rule }) => rule)).toEqual(['code', 'subscription', 'subscription', null, 'code']);
    const last = placed[4] && (await shop.explain(placed[4]));
    expect(last.commission.creator_email).toBe(ben.creator_email);
  });

  it('9: pay the first charge after a trial, and nothing later.', async () => {
    const ana = await shop.makeCode(PERCENT);
    const customer_email = `${unique('buyer')}@mail.example`;
    const of = { customer_email, subscription_id: unique('sub') };
    const placed = [
      await shop.place({ ...of, amount: 0, kind: 'first', codes: [ana.value] }),
      await shop.place({ ...of, amount: 49, kind: 'renewal' }),
      await shop.place({ ...of, amount: 49, kind: 'renewal' }),
      await shop.place({ customer_email, amount: 80 }),
    ];
    expect(placed.map(({ commission }) => commission)).toEqual([0, 4.9, null, null]);
  });

  it('10: pay at most the cap of a month, in which a refund makes room for later orders only.', async () => {
    const { value } = await shop.makeCode({ ...PERCENT, caps: { month: { USD: 50 } } });
    const buy = (amount: number) => shop.place({ amount, codes: [value] });
    const [first, second, third] = [await buy(300), await buy(150), await buy(200)];
    expect([first, second, third].map(({ commission }) => commission)).toEqual([30, 15, 5]);
    expect(await shop.refund(first, 100)).toBe(20);
    const { commission } = await shop.explain(third);
    expect(commission).toMatchObject({ commission: 5, capped: { by: 'month', limit_minor: 5_000, cut_minor: 1_500 } });
    expect((await buy(200)).commission).toBe(10);
  });
});
