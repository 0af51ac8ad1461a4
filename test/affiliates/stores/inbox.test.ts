import { createHmac } from 'node:crypto';
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  forgetStoreDeliveries,
  retryReconnectedStores,
} from '../../../src/affiliates/stores/deliveries/deliveries.jobs.ts';
import { foldBatch } from '../../../src/affiliates/stores/deliveries/fold.ts';
import { balancesOf } from '../../harness/affiliates/sales.ts';
import { openShop as openShopAt, type Shop } from '../../harness/affiliates/shop.ts';
import { orderNumber, shopifyOrder } from '../../harness/affiliates/shopify-order.ts';
import {
  connectTestStore,
  deliver,
  foldAll,
  newestDelivery,
  signedDelivery,
  WEBHOOK_SECRET,
} from '../../harness/affiliates/store.ts';
import { wooOrder } from '../../harness/affiliates/woo-order.ts';
import { call, makeBrand, send, startApp, type TestApp, unique, until } from '../../harness/app.ts';
import { makeDatabase, type TestDatabase } from '../../harness/database.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
let now = new Date();
const pass = (ms: number) => {
  now = new Date(now.getTime() + ms);
};

/** Deliveries of all brands are forgotten, by a clock that is ahead. */
let database: TestDatabase;
let app: TestApp;
const shops: Shop[] = [];
beforeAll(async () => {
  database = await makeDatabase('inbox');
  app = await startApp({ clock: { now: () => now }, urls: { postgres: database.url } });
});
afterAll(async () => {
  for (const { store } of shops) await store.close();
  await app?.close();
  await database?.drop();
});

async function openShop(provider: Shop['store']['provider']): Promise<Shop> {
  const shop = await openShopAt(app, provider);
  shops.push(shop);
  return shop;
}

const orderOf = ({ assignment }: Shop, more: object = {}) => {
  const at = new Date(now.getTime() - HOUR_MS).toISOString();
  const order = { order_id: unique('o'), currency: 'USD', amount: '100.00', codes: [assignment.code] };
  return { ...order, placed_at: at, paid_at: at, updated_at: at, ...more };
};

/** Stored, and not folded yet. */
async function post(shop: Shop, data: object, event = 'order.paid'): Promise<void> {
  const delivery = signedDelivery('generic', WEBHOOK_SECRET, event, data, now);
  const answer = await fetch(`${app.url}/ingest/generic/${shop.id}`, { method: 'POST', ...delivery });
  expect([answer.status, await answer.json()]).toEqual([200, { received: true }]);
}

const sold = (orders: number) => ({
  ...{ customers: 10_000 * orders, sales: -10_000 * orders },
  ...{ commission_expense: 1_000 * orders, commission_pending: -1_000 * orders },
});

async function statesOf(shop: Shop): Promise<Record<string, number>> {
  const { rows } = await sql<{ state: string; count: number }>`
    select state, count(*) as count from store_deliveries where integration_id = ${shop.id} group by state`.execute(
    app.context.postgres.db,
  );
  return Object.fromEntries(rows.map(({ state, count }) => [state, count]));
}

const fold = (shop: Shop, owner = 'a worker') => foldBatch(app.context, owner, shop.brand.id);

/** Holds the last lock that a fold takes, begins one, runs `meanwhile` once it waits there, and lets it go. */
async function heldBeforeCommit<T>(
  shop: Shop,
  begin: () => Promise<T>,
  meanwhile: (waiting: number) => Promise<void>,
): Promise<T | undefined> {
  const { db } = app.context.postgres;
  let begun: Promise<T> | undefined;
  await db.transaction().execute(async (trx) => {
    await sql`select from outbox_numbers where brand_id = ${shop.brand.id} for update`.execute(trx);
    begun = begin();
    const { rows } = await sql<{ pid: number }>`select pg_backend_pid() as pid`.execute(trx);
    const own = rows[0]?.pid ?? 0;
    let waiting: number | undefined;
    await until('the fold waits for its last lock', async () => {
      const blocked = await sql<{ pid: number }>`
        select pid from pg_stat_activity where ${own} = any(pg_blocking_pids(pid))`.execute(db);
      waiting = blocked.rows[0]?.pid;
      return waiting !== undefined;
    });
    await meanwhile(waiting ?? 0);
  });
  return await begun;
}

