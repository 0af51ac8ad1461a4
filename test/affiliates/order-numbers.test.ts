import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { makeAssignment } from '../harness/affiliates/sales.ts';
import { shopifyOrder } from '../harness/affiliates/shopify-order.ts';
import {
  connectTestStore,
  deliver,
  signedDelivery,
  startStore,
  type TestStore,
  WEBHOOK_SECRET,
} from '../harness/affiliates/store.ts';
import { wooOrder } from '../harness/affiliates/woo-order.ts';
import { makeBrand, send, startApp, type TestApp, type TestBrand, unique } from '../harness/app.ts';

let app: TestApp;
let shopify: TestStore;
let woo: TestStore;
beforeAll(async () => {
  app = await startApp();
  shopify = await startStore('shopify');
  woo = await startStore('woocommerce');
});
afterAll(async () => {
  await app?.close();
  await shopify?.close();
  await woo?.close();
});

const fields = (value: object) => new URLSearchParams({ ...value }).toString();
async function read(brand: TestBrand, path: string, query: object = {}) {
  return await send(`${app.url}${path}?${fields(query)}`, await brand.key('brand'), 'GET');
}

describe('the number of an order', () => {
  it('finds a Shopify order by its name, with and without #, everywhere, and is shown beside its id', async () => {
    const brand = await makeBrand(app.context);
    const { code } = await makeAssignment(app.context, brand);
    const store = await connectTestStore(app.context, brand.id, shopify);
    const body = { ...shopifyOrder({ id: 5_820_785_022_695, codes: [code] }), name: '#1001', order_number: 1001 };
    await deliver(app.url, 'shopify', store, signedDelivery('shopify', WEBHOOK_SECRET, 'orders/paid', body));

    for (const order_id of ['#1001', '1001', '5820785022695']) {
      const found = [
        (await read(brand, '/v1/affiliates/explain', { order_id })).body.data,
        (await read(brand, '/v1/orders', { order_id })).body.data[0],
        (await read(brand, '/v1/commissions', { order_id })).body.data[0],
      ];
      const names = found.map((one) => [one.order_id, one.order_number]);
      expect(names, order_id).toEqual(Array.from({ length: 3 }, () => ['5820785022695', '#1001']));
    }
    const csv = await fetch(`${app.url}/v1/orders`, {
      headers: { authorization: `Bearer ${await brand.key('brand')}`, accept: 'text/csv' },
    });
    const [head, row] = (await csv.text()).split('\n');
    expect(row?.split(',')[head?.split(',').indexOf('order_number') ?? -1]).toBe('#1001');
    const events = (await read(brand, '/v1/events', { type: 'commission.created' })).body.data;
    expect(events[0].data.order_number).toBe('#1001');
  });

  it('of WooCommerce is what a plug-in made of it, and a later report fills it in where it was unknown', async () => {
    const brand = await makeBrand(app.context);
    const store = await connectTestStore(app.context, brand.id, woo);
    const send = (body: object) =>
      deliver(app.url, 'woocommerce', store, signedDelivery('woocommerce', WEBHOOK_SECRET, 'order.updated', body));
    const { number, ...unnumbered } = wooOrder({ id: 4001 });
    await send(unnumbered);
    expect((await read(brand, '/v1/orders')).body.data[0].order_number).toBeNull();
    await send({ ...unnumbered, number: 'S-10023' });
    for (const order_id of ['S-10023', 's-10023', '4001']) {
      expect((await read(brand, '/v1/affiliates/explain', { order_id })).body.data.order_id).toBe('4001');
      expect((await read(brand, '/v1/orders', { order_id })).body.pagination.total).toBe(1);
    }
    expect(number).toBe('4001');
  });

  it('that several orders have is ambiguous, and the shop, or the kind of name, settles which one is meant', async () => {
    const brand = await makeBrand(app.context);
    const key = await brand.key('brand');
    const made = [
      { source: 'a', order_id: '1001', order_number: 'A-7' },
      { source: 'a', order_id: '1002', order_number: '#1001' },
      { source: 'b', order_id: 'x', order_number: 'a-7' },
    ].map((one) => ({ ...one, currency: 'EUR', amount: 10, placed_at: '2026-03-02T09:30:00Z' }));
    expect((await send(`${app.url}/v1/orders/batch`, key, 'POST', { orders: made })).status).toBe(200);

    const within = await read(brand, '/v1/affiliates/explain', { order_id: '#1001' });
    expect(within.body.data.order_id).toBe('1002');
    const either = await read(brand, '/v1/affiliates/explain', { order_id: '1001' });
    expect([either.status, either.body.details[0].code]).toEqual([422, 'ambiguous']);
    const candidates = either.body.candidates.map((one: object) => Object.keys(one));
    const shown = ['id', 'order_id', 'order_number', 'integration_id', 'occurred_at', 'amount', 'currency'];
    expect(candidates).toEqual([shown, shown]);
    for (const [match, order_id] of [
      ['id', '1001'],
      ['number', '1002'],
    ]) {
      const answer = await read(brand, '/v1/affiliates/explain', { order_id: '1001', match });
      expect(answer.body.data.order_id).toBe(order_id);
    }
    const two = await read(brand, '/v1/affiliates/explain', { order_id: 'A-7' });
    expect([two.status, two.body.details[0].field]).toEqual([422, 'integration_id']);
    for (const { integration_id, order_id } of two.body.candidates) {
      const one = await read(brand, '/v1/affiliates/explain', { order_id: 'a-7', integration_id });
      expect(one.body.data.order_id).toBe(order_id);
    }
    expect((await read(brand, '/v1/orders', { order_id: '#A-7' })).body.pagination.total).toBe(2);
  });

  it('is never preferred silently: 200 names of three shops find what they name, or say that they are ambiguous', async () => {
    const brand = await makeBrand(app.context);
    const key = await brand.key('brand');
    const orders = Array.from({ length: 90 }, (_, i) => ({
      source: `shop-${i % 3}`,
      order_id: i % 4 === 0 ? `${1_000 + (i % 30)}-${i % 3}` : String(1_000 + i),
      order_number: i % 5 === 0 ? null : `${i % 2 === 0 ? '#' : ''}${i % 7 === 0 ? 'Ab' : ''}${1_000 + ((i * 3) % 70)}`,
      ...{ currency: 'EUR', amount: 10, placed_at: '2026-03-02T09:30:00Z' },
    }));
    await send(`${app.url}/v1/orders/batch`, key, 'POST', { orders });
    const known = (await read(brand, '/v1/orders', { limit: 100 })).body.data;
    const fold = (text: string) => text.replace(/^#+/, '').toLowerCase();
    const mark = (i: number, text: string) => (i % 3 === 0 ? `#${text}` : i % 3 === 1 ? text.toUpperCase() : text);
    for (let i = 0; i < 200; i += 1) {
      const name = mark(i, i % 7 === 0 ? `ab${1_000 + (i % 75)}` : String(1_000 + (i % 130)));
      const right = known
        .filter((one: { order_id: string; order_number: string | null }) => {
          return one.order_id === name || (one.order_number !== null && fold(one.order_number) === fold(name));
        })
        .map(({ id }: { id: string }) => id)
        .sort();
      const list = (await read(brand, '/v1/orders', { order_id: name })).body.data.map(({ id }: { id: string }) => id);
      expect(list.sort(), name).toEqual(right);
      const { status, body } = await read(brand, '/v1/affiliates/explain', { order_id: name });
      if (right.length === 0) expect(status).toBe(404);
      else if (right.length === 1) expect(body.data.id).toBe(right[0]);
      else expect(body.candidates.map(({ id }: { id: string }) => id).sort()).toEqual(right);
    }
  });

  it('keeps the newest report’s number, whichever came first', async () => {
    const key = await (await makeBrand(app.context)).key('brand');
    const order_id = unique('order');
    const base = { source: 'a', order_id, currency: 'EUR', amount: 10, placed_at: '2026-03-02T09:30:00Z' };
    const reported = [
      { ...base, order_number: 'old', updated_at: '2026-03-02T10:00:00Z' },
      { ...base, order_number: 'new', updated_at: '2026-03-02T11:00:00Z' },
      { ...base, updated_at: '2026-03-02T12:00:00Z' },
    ];
    for (const sequence of [reported, reported.toReversed()]) {
      const source = unique('shop');
      await send(`${app.url}/v1/orders/batch`, key, 'POST', { orders: sequence.map((one) => ({ ...one, source })) });
      const found = await send(`${app.url}/v1/orders?order_id=new&limit=5`, key, 'GET');
      expect(found.body.data.some((one: { order_number: string }) => one.order_number === 'new')).toBe(true);
    }
    expect((await send(`${app.url}/v1/orders?order_id=old`, key, 'GET')).body.pagination.total).toBe(0);
  });
});
