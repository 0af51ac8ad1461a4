import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { updateAccessStatus } from '../../../src/affiliates/stores/connections/connections.ts';
import { sweepStores } from '../../../src/affiliates/stores/sweeps/sweeps.jobs.ts';
import { daysAgo } from '../../harness/affiliates/sales.ts';
import { openShop, type Shop } from '../../harness/affiliates/shop.ts';
import { orderNumber, shopifyOrder, shopifyRefund } from '../../harness/affiliates/shopify-order.ts';
import { scheduleSweep } from '../../harness/affiliates/store.ts';
import { wooOrder } from '../../harness/affiliates/woo-order.ts';
import { call, startApp, type TestApp, until } from '../../harness/app.ts';
import { makeDatabase, type TestDatabase } from '../../harness/database.ts';
import { mailsOf } from '../../harness/kit/mail.ts';

const MINUTE_MS = 60_000;

let database: TestDatabase;
let app: TestApp;
let nowMs = Math.floor(Date.now() / 1_000) * 1_000;
const now = () => new Date(nowMs);
const gmt = (time: Date) => time.toISOString().slice(0, 19);

/** Moves the clock, and sweeps what is due by then. */
async function pass(minutes: number): Promise<void> {
  nowMs += minutes * MINUTE_MS;
  await sweepStores.run(app.context);
}

beforeAll(async () => {
  database = await makeDatabase('sweeps');
  app = await startApp({ clock: { now }, urls: { postgres: database.url } });
});

afterAll(async () => {
  await app?.close();
  await database?.drop();
});

// Stores of earlier tests are left alone.
beforeEach(async () => {
  await app.context.postgres.db.updateTable('integrations').set({ sweepAt: null }).execute();
});

async function open(provider: Parameters<typeof openShop>[1]): Promise<Shop> {
  const shop = await openShop(app, provider);
  shop.store.access.now = now;
  await scheduleSweep(app.context, shop.id, now());
  return shop;
}

/** What the ledger knows of a brand's orders, by their id at the store. */
async function known({ brand }: Shop) {
  const rows = await app.context.postgres.db
    .selectFrom('orders')
    .leftJoin('commissions', 'commissions.orderId', 'orders.id')
    .select(['orders.orderId', 'baseMinor', 'commissionMinor', 'refundedMinor'])
    .where('orders.brandId', '=', brand.id)
    .orderBy('orders.orderId')
    .execute();
  return rows.map(({ orderId, baseMinor, commissionMinor, refundedMinor }) => ({
    ...{ orderId, baseMinor, commissionMinor, refundedMinor },
  }));
}

async function health({ brand, id }: Shop) {
  const { body } = await call(`${app.url}/v1/affiliates/integrations/${id}`, await brand.key('brand'));
  return body.data;
}

const sold = (shop: Shop, time: Date, more: Parameters<typeof shopifyOrder>[0] = {}) =>
  shopifyOrder({ at: time, codes: [shop.assignment.code], ...more });

function put({ store }: Shop, ...bodies: { id: number }[]): void {
  for (const body of bodies) store.orders.set(String(body.id), body);
}

