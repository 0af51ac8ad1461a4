import { afterAll, beforeAll, expect, it } from 'vitest';
import { makeBrand, send, startApp, type TestApp } from '../harness/app.ts';

let app: TestApp;
let key: string;
beforeAll(async () => {
  app = await startApp();
  key = await (await makeBrand(app.context)).key('brand');
});
afterAll(() => app?.close());

const preview = (terms: object, ...orders: object[]) =>
  send(`${app.url}/v1/affiliates/terms/preview`, key, 'POST', {
    terms,
    orders: orders.map((order) => ({ currency: 'USD', ...order })),
  });

async function paid(terms: object, ...orders: object[]): Promise<number[]> {
  const { status, body } = await preview(terms, ...orders);
  expect(status).toBe(200);
  return body.data.orders.map((order: { commission_minor: number }) => order.commission_minor);
}

const SERUMS = {
  rate: { percent: 10 },
  rules: [{ name: 'Serums', when: { product: ['SERUM'] }, rate: { percent: 15 } }],
};
const line = (sku: string, amount: number, quantity = 1) => ({ sku, amount, quantity });

it('Terms price given orders to the cent, by rule and by line, and change nothing', async () => {
  const items = [line('SERUM', 33.33), line('BALM', 9.95)];
  const order = (refunds: object[] = []) => ({ amount: 43.28, items, refunds });
  const balm = [{ line_id: 'BALM', amount: 5 }];
  const orders = [order(), order([{ amount: 5, items: balm }]), order([{ amount: 8, items: balm }])];
  expect(await paid(SERUMS, ...orders)).toEqual([600, 550, 507]);
  const { body } = await preview(SERUMS, order());
  expect(body.data.summary).toBe('10% of each order; 15% for SERUM (Serums).');
  expect(body.data.orders[0].parts).toEqual([
    { rule: 0, name: 'Serums', amount_minor: 3_333, refunded_minor: 0, commission_minor: 500 },
    { rule: null, name: null, amount_minor: 995, refunded_minor: 0, commission_minor: 100 },
  ]);
});

it('Flat amounts, new customers and caps are priced as the worked orders say', async () => {
  const fresh = {
    rate: { percent: 10 },
    rules: [{ name: 'New', when: { customer: 'new' }, rate: { flat: { USD: 5 }, per: 'order' } }],
  };
  const facts = { customer: 'new' };
  const refunds = [{ amount: 10 }];
  expect(await paid(fresh, { amount: 40, facts }, { amount: 40, facts, refunds }, { amount: 40 })).toEqual([
    500, 375, 400,
  ]);
  const items = [line('A', 60, 3), line('B', 30, 2), line('GIFT', 0)];
  const perItem = { rate: { flat: { USD: 1.25 }, per: 'item' } };
  expect(await paid(perItem, { amount: 90, items }, { amount: 90 })).toEqual([625, 125]);
  const capped = { ...SERUMS, caps: { order: { USD: 5 } } };
  const both = [line('SERUM', 33.33), line('BALM', 9.95)];
  expect(await paid(capped, { amount: 43.28, items: both })).toEqual([500]);
  expect(await paid({ rate: { percent: 10 } }, { amount: 200, facts: { room_minor: 500 } })).toEqual([500]);
});

it('Terms that make no sense are refused by the path of each problem', async () => {
  const refused = async (terms: object) => {
    const { status, body } = await preview(terms, { amount: 1 });
    return [status, body.details.map(({ field }: { field: string }) => field)];
  };
  expect(await refused({ rate: { percent: 10, flat: { USD: 1 } } })).toEqual([422, ['terms.rate']]);
  const rules = [{ name: 'X', when: { country: ['EU'] }, rate: { percent: 1 } }];
  expect(await refused({ rate: { percent: 10 }, rules })).toEqual([422, ['terms.rules[0].when.country[0]']]);
  expect(await refused({ rate: { percent: 10 }, months: 3 })).toEqual([422, ['terms.months']]);
});
