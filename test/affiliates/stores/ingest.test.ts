import { createHmac } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { PROVIDERS } from '../../../src/affiliates/stores/formats/provider.ts';
import { balancesOf } from '../../harness/affiliates/sales.ts';
import { openShop as openShopAt, type Shop } from '../../harness/affiliates/shop.ts';
import { orderNumber, shopifyOrder, shopifyRefund } from '../../harness/affiliates/shopify-order.ts';
import { deliver, inEveryOrder, signedDelivery, WEBHOOK_SECRET } from '../../harness/affiliates/store.ts';
import { wooOrder } from '../../harness/affiliates/woo-order.ts';
import { call, send, startApp, type TestApp, unique } from '../../harness/app.ts';
import { someAddress } from '../../harness/workflow/applying.ts';

type Provider = (typeof PROVIDERS)[number];

let app: TestApp;

beforeAll(async () => {
  app = await startApp({ env: { TRUSTED_PROXIES: '127.0.0.1' } });
});
afterAll(async () => {
  for (const { store } of shops) await store.close();
  await app?.close();
});

const shops: Shop[] = [];
async function openShop(provider: Provider): Promise<Shop> {
  const shop = await openShopAt(app, provider);
  shops.push(shop);
  return shop;
}

async function read({ brand, id }: Shop) {
  return (await call(`${app.url}/v1/affiliates/integrations/${id}`, await brand.key('brand'))).body.data;
}

const paidOrder = (provider: Provider, code: string) => {
  const now = new Date();
  if (provider === 'shopify') return ['orders/paid', shopifyOrder({ codes: [code] })] as const;
  if (provider === 'woocommerce') {
    const order = wooOrder({ id: orderNumber(), codes: [code.toLowerCase()], paidAt: now.toISOString().slice(0, 19) });
    return ['order.updated', order] as const;
  }
  const times = { placed_at: now.toISOString(), paid_at: now.toISOString(), updated_at: now.toISOString() };
  return ['order.paid', { order_id: unique('o'), currency: 'USD', amount: 100, codes: [code], ...times }] as const;
};

const SALE = { customers: 10_000, sales: -10_000, commission_expense: 1_000, commission_pending: -1_000 };