describe('A delivery that was acknowledged', () => {
  it('is recorded once by any worker that comes later', async () => {
    const shop = await openShop('generic');
    const order = orderOf(shop);
    await post(shop, order);
    await post(shop, order);
    expect(await balancesOf(app.context, shop.brand)).toEqual({});
    const later = await startApp({ clock: { now: () => now }, urls: { postgres: database.url } });
    await foldAll(later.context, shop.id);
    await later.close();
    expect(await statesOf(shop)).toEqual({ done: 2 });
    expect(await balancesOf(app.context, shop.brand)).toEqual(sold(1));
  });

  it('is neither lost nor doubled when its worker dies before the commit', async () => {
    const shop = await openShop('generic');
    for (let i = 0; i < 3; i += 1) await post(shop, orderOf(shop));
    const dying = () => fold(shop).catch((error: Error) => error);
    const died = await heldBeforeCommit(shop, dying, async (waiting) => {
      await sql`select pg_terminate_backend(${waiting})`.execute(app.context.postgres.db);
    });
    expect(died).toMatchObject({ code: 'SERVICE_UNAVAILABLE' });
    expect(await statesOf(shop)).toEqual({ waiting: 3 });
    expect(await balancesOf(app.context, shop.brand)).toEqual({});
    await foldAll(app.context, shop.id);
    expect(await statesOf(shop)).toEqual({ done: 3 });
    expect(await balancesOf(app.context, shop.brand)).toEqual(sold(3));
  });

  it('is recorded by one of two workers, even when the claim of the first has expired', async () => {
    const shop = await openShop('generic');
    for (let i = 0; i < 3; i += 1) await post(shop, orderOf(shop));
    let second: Promise<boolean> | undefined;
    const meanwhile = async () => {
      expect(await fold(shop, 'the second')).toBe(false);
      pass(HOUR_MS);
      second = fold(shop, 'the second');
    };
    await heldBeforeCommit(shop, () => fold(shop, 'the first'), meanwhile);
    await second;
    expect(await statesOf(shop)).toEqual({ done: 3 });
    expect(await balancesOf(app.context, shop.brand)).toEqual(sold(3));
  });

  it('is recorded even if the store is disconnected in the meantime, and the next delivery is refused at once', async () => {
    const shop = await openShop('generic');
    await post(shop, orderOf(shop));
    await send(`${app.url}/v1/affiliates/integrations/${shop.id}`, await shop.brand.key('brand'), 'DELETE');
    const delivery = signedDelivery('generic', WEBHOOK_SECRET, 'order.paid', orderOf(shop));
    expect((await deliver(app.url, 'generic', shop.id, delivery)).status).toBe(404);
    await foldAll(app.context, shop.id);
    expect(await balancesOf(app.context, shop.brand)).toEqual(sold(1));
  });

  it('must be signed with the current secret of the store', async () => {
    const shop = await openShop('generic');
    await post(shop, orderOf(shop));
    const { db } = app.context.postgres;
    const secrets = { token: shop.store.token, webhookSecret: 'another' };
    const sealed = app.context.secrets.seal(JSON.stringify(secrets), shop.id);
    await db.updateTable('integrations').set({ secrets: sealed }).where('id', '=', shop.id).execute();
    const statusUnder = async (secret: string) =>
      (await deliver(app.url, 'generic', shop.id, signedDelivery('generic', secret, 'order.paid', orderOf(shop))))
        .status;
    expect(await statusUnder(WEBHOOK_SECRET)).toBe(401);
    expect(await statusUnder('another')).toBe(200);
  });

  it('does not block others when it cannot be recorded', async () => {
    const shop = await openShop('generic');
    const first = orderOf(shop);
    await post(shop, first);
    pass(1);
    await post(shop, { ...first, currency: 'JPY', amount: '9000' });
    await post(shop, orderOf(shop));
    await fold(shop);
    expect(await statesOf(shop)).toEqual({ done: 2, failed: 1 });
    expect(await balancesOf(app.context, shop.brand)).toEqual(sold(2));
  });

  it('is sealed: the table shows neither its body nor its signature', async () => {
    const shop = await openShop('shopify');
    const email = `${unique('someone')}@private.example`;
    const delivery = signedDelivery('shopify', WEBHOOK_SECRET, 'orders/paid', shopifyOrder({ email }));
    await deliver(app.url, 'shopify', shop.id, delivery);
    const { rows } = await sql<{ row: string; body: Buffer }>`
      select store_deliveries::text as row, body from store_deliveries where integration_id = ${shop.id}`.execute(
      app.context.postgres.db,
    );
    const [stored] = rows;
    expect(stored?.body.length).toBeGreaterThan(delivery.body.length);
    expect(stored?.body.includes(email)).toBe(false);
    expect(stored?.row).not.toContain(email);
    expect(stored?.row).toContain('orders/paid');
    expect(stored?.row).not.toContain(delivery.headers['x-shopify-hmac-sha256']);
  });

  it('is listed as failed when it is not text', async () => {
    const shop = await openShop('shopify');
    const body = Buffer.from([0xff, 0xfe, 0x00]);
    const signature = createHmac('sha256', WEBHOOK_SECRET).update(body).digest('base64');
    const headers = { 'content-type': 'application/json', 'x-shopify-hmac-sha256': signature };
    const answer = await fetch(`${app.url}/ingest/shopify/${shop.id}`, { method: 'POST', headers, body });
    expect(answer.status).toBe(200);
    await foldAll(app.context, shop.id);
    const reason = { field: 'body', code: 'invalid_json', message: 'is not UTF-8.' };
    expect(await newestDelivery(app.context, shop.id)).toMatchObject({ state: 'failed', reason });
  });

  it('is removed 30 days later', async () => {
    const shop = await openShop('generic');
    await post(shop, orderOf(shop));
    await foldAll(app.context, shop.id);
    const begun = now;
    pass(29 * DAY_MS);
    await forgetStoreDeliveries.run(app.context);
    expect(await statesOf(shop)).toEqual({ done: 1 });
    pass(2 * DAY_MS);
    await forgetStoreDeliveries.run(app.context);
    expect(await statesOf(shop)).toEqual({});
    now = begun;
  });
});

