import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Assignment, makeAssignment } from '../harness/affiliates/sales.ts';
import { openShop } from '../harness/affiliates/shop.ts';
import { shopifyOrder, shopifyRefund } from '../harness/affiliates/shopify-order.ts';
import { wooOrder } from '../harness/affiliates/woo-order.ts';
import { sync } from '../harness/analytics/figures.ts';
import { makeBrand, send, startApp, type TestApp } from '../harness/app.ts';

const NOW = new Date('2026-03-20T12:00:00Z');
const PLACED = '2026-03-02T09:30:00Z';
let app: TestApp;
beforeAll(async () => {
  app = await startApp({ clock: { now: () => NOW } });
});
afterAll(() => app?.close());

interface Shop {
  id: string;
  key: string;
  assignment: Assignment;
  post(path: string, body: object): ReturnType<typeof send>;
  get(path: string): ReturnType<typeof send>;
}

/** A brand that reports its orders with a key, and a creator with a code who earns 10%. */
async function makeShop(): Promise<Shop> {
  const brand = await makeBrand(app.context);
  const key = await brand.key('brand');
  const assignment = await makeAssignment(app.context, brand);
  const post = (path: string, body: object) => send(`${app.url}${path}`, key, 'POST', body);
  return { id: brand.id, key, assignment, post, get: (path) => send(`${app.url}${path}`, key, 'GET') };
}

const SERUM = { sku: 'SERUM-30', title: 'Serum 30 ml', quantity: 2, amount: 60 };
const CREAM = { sku: 'CREAM', title: 'Day cream', amount: 30 };

const orderOf = ({ assignment }: Shop, order: object) => ({
  ...{ source: 'pop-up', order_id: '1', currency: 'USD', placed_at: PLACED, paid_at: PLACED, updated_at: PLACED },
  ...{ customer_email: 'jane@example.com', codes: [assignment.code], ...order },
});

describe("An order's lines", () => {
  it('are shown with the refunds of each', async () => {
    const shop = await makeShop();
    const items = [SERUM, CREAM, { title: 'Wrapping', amount: 5 }];
    const { status, body } = await shop.post('/v1/orders', orderOf(shop, { amount: 100, items }));
    expect(status).toBe(200);
    const { id } = body.data;
    const refund = { refund_id: 'r1', amount: 40, at: '2026-03-05T10:00:00Z' };
    const named = {
      ...refund,
      items: [
        { sku: 'SERUM-30', amount: 30 },
        { sku: 'Wrapping', amount: 5 },
      ],
    };
    expect((await shop.post(`/v1/orders/${id}/refunds`, named)).status).toBe(200);
    const none = { quantity: 1, refunded_minor: 0 };
    // The 5.00 that it names no line for fall on all that is left: 30.00, 30.00 and 5.00 of no line.
    const expected = [
      { sku: 'SERUM-30', title: 'Serum 30 ml', quantity: 2, amount_minor: 6_000, refunded_minor: 3_231 },
      { ...none, sku: 'CREAM', title: 'Day cream', amount_minor: 3_000, refunded_minor: 231 },
      { ...none, sku: null, title: 'Wrapping', amount_minor: 500, refunded_minor: 500 },
    ];
    expect((await shop.get(`/v1/orders/${id}`)).body.data.items).toEqual(expected);
    const later = { ...named, refund_id: 'r2', amount: 1_000, items: [] };
    expect((await shop.post(`/v1/orders/${id}/refunds`, later)).status).toBe(422);

    const cancelled = { amount: 100, items, cancelled_at: '2026-03-06T10:00:00Z', updated_at: '2026-03-06T10:00:00Z' };
    await shop.post('/v1/orders', orderOf(shop, cancelled));
    const after = (await shop.get(`/v1/orders/${id}`)).body.data.items;
    expect(after.map((item: { refunded_minor: number }) => item.refunded_minor)).toEqual([6_000, 3_000, 500]);
  });

  it('are those of the newest report, whichever came first, and at most 200', async () => {
    const shop = await makeShop();
    const items = Array.from({ length: 201 }, (_, i) => ({ sku: `S${i}`, amount: 1 }));
    const report = (more: object) => shop.post('/v1/orders', orderOf(shop, { amount: 201, ...more }));
    const { body } = await report({ items, updated_at: '2026-03-04T10:00:00Z' });
    await report({ items: [CREAM], updated_at: '2026-03-03T10:00:00Z' });
    await report({ updated_at: '2026-03-05T10:00:00Z' });
    const shown = (await shop.get(`/v1/orders/${body.data.id}`)).body.data.items;
    expect([shown.length, shown[199].sku]).toEqual([200, 'S199']);
  });

  it('must have amounts that are whole in their currency', async () => {
    const shop = await makeShop();
    const { status, body } = await shop.post('/v1/orders', orderOf(shop, { amount: 1, items: [{ amount: 0.001 }] }));
    expect([status, body.details[0].field]).toEqual([422, 'items.0.amount']);
  });
});