describe.each(PROVIDERS)('a paid order of %s', (provider) => {
  it('becomes a sale with its commission, outside the API’s limits', async () => {
    const shop = await openShop(provider);
    const [topic, order] = paidOrder(provider, shop.assignment.code);
    const { status, body, headers } = await shop.report(topic, order);
    expect([status, body]).toEqual([200, { received: true }]);
    expect([...headers.keys()].filter((name) => name.startsWith('x-ratelimit'))).toEqual([]);
    expect(await balancesOf(app.context, shop.brand)).toEqual(SALE);
    const { webhook_health, last_sync_at, referral_tracking } = await read(shop);
    const none = { failures_24h: 0, forged_24h: 0 };
    expect(webhook_health).toEqual({ status: 'ok', last_received_at: expect.any(String), ...none });
    expect(last_sync_at >= webhook_health.last_received_at).toBe(true);
    expect(referral_tracking).toEqual({ ready: true, missing: [], status: 'never_seen', click_share: 0 });
  });

  it('is recorded as one sale when it is delivered many times, even at once', async () => {
    const shop = await openShop(provider);
    const [topic, order] = paidOrder(provider, shop.assignment.code);
    const answers = await Promise.all(Array.from({ length: 6 }, () => shop.report(topic, order)));
    expect(answers.map(({ status }) => status)).toEqual(Array(6).fill(200));
    expect((await shop.report(topic, order)).status).toBe(200);
    expect(await balancesOf(app.context, shop.brand)).toEqual(SALE);
  });

  it('under a wrong signature or another integration’s secret is 401, changes nothing and is counted', async () => {
    const shop = await openShop(provider);
    const [topic, order] = paidOrder(provider, shop.assignment.code);
    const wrong = signedDelivery(provider, 'another secret', topic, order);
    const right = signedDelivery(provider, WEBHOOK_SECRET, topic, order);
    const unsigned = { headers: { 'content-type': 'application/json' }, body: right.body };
    for (const delivery of [wrong, unsigned, { ...right, body: `${right.body} ` }]) {
      const { status, body } = await deliver(app.url, provider, shop.id, delivery);
      expect([status, body.code]).toEqual([401, 'INVALID_SIGNATURE']);
      expect(body.request_id).toMatch(/^req_/);
    }
    expect(await balancesOf(app.context, shop.brand)).toEqual({});
    const health = { status: 'silent', last_received_at: null, failures_24h: 0, forged_24h: 3 };
    expect((await read(shop)).webhook_health).toEqual(health);
  });

  it('that is not what the store documents is counted, with a reason that names the field', async () => {
    const shop = await openShop(provider);
    const [topic, order] = paidOrder(provider, shop.assignment.code);
    const { status, body, became } = await shop.report(topic, { ...order, currency: 'XXQ' });
    if (provider === 'generic') {
      expect([status, body.code, body.details]).toMatchObject([422, 'VALIDATION_ERROR', [{ field: 'data.currency' }]]);
      expect((await read(shop)).webhook_health).toMatchObject({ status: 'failing', failures_24h: 1 });
      return;
    }
    expect([status, body]).toEqual([200, { received: true }]);
    expect(became).toMatchObject({ state: 'failed', attempts: 1, topic, order_id: expect.any(String) });
    expect(became?.reason?.field).toMatch(/currency$/);
    expect(became?.reason?.message).toContain('XXQ');
    expect((await read(shop)).webhook_health).toMatchObject({ status: 'failing', failures_24h: 1 });
  });

  it('that is first unreadable and then valid leaves the store healthy at once, and stays counted', async () => {
    const shop = await openShop(provider);
    const [topic, order] = paidOrder(provider, shop.assignment.code);
    expect((await shop.report(topic, order)).status).toBe(200);
    await shop.report(topic, { ...order, currency: 'XXQ' });
    expect((await read(shop)).webhook_health.status).toBe('failing');
    expect((await shop.report(topic, order)).status).toBe(200);
    expect((await read(shop)).webhook_health).toMatchObject({ status: 'ok', failures_24h: 1, forged_24h: 0 });
  });

  it('for an integration that is unknown, of another kind or disconnected is 404', async () => {
    const shop = await openShop(provider);
    const [topic, order] = paidOrder(provider, shop.assignment.code);
    const delivery = signedDelivery(provider, WEBHOOK_SECRET, topic, order);
    const statusOf = async (kind: Provider, id: string) => {
      const { status, body } = await deliver(app.url, kind, id, delivery);
      return [status, body.code];
    };
    expect(await statusOf(provider, 'int_none')).toEqual([404, 'NOT_FOUND']);
    expect(await statusOf(provider, "'; drop table")).toEqual([404, 'NOT_FOUND']);
    for (const other of PROVIDERS) if (other !== provider) expect((await statusOf(other, shop.id))[0]).toBe(404);
    await send(`${app.url}/v1/affiliates/integrations/${shop.id}`, await shop.brand.key('brand'), 'DELETE');
    expect(await statusOf(provider, shop.id)).toEqual([404, 'NOT_FOUND']);
    expect(await balancesOf(app.context, shop.brand)).toEqual({});
  });

  it('is accepted and ignored when its topic is not about orders', async () => {
    const shop = await openShop(provider);
    expect((await shop.report('products/update', {})).status).toBe(200);
    expect(await read(shop)).toMatchObject({ last_sync_at: null, webhook_health: { status: 'ok' } });
  });
});

