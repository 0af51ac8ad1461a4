import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { fixedWithin } from '../../src/analytics/returns/goods-costs.ts';
import { timeIn } from '../../src/kit/values/time-zone.ts';
import { startApp, type TestApp, unique } from '../harness/app.ts';
import { openShop } from './terms-shop.ts';

let app: TestApp;
beforeAll(async () => {
  app = await startApp();
});
afterAll(() => app?.close());

describe('an order of 0.00 is no paid order', () => {
  it('and makes nobody a returning customer', async () => {
    const shop = await openShop(app);
    const bonus = { name: 'New', when: { customer: 'new' }, rate: { flat: { USD: 5 }, per: 'order' } };
    const { value } = await shop.makeCode({ rate: { percent: 10 }, rules: [bonus], covers: 'subscription' });
    const of = { subscription_id: 's-1', customer_email: `${unique('c')}@mail.example` };
    await shop.place({ amount: 0, kind: 'first', codes: [value], ...of });
    const renewal = await shop.place({ amount: 49, kind: 'renewal', ...of });
    expect((await shop.explain(renewal)).commission.commission).toBe(5);
    const next = await shop.place({ amount: 49, kind: 'renewal', ...of });
    expect((await shop.explain(next)).commission.commission).toBe(4.9);
    expect(await shop.listProblems()).toEqual([]);
  });

  it('and adds to no volume', async () => {
    const shop = await openShop(app);
    const many = { name: 'Many', when: { volume: { per: 'month', orders_from: 3 } }, rate: { percent: 20 } };
    const { value } = await shop.makeCode({ rate: { percent: 10 }, rules: [many] });
    for (const amount of [100, 0, 0]) await shop.place({ amount, codes: [value] });
    const order = await shop.place({ amount: 100, codes: [value] });
    expect((await shop.explain(order)).commission.commission).toBe(10);
  });
});

it('a rule by category applies however its accents are written', async () => {
  const shop = await openShop(app);
  const cream = { name: 'Cream', when: { category: ['CRÈME'] }, rate: { percent: 20 } };
  const { value } = await shop.makeCode({ rate: { percent: 10 }, rules: [cream] });
  const items = [{ sku: 'A', amount: 100, categories: ['crème'.normalize('NFD')] }];
  const order = await shop.place({ amount: 100, items, codes: [value] });
  expect((await shop.explain(order)).commission.commission).toBe(20);
});

it('a filter by an amount without a currency says so in one sentence', async () => {
  const shop = await openShop(app);
  const { status, body } = await shop.tell('GET', '/v1/orders?min_amount=5');
  expect(status).toBe(422);
  expect(body.details[0].message).toMatch(/compared\.$/);
});

it('a fixed cost is the same on each of its days, also where clocks are set', () => {
  const timeZone = 'America/Los_Angeles';
  const cost = { amountMinor: 30_000, fromDay: '2026-03-07', toDay: '2026-03-09' };
  const periods = [
    ['2026-03-07', '2026-03-08'],
    ['2026-03-08', '2026-03-09'],
    ['2026-03-09', '2026-03-10'],
    ['2026-03-07', '2026-03-10'],
  ].map(([from = '', until = '']) => ({ from: timeIn(timeZone, from), until: timeIn(timeZone, until), timeZone }));
  expect(periods.map((period) => fixedWithin(cost, period))).toEqual([10_000, 10_000, 10_000, 30_000]);
});