describe('The lines that stores report', () => {
  const shown = async (shop: Awaited<ReturnType<typeof openShop>>) => {
    const key = await shop.brand.key('brand');
    const [{ id }] = (await send(`${app.url}/v1/orders`, key, 'GET')).body.data;
    return (await send(`${app.url}/v1/orders/${id}`, key, 'GET')).body.data.items;
  };

  it('of Shopify are goods after discounts, with the refunds of each; gift cards and tips are left out', async () => {
    const shop = await openShop(app, 'shopify');
    const at = new Date('2026-03-10T10:00:00Z');
    const refunds = [shopifyRefund({ lines: [{ subtotal: '20.00' }], at })];
    const order = shopifyOrder({
      at,
      refunds,
      lines: [{ price: '50.00', quantity: 2, discounts: ['10.00'] }, { price: '5.00' }],
    });
    const [first, second] = order.line_items;
    const lines = [{ ...first, sku: ' SERUM-30 ' }, second, { ...second, id: 9, gift_card: true }];
    expect((await shop.report('orders/paid', { ...order, line_items: lines })).became?.state).toBe('done');
    expect(await shown(shop)).toEqual([
      { sku: 'SERUM-30', title: 'Thing 1', quantity: 2, amount_minor: 9_000, refunded_minor: 2_000 },
      { sku: null, title: 'Thing 2', quantity: 1, amount_minor: 500, refunded_minor: 0 },
    ]);
    await shop.store.close();
  });

  it('of WooCommerce share discounts that are fees, and so do their refunds', async () => {
    const shop = await openShop(app, 'woocommerce');
    const day = '2026-03-10T10:00:00';
    const order = wooOrder({
      lines: ['80.00', '20.00'],
      paidAt: day,
      modifiedAt: day,
      refunds: [{ id: 9, total: '-40.00' }],
    });
    const line_items = order.line_items.map((line, i) => ({ ...line, sku: `W${i}`, quantity: i + 1 }));
    const meta_data = [{ id: 1, key: '_refunded_item_id', value: String(line_items[0]?.id) }];
    const refunded = { id: 1, name: 'Woo', quantity: -1, total: '-40.00', total_tax: '0.00', meta_data };
    shop.store.refunds.set(String(order.id), [
      { id: 9, date_created_gmt: day, amount: '40.00', line_items: [refunded] },
    ]);
    const body = { ...order, date_created_gmt: day, line_items, fee_lines: [{ total: '-10.00' }] };
    expect((await shop.report('order.updated', body)).became?.state).toBe('done');
    expect(await shown(shop)).toEqual([
      { sku: 'W0', title: 'Woo', quantity: 1, amount_minor: 7_200, refunded_minor: 3_600 },
      { sku: 'W1', title: 'Woo', quantity: 2, amount_minor: 1_800, refunded_minor: 0 },
    ]);
    await shop.store.close();
  });
});