describe('a sweep of Shopify', () => {
  it('records orders of the last 60 days at once after connecting, refunds and edits included', async () => {
    const shop = await open('shopify');
    const id = orderNumber();
    const refund = shopifyRefund({ lines: [{ subtotal: '20.00' }], at: daysAgo(2, now()) });
    put(
      shop,
      sold(shop, daysAgo(3, now()), { id, lines: [{ price: '100.00', discounts: ['10.00'] }], refunds: [refund] }),
      sold(shop, daysAgo(61, now())),
    );
    await pass(0);
    expect(await known(shop)).toEqual([
      { orderId: String(id), baseMinor: 9_000, commissionMinor: 700, refundedMinor: 2_000 },
    ]);
    expect((await health(shop)).webhook_health.status).toBe('ok');
  });

  it('requests smaller pages than the query limit, and waits if the shop throttles it', async () => {
    const shop = await open('shopify');
    shop.store.listing.points = { left: 1_000, most: 1_000, aSecond: 10, asOf: nowMs };
    for (let i = 0; i < 120; i += 1) put(shop, sold(shop, daysAgo(i / 4, now()), { email: `c${i}@shop.example` }));
    await pass(0);
    const first = (await known(shop)).length;
    expect(first).toBeGreaterThan(0);
    expect(first).toBeLessThan(120);
    for (let i = 0; i < 12; i += 1) await pass(1);
    expect(await known(shop)).toHaveLength(120);
  });

  it('reads all lines of orders and refunds that have more than one page', async () => {
    const shop = await open('shopify');
    const lines = Array.from({ length: 75 }, () => ({ price: '1.00' }));
    const refund = shopifyRefund({ lines: Array.from({ length: 30 }, () => ({ subtotal: '1.00' })) });
    put(shop, sold(shop, daysAgo(1, now()), { lines, refunds: [{ ...refund, created_at: now().toISOString() }] }));
    await pass(0);
    expect(await known(shop)).toMatchObject([{ baseMinor: 7_500, refundedMinor: 3_000 }]);
  });

  it('reads orders whose email address the token may not see', async () => {
    const shop = await open('shopify');
    shop.store.listing.isWithoutEmails = true;
    put(shop, sold(shop, daysAgo(1, now())));
    await pass(0);
    expect(await known(shop)).toHaveLength(1);
    expect((await health(shop)).status).toBe('connected');
  });

  it('runs again at the time that a busy shop requested', async () => {
    const shop = await open('shopify');
    put(shop, sold(shop, daysAgo(1, now())));
    shop.store.listing.busy.push({ 'retry-after': '120.0' });
    await pass(0);
    await pass(1);
    expect(await known(shop)).toEqual([]);
    await pass(1);
    expect(await known(shop)).toHaveLength(1);
  });
});

describe('a sweep of WooCommerce', () => {
  const order = (shop: Shop, id: number, modified: Date, more: Parameters<typeof wooOrder>[0] = {}) => ({
    ...wooOrder({ id, codes: [shop.assignment.code], paidAt: gmt(modified), modifiedAt: gmt(modified), ...more }),
    date_created_gmt: gmt(daysAgo(30, now())),
  });

  it('reads every page, also where a hundred orders changed in the same second and others change meanwhile', async () => {
    const shop = await open('woocommerce');
    const second = (count: number) => new Date(daysAgo(3, now()).getTime() + Math.min(count, 130) * 1_000);
    for (let id = 1; id <= 250; id += 1) put(shop, order(shop, id, second(id)));
    let lists = 0;
    shop.store.gate = async (path) => {
      if (!path.includes('/orders?')) return;
      lists += 1;
      // It leaves the page that is on its way, and all that follow move up by one.
      if (lists === 1) put(shop, order(shop, 50, daysAgo(1, now())));
    };
    await pass(0);
    expect(await known(shop)).toHaveLength(250);
    expect(lists).toBeGreaterThan(3);
  });

  it('requests the refunds of an order, and counts orders in the trash as cancelled', async () => {
    const shop = await open('woocommerce');
    put(shop, order(shop, 1, daysAgo(2, now()), { refunds: [{ id: 9, total: '-40.00' }] }));
    put(shop, order(shop, 2, daysAgo(2, now()), { status: 'trash' }));
    const line = { id: 1, name: 'Woo', quantity: -1, total: '-40.00', total_tax: '0.00' };
    shop.store.refunds.set('1', [
      { id: 9, date_created_gmt: gmt(daysAgo(2, now())), amount: '40.00', line_items: [line] },
    ]);
    await pass(0);
    expect(await known(shop)).toMatchObject([
      { orderId: '1', refundedMinor: 4_000, commissionMinor: 600 },
      { orderId: '2', commissionMinor: 0 },
    ]);
  });

  it('continues after an order that cannot be read', async () => {
    const shop = await open('woocommerce');
    const odd = { ...order(shop, 1, daysAgo(3, now())), currency: 'no currency' };
    put(shop, odd, order(shop, 2, daysAgo(2, now())));
    await pass(0);
    expect(await known(shop)).toMatchObject([{ orderId: '2' }]);
  });
});