describe('Deliveries of one order', () => {
  const at = (minute: number) => new Date(Date.UTC(2026, 4, 1, 10, minute));

  it('end the same in whichever order they come', async () => {
    const shop = await openShop('shopify');
    let sales = 0;
    for (const sequence of inEveryOrder([0, 1, 2, 3])) {
      const id = orderNumber();
      const refund = shopifyRefund({ id: 1, orderId: id, lines: [{ subtotal: '25.00', tax: '2.00' }], at: at(3) });
      const order = { id, codes: [shop.assignment.code], at: at(0) };
      const deliveries = [
        ['orders/create', shopifyOrder({ ...order, status: 'pending' })],
        ['orders/paid', shopifyOrder({ ...order, updatedAt: at(1) })],
        ['refunds/create', refund],
        [
          'orders/updated',
          shopifyOrder({ ...order, updatedAt: at(4), status: 'partially_refunded', refunds: [refund] }),
        ],
      ] as const;
      for (const i of sequence) {
        const delivery = deliveries[i];
        if (delivery) expect((await shop.report(delivery[0], delivery[1])).status).toBe(200);
      }
      sales += 1;
      expect(await balancesOf(app.context, shop.brand), sequence.join()).toEqual({
        customers: 7_500 * sales,
        sales: -10_000 * sales,
        sales_refunds: 2_500 * sales,
        commission_expense: 750 * sales,
        commission_pending: -750 * sales,
      });
    }
  });

  it('a cancellation takes back what was left', async () => {
    const shop = await openShop('shopify');
    const order = { id: orderNumber(), codes: [shop.assignment.code], at: at(0) };
    await shop.report('orders/create', shopifyOrder(order));
    await shop.report('orders/cancelled', shopifyOrder({ ...order, updatedAt: at(5), cancelledAt: at(5) }));
    const balances = await balancesOf(app.context, shop.brand);
    expect(balances).toEqual({ sales: -10_000, sales_refunds: 10_000 });
  });

  it('a refund of WooCommerce waits until the store, which must accept the token, reports its goods', async () => {
    const shop = await openShop('woocommerce');
    const id = orderNumber();
    const paid = { id, codes: [shop.assignment.code], paidAt: '2026-05-01T10:00:00', total: '110.00' };
    const order = wooOrder({ ...paid, refunds: [{ id: 5, total: '-55.00' }] });
    shop.store.refunds.set(String(id), [
      { id: 5, date_created_gmt: '2026-05-02T10:00:00', amount: '55.00', line_items: [{ total: '-50.00' }] },
    ]);
    for (const [status, state, code] of [
      [500, 'connected', 'store_unavailable'],
      [401, 'reauth_required', 'reauth_required'],
    ] as const) {
      shop.store.failWith = status;
      const { became } = await shop.report('order.updated', order);
      expect(became).toMatchObject({ state: 'waiting', reason: { code }, next_attempt_at: expect.any(String) });
      expect((await read(shop)).status).toBe(state);
    }
    expect(await balancesOf(app.context, shop.brand)).toEqual({});
    expect((await read(shop)).webhook_health.failures_24h).toBe(0);
    // Postponed, so that a slow machine does not process the waiting delivery together with the next one.
    const later = { nextAttemptAt: new Date(Date.now() + 3_600_000) };
    const waiting = app.context.postgres.db.updateTable('storeDeliveries').set(later).where('state', '=', 'waiting');
    await waiting.where('integrationId', '=', shop.id).execute();
    shop.store.failWith = undefined;
    expect((await shop.report('order.created', wooOrder({ id: orderNumber() }))).status).toBe(200);
    expect((await read(shop)).status, 'a delivery that asks nothing').toBe('reauth_required');
    expect((await shop.report('order.updated', order)).status).toBe(200);
    expect(await balancesOf(app.context, shop.brand)).toMatchObject({ sales_refunds: 5_000, commission_pending: -500 });
    expect((await read(shop)).status).toBe('connected');
  });
});