describe('A delivery for which the store has to be called', () => {
  const refunded = (shop: Shop) => {
    const id = orderNumber();
    const paidAt = new Date(now.getTime() - HOUR_MS).toISOString().slice(0, 19);
    shop.store.refunds.set(String(id), [
      { id: 5, date_created_gmt: paidAt, amount: '55.00', line_items: [{ total: '-50.00' }] },
    ]);
    const order = { id, codes: [shop.assignment.code], paidAt, modifiedAt: paidAt, total: '110.00' };
    return wooOrder({ ...order, refunds: [{ id: 5, total: '-55.00' }] });
  };

  it('is retried for a day, then listed as failed, and recorded when its brand retries it', async () => {
    const shop = await openShop('woocommerce');
    shop.store.failWith = 500;
    const { became } = await shop.report('order.updated', refunded(shop));
    expect(became).toMatchObject({ state: 'waiting', attempts: 1, reason: { code: 'store_unavailable', field: null } });
    const begun = now.getTime();
    let last = became;
    for (let tries = 0; tries < 40 && last?.state === 'waiting'; tries += 1) {
      now = new Date(last.next_attempt_at ?? '');
      await foldAll(app.context, shop.id);
      last = await newestDelivery(app.context, shop.id);
    }
    expect(last?.state).toBe('failed');
    expect((now.getTime() - begun) / HOUR_MS).toBeCloseTo(24, 0);
    const key = await shop.brand.key('brand');
    const url = `${app.url}/v1/affiliates/integrations/${shop.id}`;
    expect((await call(url, key)).body.data.webhook_health).toMatchObject({ status: 'failing', failures_24h: 1 });
    const [listed] = (await call(`${url}/deliveries?state=failed`, key)).body.data;
    expect(listed).toEqual({
      ...{ id: last?.id, received_at: new Date(begun).toISOString(), topic: 'order.updated', state: 'failed' },
      ...{ attempts: 31, next_attempt_at: null, notes: [], order_id: expect.any(String) },
      reason: { code: 'store_unavailable', field: null, message: 'The store is unavailable. It answered 500.' },
    });
    shop.store.failWith = undefined;
    const retry = () => send(`${url}/deliveries/${listed.id}/retry`, key, 'POST');
    expect((await retry()).body.data).toMatchObject({ state: 'waiting', attempts: 0 });
    await foldAll(app.context, shop.id);
    expect(await balancesOf(app.context, shop.brand)).toMatchObject({ sales_refunds: 5_000, commission_pending: -500 });
    const { status, body } = await retry();
    expect([status, body.data]).toMatchObject([200, { id: listed.id, state: 'done', attempts: 1, reason: null }]);
    expect((await call(url, key)).body.data.webhook_health.status).toBe('ok');
  });

  it('is recorded once a store that refused its token is connected again', async () => {
    const shop = await openShop('woocommerce');
    shop.store.failWith = 401;
    const { became } = await shop.report('order.updated', refunded(shop));
    expect(became).toMatchObject({ state: 'waiting', reason: { code: 'reauth_required' } });
    shop.store.failWith = undefined;
    pass(1_000);
    await retryReconnectedStores.run(app.context);
    await foldAll(app.context, shop.id);
    expect(await statesOf(shop)).toEqual({ waiting: 1 });
    expect(await connectTestStore(app.context, shop.brand.id, shop.store)).toBe(shop.id);
    await retryReconnectedStores.run(app.context);
    await foldAll(app.context, shop.id);
    expect(await statesOf(shop)).toEqual({ done: 1 });
    expect(await balancesOf(app.context, shop.brand)).toMatchObject({ sales_refunds: 5_000 });
  });

  it('blocks neither complete deliveries nor other stores, and all are recorded when the store answers', async () => {
    const shop = await openShop('woocommerce');
    shop.store.failWith = 500;
    for (let i = 0; i < 12; i += 1) {
      const delivery = signedDelivery('woocommerce', WEBHOOK_SECRET, 'order.updated', refunded(shop));
      await fetch(`${app.url}/ingest/woocommerce/${shop.id}`, { method: 'POST', ...delivery });
    }
    const paidAt = new Date(now.getTime() - HOUR_MS).toISOString().slice(0, 19);
    const order = wooOrder({ id: orderNumber(), codes: [shop.assignment.code], paidAt });
    pass(1);
    expect((await shop.report('order.updated', order)).became).toMatchObject({ state: 'done' });
    expect(await statesOf(shop)).toEqual({ waiting: 12, done: 1 });
    expect(shop.store.requests.filter((one) => one.includes('/refunds')).length).toBeLessThan(12);
    shop.store.failWith = undefined;
    pass(11_000);
    await foldAll(app.context, shop.id);
    expect(await statesOf(shop)).toEqual({ done: 13 });
  });
});