describe('a sweep of a generic store', () => {
  const order = (shop: Shop, id: string, updated: Date) => ({
    ...{ order_id: id, currency: 'USD', amount: '50.00', codes: [shop.assignment.code] },
    placed_at: daysAgo(5, now()).toISOString(),
    paid_at: daysAgo(5, now()).toISOString(),
    updated_at: updated.toISOString(),
  });

  it('reads a store with a list of orders, page by page', async () => {
    const shop = await open('generic');
    for (let i = 0; i < 120; i += 1) shop.store.orders.set(`o${i}`, order(shop, `o${i}`, daysAgo(4, now())));
    await pass(0);
    expect(await known(shop)).toHaveLength(120);
  });

  it('does not query a store without a list of orders', async () => {
    const shop = await open('generic');
    shop.store.listing.isServed = false;
    await pass(0);
    await pass(30);
    expect(shop.store.requests.filter((line) => line.startsWith('GET /orders'))).toHaveLength(1);
    expect(await health(shop)).toMatchObject({ last_swept_at: null, webhook_health: { status: 'silent' } });
  });
});

describe('a sweep that is disturbed', () => {
  const order = (shop: Shop, id: string) => ({
    ...{ order_id: id, currency: 'USD', amount: '50.00', codes: [shop.assignment.code] },
    placed_at: daysAgo(5, now()).toISOString(),
    paid_at: daysAgo(5, now()).toISOString(),
    updated_at: daysAgo(4, now()).toISOString(),
  });
  const lists = ({ store }: Shop) => store.requests.filter((line) => line.startsWith('GET /orders'));

  async function withOrders(count: number): Promise<Shop> {
    const shop = await open('generic');
    for (let i = 0; i < count; i += 1) shop.store.orders.set(`o${i}`, order(shop, `o${i}`));
    return shop;
  }

  it('continues within a minute at the page at which its worker was killed', async () => {
    const shop = await withOrders(120);
    const killed = await startApp({ clock: { now }, urls: { postgres: database.url } });
    let release = () => {};
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    shop.store.gate = async (path) => (path.includes('cursor=50') ? await held : undefined);
    const sweeping = sweepStores.run(killed.context).catch(() => 'killed');
    await until('the second page', () => lists(shop).length === 2);
    await killed.context.postgres.db.destroy();
    shop.store.gate = undefined;
    release();
    expect(await sweeping).toBe('killed');
    expect(await known(shop)).toHaveLength(50);
    // Its claim runs out after ten seconds without a word.
    await pass(9 / 60);
    expect(lists(shop)).toHaveLength(2);
    await pass(2 / 60);
    expect(await known(shop)).toHaveLength(120);
    expect(lists(shop).filter((line) => !line.includes('cursor='))).toHaveLength(1);
    await killed.close().catch(() => undefined);
  });

  it('does not wait for twelve stores that do not answer', async () => {
    const slow = await Promise.all(Array.from({ length: 12 }, () => withOrders(1)));
    const shop = await withOrders(3);
    const answer = Promise.withResolvers<void>();
    for (const { store, id } of slow) {
      store.gate = async (path) => (path.startsWith('/orders') ? await answer.promise : undefined);
      await scheduleSweep(app.context, id, new Date(nowMs - 1_000));
    }
    const sweeping = sweepStores.run(app.context);
    await until('the orders of the other store', async () => (await known(shop)).length === 3);
    expect(await Promise.all(slow.map(known))).toEqual(slow.map(() => []));
    answer.resolve();
    await sweeping;
    expect(await Promise.all(slow.map(known))).toEqual(slow.map(() => [expect.anything()]));
  });

  it('runs in one worker at a time', async () => {
    const shop = await withOrders(10);
    await Promise.all([sweepStores.run(app.context), sweepStores.run(app.context), sweepStores.run(app.context)]);
    expect(lists(shop)).toHaveLength(1);
  });

  it('is one line of log in a quarter of an hour of an outage, a warning, and runs as soon as the store answers again', async () => {
    const shop = await withOrders(10);
    const lineAtMs: number[] = [];
    const others: unknown[] = [];
    const aboutIt = (facts: unknown) => JSON.stringify(facts).includes(shop.id);
    const warn = vi.spyOn(app.context.log, 'warn').mockImplementation((facts: unknown) => {
      if (aboutIt(facts)) lineAtMs.push(nowMs);
    });
    const error = vi.spyOn(app.context.log, 'error').mockImplementation((facts: unknown) => {
      if (aboutIt(facts)) others.push(facts);
    });
    shop.store.failWith = 500;
    for (let i = 0; i < 6; i += 1) await pass(1);
    expect(lineAtMs).toHaveLength(1);
    expect(lists(shop).length).toBeGreaterThan(2);
    // Three hours more.
    for (let i = 0; i < 36; i += 1) await pass(5);
    warn.mockRestore();
    error.mockRestore();
    const gaps = lineAtMs.slice(1).map((atMs, i) => (atMs - (lineAtMs[i] ?? 0)) / MINUTE_MS);
    expect(Math.min(...gaps)).toBeGreaterThanOrEqual(15);
    expect(Math.max(...gaps)).toBeLessThanOrEqual(30);
    expect(others).toEqual([]);
    shop.store.failWith = undefined;
    await pass(10);
    expect(await known(shop)).toHaveLength(10);
  });

  it('ends when the store refuses the token, and runs at once when it is connected again', async () => {
    const shop = await withOrders(10);
    const { token } = shop.store;
    shop.store.token = 'another';
    await pass(0);
    expect((await health(shop)).status).toBe('reauth_required');
    await pass(60);
    expect(lists(shop)).toHaveLength(1);
    shop.store.token = token;
    await updateAccessStatus(app.context.postgres.db, { id: shop.id, brandId: shop.brand.id }, 'connected', now());
    await pass(0);
    expect(await known(shop)).toHaveLength(10);
  });
});