type Figures = Record<string, number | string | null>;
const SUMMED = ['clicks', 'orders', 'revenue_minor', 'refunds_minor', 'commission_minor'];
const sumsOf = (rows: Figures[]) => SUMMED.map((name) => rows.reduce((sum, row) => sum + Number(row[name]), 0));

describe('A breakdown by product', () => {
  it('divides orders, refunds and commissions among products, and its sums are those of every other breakdown', async () => {
    const shop = await makeShop();
    const report = async (order_id: string, order: object) =>
      (await shop.post('/v1/orders', orderOf(shop, { order_id, ...order }))).body.data;
    const first = await report('1', { amount: 100, items: [SERUM, CREAM] });
    await report('2', { amount: 50 });
    await report('3', { amount: 30, items: [CREAM], cancelled_at: '2026-03-04T10:00:00Z' });
    // Lines that come to more than the order, because a discount is no line.
    await report('4', { amount: 45, items: [SERUM, CREAM] });
    const refund = {
      refund_id: 'r1',
      amount: 40,
      at: '2026-03-05T10:00:00Z',
      items: [{ sku: 'SERUM-30', amount: 30 }],
    };
    expect((await shop.post(`/v1/orders/${first.id}/refunds`, refund)).status).toBe(200);
    await sync(app, shop.id);

    const query = 'from=2026-03-01&to=2026-03-19';
    const answer = await shop.get(`/v1/analytics/breakdown?by=product&sort=orders&${query}`);
    expect(answer.status, JSON.stringify(answer.body)).toBe(200);
    const rows = answer.body.data;
    const shown = rows.map(({ key, label, orders, revenue_minor, refunds_minor, commission_minor }: Figures) => [
      ...[key, label, orders, revenue_minor, refunds_minor, commission_minor],
    ]);
    expect(shown).toEqual([
      ['SERUM-30', 'Serum 30 ml', 2, 5_571, 3_429, 557],
      [null, null, 1, 5_857, 143, 586],
      ['CREAM', 'Day cream', 1, 4_072, 3_428, 407],
    ]);
    for (const by of ['store', 'creator', 'weekday', 'hour']) {
      const others = (await shop.get(`/v1/analytics/breakdown?by=${by}&${query}`)).body.data;
      expect(sumsOf(rows), by).toEqual(sumsOf(others));
      const parts = [];
      for (const key of ['SERUM-30', 'CREAM', 'none']) {
        parts.push(...(await shop.get(`/v1/analytics/breakdown?by=${by}&product=${key}&${query}`)).body.data);
      }
      expect(sumsOf(parts), `${by} by product`).toEqual(sumsOf(others));
    }
    const within = await shop.get(
      '/v1/analytics/breakdown?by=product&sort=orders&from=2026-03-01T01:00:00Z&to=2026-03-19',
    );
    expect(within.body.data).toEqual(rows);
    const cream = (await shop.get(`/v1/analytics/breakdown?by=product&product=CREAM&${query}`)).body;
    expect(cream.data).toEqual(rows.filter(({ key }: Figures) => key === 'CREAM'));
    const summary = (await shop.get(`/v1/analytics?product=CREAM&${query}`)).body.summary;
    expect(summary).toMatchObject({ total_revenue: 40.72, total_conversions: 1, total_clicks: 0 });

    // What items cost replaces the percentage for their products, and comes back with refunds.
    const goods = async () => (await shop.get(`/v1/analytics/returns?by=month&${query}`)).body.data[0];
    const serum = { scope: 'product', sku: 'SERUM-30', kind: 'per_item', amount: 7 };
    expect((await shop.post('/v1/costs', serum)).status).toBe(201);
    expect(await goods()).toMatchObject({ goods_minor: null, missing: ['goods'] });
    expect((await shop.post('/v1/costs', { kind: 'cogs_percent', amount: 50 })).status).toBe(201);
    expect(await goods()).toMatchObject({ goods_minor: 6_964, missing: [] });
    const later = { ...serum, sku: 'CREAM', amount: 1, from: '2026-03-03' };
    expect((await shop.post('/v1/costs', later)).status).toBe(201);
    // The cancellation of the third order and the refund of the first come after it.
    expect(await goods()).toMatchObject({ goods_minor: 8_564 });
  });

  it('has what the lines of orders are refunded and earn by their terms, as every door that shows them', async () => {
    const shop = await makeShop();
    const terms = {
      rate: { percent: 10 },
      rules: [
        { name: 'Serum', when: { product: ['S'] }, rate: { percent: 20 } },
        { name: 'Gifts', when: { product: ['G'] }, rate: { percent: 0 } },
      ],
      covers: 'order',
    };
    const link = { id: shop.assignment.linkId, terms };
    expect((await send(`${app.url}/v1/affiliates/links/${link.id}`, shop.key, 'PATCH', { terms })).status).toBe(200);
    const names = ['S', 'B', 'G'];
    const items = names.map((sku) => ({ line_id: sku, sku, amount: 50 }));
    const report = async (order_id: string) =>
      (await shop.post('/v1/orders', orderOf(shop, { order_id, amount: 150, items }))).body.data.id;
    const refund = async (id: string, refund_id: string, day: number, named: object[]) =>
      expect(
        (
          await shop.post(`/v1/orders/${id}/refunds`, {
            ...{ refund_id, amount: 40, at: `2026-03-0${day}T10:00:00Z`, items: named },
          })
        ).status,
      ).toBe(200);
    let until = 10;
    const byProduct = async () => {
      await sync(app, shop.id);
      // Another period each time, because answers are kept for a while.
      until += 1;
      const query = `by=product&from=2026-03-01&to=2026-03-${until}`;
      const rows: Figures[] = (await shop.get(`/v1/analytics/breakdown?${query}`)).body.data;
      return names.map((name) => {
        const { revenue_minor, refunds_minor, commission_minor } = rows.find(({ key }) => key === name) ?? {};
        return [revenue_minor, refunds_minor, commission_minor];
      });
    };
    const one = await report('1');
    expect(await byProduct()).toEqual([
      [5_000, 0, 1_000],
      [5_000, 0, 500],
      [5_000, 0, 0],
    ]);
    // Two refunds of a line, which has 50.00, and one that names more of it than it gives back.
    await refund(one, 'r1', 5, [{ line_id: 'S', amount: 40 }]);
    await refund(one, 'r2', 6, [{ line_id: 'S', amount: 40 }]);
    const two = await report('2');
    await refund(two, 'r1', 7, [{ line_id: 'S', amount: 50 }]);
    const lines: number[][] = [];
    for (const id of [one, two]) {
      const { items: shown, commission } = (await shop.get(`/v1/orders/${id}`)).body.data;
      const own = commission.lines.filter(({ line_id }: Figures) => line_id !== null);
      const refunded = own.map(({ refunded_minor }: Figures) => refunded_minor);
      expect(shown.map(({ refunded_minor }: Figures) => refunded_minor)).toEqual(refunded);
      lines.push(
        refunded,
        own.map(({ commission_minor }: Figures) => commission_minor),
      );
    }
    expect(lines).toEqual([
      [5_000, 1_500, 1_500],
      [0, 350, 0],
      [4_000, 0, 0],
      [200, 500, 0],
    ]);
    expect(await byProduct()).toEqual([
      [1_000, 9_000, 200],
      [8_500, 1_500, 850],
      [8_500, 1_500, 0],
    ]);
    await shop.post('/v1/orders', orderOf(shop, { order_id: '2', amount: 150, items, test: true, updated_at: NOW }));
    expect(await byProduct()).toEqual([
      [0, 5_000, 0],
      [3_500, 1_500, 350],
      [3_500, 1_500, 0],
    ]);
  });
});