describe('The address for deliveries', () => {
  const textBody = (body: string, type = 'application/json') => ({ headers: { 'content-type': type }, body });

  it('keeps ids exact that JavaScript would round, such as that of Shopify’s own test notification', async () => {
    const shop = await openShop('shopify');
    const key = await shop.brand.key('brand');
    for (const id of ['820982911946154508', '820982911946154509']) {
      const body = JSON.stringify(shopifyOrder({ id: 12_345 })).replace('"id":12345', `"id":${id}`);
      const signature = createHmac('sha256', WEBHOOK_SECRET).update(body).digest('base64');
      const headers = { 'x-shopify-topic': 'orders/paid', 'x-shopify-hmac-sha256': signature };
      const delivery = { body, headers: { 'content-type': 'application/json', ...headers } };
      expect((await deliver(app.url, 'shopify', shop.id, delivery)).status).toBe(200);
      const { body: explained } = await call(`${app.url}/v1/affiliates/explain?order_id=${id}`, key);
      expect(explained.data).toMatchObject({ order_id: id, attributed: false });
    }
  });

  it('answers WooCommerce’s unsigned ping and records nothing', async () => {
    const shop = await openShop('woocommerce');
    const ping = textBody('webhook_id=12', 'application/x-www-form-urlencoded');
    expect((await deliver(app.url, 'woocommerce', shop.id, ping)).status).toBe(200);
    expect((await deliver(app.url, 'woocommerce', 'int_none', ping)).status).toBe(404);
    expect((await deliver(app.url, 'shopify', (await openShop('shopify')).id, ping)).status).toBe(401);
    const health = { status: 'silent', last_received_at: null, failures_24h: 0, forged_24h: 0 };
    expect((await read(shop)).webhook_health).toEqual(health);
  });

  it('refuses and counts bodies that are too large, and signed bodies of a generic store that are not JSON', async () => {
    const shop = await openShop('generic');
    const signature = createHmac('sha256', WEBHOOK_SECRET).update('{').digest('hex');
    const broken = { ...textBody('{'), headers: { 'x-service-signature': `sha256=${signature}` } };
    const { status, body } = await deliver(app.url, 'generic', shop.id, broken);
    expect([status, body.details]).toEqual([422, [{ field: 'body', code: 'invalid_json', message: 'is not JSON.' }]]);
    const large = await deliver(app.url, 'generic', shop.id, textBody(' '.repeat(4 * 1024 * 1024 + 1)));
    expect([large.status, large.body.code]).toEqual([413, 'PAYLOAD_TOO_LARGE']);
    expect((await read(shop)).webhook_health).toMatchObject({ status: 'failing', failures_24h: 1, forged_24h: 1 });
  });

  it('limits the invalid deliveries of an address, never the valid ones', async () => {
    const shop = await openShop('generic');
    const [topic, order] = paidOrder('generic', shop.assignment.code);
    const from = { 'x-forwarded-for': someAddress() };
    const statusOf = async (secret: string) => {
      const { headers, body } = signedDelivery('generic', secret, topic, order);
      return (await deliver(app.url, 'generic', shop.id, { headers: { ...headers, ...from }, body })).status;
    };
    const wrong = await Promise.all(Array.from({ length: 70 }, () => statusOf('wrong')));
    expect([wrong.filter((one) => one === 401).length, wrong.filter((one) => one === 429).length]).toEqual([60, 10]);
    expect(await statusOf(WEBHOOK_SECRET)).toBe(200);
    expect((await read(shop)).webhook_health).toMatchObject({ status: 'ok', failures_24h: 0, forged_24h: 60 });
  });

  it('answers 503 without PostgreSQL, so that the store sends the delivery again', async () => {
    const down = await startApp({ urls: { postgres: 'postgres://127.0.0.1:9/x' } });
    const { status, body } = await deliver(
      down.url,
      'shopify',
      'int_x',
      signedDelivery('shopify', 's', 'orders/paid', {}),
    );
    expect([status, body.code]).toEqual([503, 'SERVICE_UNAVAILABLE']);
    await down.close();
  });

  it('neither returns nor stores a secret or a customer’s email address in the clear', async () => {
    const shop = await openShop('shopify');
    const email = `${unique('someone')}@private.example`;
    await shop.report('orders/paid', shopifyOrder({ codes: [shop.assignment.code], email }));
    const { db } = app.context.postgres;
    const rows = await db.selectFrom('orders').selectAll().where('brandId', '=', shop.brand.id).execute();
    expect(rows).toHaveLength(1);
    expect(JSON.stringify(rows)).not.toContain(email);
  });
});