describe('a store whose webhooks do not arrive', () => {
  it('is silent within ten minutes, mails its brand once, and recovers once webhooks arrive', async () => {
    const shop = await open('shopify');
    const contact = 'team@brand.example';
    const key = await shop.brand.key('brand');
    await call(`${app.url}/v1/brand`, key, {
      method: 'PATCH',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ contact_email: contact }),
    });
    await pass(0);
    expect((await health(shop)).webhook_health.status).toBe('ok');
    nowMs += MINUTE_MS;
    put(shop, sold(shop, now()));
    await pass(9);
    expect((await health(shop)).webhook_health.status).toBe('silent');
    put(shop, sold(shop, now()));
    await pass(10);
    const mails = (await mailsOf(app.context, shop.brand.id)).filter(({ kind }) => kind === 'store_silent');
    expect(mails.map(({ to }) => to)).toEqual([contact]);

    nowMs += MINUTE_MS;
    const reported = sold(shop, now());
    put(shop, reported);
    expect((await shop.report('orders/create', reported)).status).toBe(200);
    await pass(10);
    expect((await health(shop)).webhook_health.status).toBe('ok');
  });

  it('does not count an order whose webhook is still pending, and checks again when it is due', async () => {
    const shop = await open('shopify');
    nowMs += 9 * MINUTE_MS;
    const late = sold(shop, now());
    put(shop, late);
    await pass(1);
    expect(await known(shop)).toEqual([]);
    expect((await shop.report('orders/create', late)).status).toBe(200);
    await pass(3);
    expect(await known(shop)).toHaveLength(1);
    expect((await health(shop)).webhook_health.status).toBe('ok');
    nowMs += 6 * MINUTE_MS;
    put(shop, sold(shop, now()));
    await pass(1);
    await pass(3);
    expect((await health(shop)).webhook_health.status).toBe('silent');
  });
});