describe('The list of a store’s deliveries', () => {
  it('belongs to its brand: others find neither the list nor a delivery', async () => {
    const shop = await openShop('shopify');
    await shop.report('orders/paid', shopifyOrder({ lines: [{ price: 'much' }] }));
    const key = await shop.brand.key('brand');
    const other = await connectTestStore(app.context, shop.brand.id, (await openShop('shopify')).store);
    const [{ id }] = (await call(`${app.url}/v1/affiliates/integrations/${shop.id}/deliveries`, key)).body.data;
    const stranger = await (await makeBrand(app.context)).key('brand');
    const statusOf = async (store: string, by: string) => {
      const url = `${app.url}/v1/affiliates/integrations/${store}/deliveries`;
      return [(await call(url, by)).status, (await send(`${url}/${id}/retry`, by, 'POST')).status];
    };
    expect(await statusOf(shop.id, stranger)).toEqual([404, 404]);
    expect(await statusOf(other, key)).toEqual([200, 404]);
    expect(await statesOf(shop)).toEqual({ failed: 1 });
    expect(await statusOf(shop.id, key)).toEqual([200, 200]);
    expect(await statesOf(shop)).toEqual({ waiting: 1 });
  });

  it('shows the newest first, by state, and never a body', async () => {
    const shop = await openShop('shopify');
    const email = `${unique('someone')}@private.example`;
    await shop.report('orders/paid', shopifyOrder({ email }));
    pass(1_000);
    await shop.report('orders/paid', shopifyOrder({ email, lines: [{ price: 'much' }] }));
    pass(1_000);
    await shop.report('carts/update', {});
    const key = await shop.brand.key('brand');
    const list = async (query = '') =>
      (await call(`${app.url}/v1/affiliates/integrations/${shop.id}/deliveries${query}`, key)).body;
    const all = await list();
    expect(JSON.stringify(all)).not.toContain(email);
    expect(all.data.map(({ state }: { state: string }) => state)).toEqual(['ignored', 'failed', 'done']);
    const failed = await list('?state=failed');
    expect(failed.data.map(({ topic }: { topic: string }) => topic)).toEqual(['orders/paid']);
    expect((await list('?state=lost')).details).toMatchObject([{ field: 'state' }]);
  });
});
