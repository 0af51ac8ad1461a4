import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startApp, type TestApp } from '../harness/app.ts';
import { openShop, type TermsShop } from './terms-shop.ts';

let app: TestApp;
beforeAll(async () => {
  app = await startApp();
});
afterAll(() => app?.close());

const PAST = new Date(Date.now() - 1_000).toISOString();
const TERMS = { rate: { percent: 10 }, budget: { per: 'month', amount: { USD: 30 } } };

/** Orders of a code whose budget is 30.00 a month: the first pays 20.00, and loses it before the second. */
async function makeOrders(lose: (shop: TermsShop, order: object) => Promise<void>) {
  const shop = await openShop(app);
  const { value } = await shop.makeCode(TERMS);
  const at = shop.next();
  const report = { order_id: 'first', amount: 200, codes: [value], placed_at: at, paid_at: at };
  await shop.place(report);
  const pays = async (order_id: string) => (await shop.explain({ order_id })).commission;
  await lose(shop, report);
  await shop.place({ order_id: 'second', amount: 300, codes: [value] });
  return { shop, report, pays };
}

const review = (shop: TermsShop, id: string, status: string) =>
  shop.tell('PATCH', `/v1/affiliates/commissions/${id}`, { status });

describe('a commission that comes back takes no more of a budget than other orders left of it', () => {
  it('after a review', async () => {
    const shop = await openShop(app);
    const { value } = await shop.makeCode(TERMS);
    const first = await shop.place({ amount: 200, codes: [value] });
    const { id } = (await shop.explain(first)).commission;
    await review(shop, id, 'rejected');
    const second = await shop.place({ amount: 250, codes: [value] });
    expect((await shop.explain(second)).commission.commission).toBe(25);
    expect((await review(shop, id, 'approved')).status).toBe(200);
    expect((await shop.explain(first)).commission).toMatchObject({
      ...{ status: 'approved', commission: 5 },
      capped: { by: 'budget', limit_minor: 3_000, cut_minor: 1_500 },
    });
    expect(await shop.listProblems()).toEqual([]);
  });

  it('after a cancellation, a lost dispute and a refund that are taken back', async () => {
    for (const [gone, back] of [
      [{ cancelled_at: PAST }, { cancelled_at: null }],
      [{ dispute: 'lost' }, { dispute: 'won' }],
      [{ refunds: [{ refund_id: 'r', amount: 150, at: PAST }] }, { refunds: [] }],
    ]) {
      const { shop, report, pays } = await makeOrders(
        async (own, order) => void (await own.place({ ...order, ...gone })),
      );
      const { commission: left } = await pays('first');
      await shop.place({ ...report, ...back });
      const [first, second] = [await pays('first'), await pays('second')];
      expect([first.commission, second.commission], JSON.stringify(gone)).toEqual([left, 30 - left]);
      expect(await shop.listProblems()).toEqual([]);
    }
  });
});
