import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { balancesOf } from '../../harness/affiliates/sales.ts';
import { openShop as openShopAt, type Shop } from '../../harness/affiliates/shop.ts';
import { orderNumber, shopifyOrder, shopifyRefund } from '../../harness/affiliates/shopify-order.ts';
import { wooOrder } from '../../harness/affiliates/woo-order.ts';
import { sync } from '../../harness/analytics/figures.ts';
import { call, startApp, type TestApp, unique } from '../../harness/app.ts';

let app: TestApp;
const shops: Shop[] = [];

beforeAll(async () => {
  app = await startApp({ isOwn: true });
});
afterAll(async () => {
  for (const { store } of shops) await store.close();
  await app?.close();
});

async function openShop(provider: Shop['store']['provider']): Promise<Shop> {
  const shop = await openShopAt(app, provider);
  shops.push(shop);
  return shop;
}

const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;
const fromNow = (ms: number) => new Date(Date.now() + ms).toISOString();

const order = (shop: Shop, more: object = {}) => ({
  ...{ order_id: unique('o'), currency: 'USD', amount: '100.00', codes: [shop.assignment.code] },
  ...{ placed_at: fromNow(-2 * MINUTE_MS), paid_at: fromNow(-MINUTE_MS), updated_at: fromNow(-MINUTE_MS), ...more },
});
const refund = (more: object) => ({ refunds: [{ refund_id: 'r', amount: '1.00', at: fromNow(-MINUTE_MS), ...more }] });

describe('a signed delivery of a generic store with values that cannot be stored', () => {
  it.each<[string, RegExp, object]>([
    ['an order id with a NUL', /order_id$/, { order_id: 'a\u0000b' }],
    ['an order id with half a character', /order_id$/, { order_id: 'a\ud800' }],
    ['a refund id with a NUL', /refund_id$/, refund({ refund_id: '\u0000' })],
    ['an amount past every integer', /amount$/, { amount: '999999999999999999' }],
    ['one in a currency of three decimals', /amount$/, { currency: 'KWD', amount: '99999999999999.999' }],
    ['an amount of more than ten billion dollars', /amount$/, { amount: '10000000000.01' }],
    ['a refund of more than ten billion dollars', /amount$/, refund({ amount: 10_000_000_000.01 })],
    ['an order placed at the end of days', /placed_at$/, { placed_at: '9999-12-31T23:59:59Z' }],
    ['one paid more than a day from now', /paid_at$/, { paid_at: fromNow(DAY_MS + 60 * MINUTE_MS) }],
    ['one cancelled in years', /cancelled_at$/, { cancelled_at: fromNow(900 * DAY_MS) }],
    ['a snapshot of the future', /updated_at$/, { updated_at: fromNow(2 * DAY_MS) }],
    ['an order before there were figures', /placed_at$/, { placed_at: '1970-01-01T00:00:00+00:01' }],
    ['a refund of the future', /at$/, refund({ at: fromNow(2 * DAY_MS) })],
  ])('is 422 naming the field, and changes nothing: %s', async (_what, field, wrong) => {
    const shop = await openShop('generic');
    const { status, body } = await shop.report('order.paid', order(shop, wrong));
    expect([status, body.code]).toEqual([422, 'VALIDATION_ERROR']);
    expect(body.details).toEqual([expect.objectContaining({ field: expect.stringMatching(field) })]);
    expect(await balancesOf(app.context, shop.brand)).toEqual({});
  });

  it('names the amount and the maximum', async () => {
    const shop = await openShop('generic');
    const { body } = await shop.report('order.paid', order(shop, { amount: '10000000000.01' }));
    expect(body.error).toContain('10000000000 USD');
    expect(body.error).toContain('10000000000.01');
  });

  it('is accepted from a store whose clock is some hours ahead', async () => {
    const shop = await openShop('generic');
    const ahead = fromNow(DAY_MS - MINUTE_MS);
    expect((await shop.report('order.paid', order(shop, { paid_at: ahead, updated_at: ahead }))).status).toBe(200);
    expect(await balancesOf(app.context, shop.brand)).toMatchObject({ sales: -10_000 });
  });
});

describe('an amount of another store that is more than an order may be', () => {
  it('fails in Shopify’s orders and refunds', async () => {
    const shop = await openShop('shopify');
    const id = orderNumber();
    const lines = Array.from({ length: 3 }, () => ({ price: '4000000000.00' }));
    const back = [{ subtotal: '10000000000.01' }];
    for (const [topic, body] of [
      ['orders/paid', shopifyOrder({ id, codes: [shop.assignment.code], lines })],
      ['refunds/create', shopifyRefund({ orderId: id, lines: back })],
    ] as const) {
      const { became } = await shop.report(topic, body);
      const message = expect.stringContaining('must be at most 10000000000 USD');
      expect(became).toMatchObject({ state: 'failed', reason: { field: 'amount', message } });
    }
  });

  it('fails in WooCommerce’s orders', async () => {
    const shop = await openShop('woocommerce');
    const codes = [shop.assignment.code.toLowerCase()];
    const { became } = await shop.report('order.updated', wooOrder({ codes, lines: ['10000000000.01'] }));
    const message = expect.stringContaining('must be at most 10000000000 USD');
    expect(became).toMatchObject({ state: 'failed', reason: { message } });
  });
});

describe('orders of the maximum amount', () => {
  it('are summed in every answer', async () => {
    const shop = await openShop('generic');
    for (let i = 0; i < 3; i += 1) {
      expect((await shop.report('order.paid', order(shop, { amount: '10000000000' }))).status).toBe(200);
    }
    await sync(app, shop.brand.id);
    const key = await shop.brand.key('brand');
    for (const path of ['analytics', 'affiliates/performance', 'affiliates/ledger', 'affiliates', 'creators']) {
      expect((await call(`${app.url}/v1/${path}`, key)).status, path).toBe(200);
    }
    const { body } = await call(`${app.url}/v1/affiliates/ledger`, key);
    const sold = { account: 'sales', currency: 'USD', balance_minor: -3_000_000_000_000 };
    expect(body.summary.balances).toContainEqual(sold);
  });
});
