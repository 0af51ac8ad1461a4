import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startApp, type TestApp, unique } from '../harness/app.ts';
import { openShop, type TermsShop } from './terms-shop.ts';

let app: TestApp;
let shop: TermsShop;
beforeAll(async () => {
  app = await startApp();
  shop = await openShop(app);
});
afterAll(() => app?.close());

const SERUMS = {
  rate: { percent: 10 },
  rules: [{ name: 'Serums', when: { product: ['SERUM-30'] }, rate: { percent: 15 } }],
};
const SERUM = { line_id: '1', sku: 'SERUM-30', amount: 33.33 };
const BALM = { line_id: '2', sku: 'BALM', title: 'Balm', amount: 9.95 };

/** Refunds a part of a new order, and returns what it pays and what came back of each line. */
async function refundOf(items: readonly object[], refunded: readonly object[], amount: number) {
  const code = await shop.makeCode(SERUMS);
  const order = await shop.place({ amount: 43.28, items, codes: [code.value] });
  const refund = { refund_id: unique('r'), amount, at: shop.next(), items: refunded };
  const answer = await shop.tell('POST', `/v1/orders/${order.id}/refunds`, refund);
  expect([answer.status, answer.body.details]).toEqual([200, undefined]);
  const explained = await shop.explain(order);
  const sum = explained.items.map((one: { refunded_minor: number }) => one.refunded_minor);
  return [explained.commission.commission, sum];
}

describe('a refund takes back what its own line earned, if it names the line', () => {
  it.each([
    ['by its SKU', { sku: 'BALM' }],
    ['by its SKU in another case', { sku: ' balm ' }],
    ['by its id', { line_id: '2' }],
    ['by its title', { sku: 'BALM' }, { line_id: '2', title: 'Balm', amount: 9.95 }],
  ])('%s', async (_, name, balm = BALM) => {
    expect(await refundOf([SERUM, balm], [{ ...name, amount: 9.95 }], 9.95)).toEqual([5, [0, 995]]);
  });

  it('also in a report that comes before the order does', async () => {
    const code = await shop.makeCode(SERUMS);
    const at = shop.next();
    const refunds = [{ refund_id: 'r', amount: 9.95, at, items: [{ sku: 'balm', amount: 9.95 }] }];
    const order = await shop.place({ amount: 43.28, items: [SERUM, BALM], codes: [code.value], refunds });
    expect((await shop.explain(order)).commission.commission).toBe(5);
    expect(await shop.listProblems()).toEqual([]);
  });

  it('and not twice if two lines have its name', async () => {
    const lines = [
      { sku: 'A', amount: 20 },
      { sku: 'A', amount: 10 },
    ];
    expect(await refundOf(lines, [{ sku: 'A', amount: 10 }], 10)).toEqual([3.33, [1000, 0]]);
    const both = [{ ...lines[0], line_id: 'x' }, lines[1] ?? {}];
    expect(await refundOf(both, [{ sku: 'a', amount: 25 }], 25)).toEqual([1.83, [2000, 500]]);
  });
});

describe('a refund is refused', () => {
  it('if it names a line that the order does not have', async () => {
    const code = await shop.makeCode(SERUMS);
    const order = await shop.place({ amount: 43.28, items: [SERUM, BALM], codes: [code.value] });
    const refund = { refund_id: 'r', amount: 5, at: shop.next(), items: [{ sku: 'MASK', amount: 5 }] };
    const answer = await shop.tell('POST', `/v1/orders/${order.id}/refunds`, refund);
    expect([answer.status, answer.body.details?.[0].field]).toEqual([422, 'items.0.sku']);
    expect((await shop.explain(order)).commission.commission).toBe(6);
  });

  it.each([
    ['USD', 1.005],
    ['USD', 33.3349],
    ['JPY', 5.5],
    ['KWD', 1.0005],
  ])('if its amount is not whole in %s: %d', async (currency, amount) => {
    const code = await shop.makeCode({ rate: { percent: 10 } });
    const order = await shop.place({ currency, amount: 100, codes: [code.value] });
    const path = `/v1/orders/${order.id}/refunds`;
    const refund = { refund_id: 'r', at: shop.next(), amount };
    const answer = await shop.tell('POST', path, refund);
    expect([answer.status, answer.body.details?.[0].field]).toEqual([422, 'amount']);
    const line = await shop.tell('POST', path, { ...refund, amount: 10, items: [{ sku: 'A', amount }] });
    expect([line.status, line.body.details?.[0].field]).toEqual([422, 'items.0.amount']);
  });
});
