import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { backfillStores } from '../../../src/affiliates/stores/sweeps/backfills.jobs.ts';
import { sweepStores } from '../../../src/affiliates/stores/sweeps/sweeps.jobs.ts';
import { daysAgo } from '../../harness/affiliates/sales.ts';
import { gmt, openShop, type Shop } from '../../harness/affiliates/shop.ts';
import { shopifyOrder, shopifyRefund } from '../../harness/affiliates/shopify-order.ts';
import { scheduleSweep } from '../../harness/affiliates/store.ts';
import { wooOrder } from '../../harness/affiliates/woo-order.ts';
import { send, startApp, type TestApp } from '../../harness/app.ts';
import { makeDatabase, type TestDatabase } from '../../harness/database.ts';

const MINUTE_MS = 60_000;
const BUYER = 'buyer@example.com';

let database: TestDatabase;
let app: TestApp;
let nowMs = Math.floor(Date.now() / 1_000) * 1_000;
const now = () => new Date(nowMs);

beforeAll(async () => {
  database = await makeDatabase('backfill');
  app = await startApp({ clock: { now }, urls: { postgres: database.url } });
});
afterAll(async () => {
  await app?.close();
  await database?.drop();
});

/** An order of the brand's code, as its store lists it. */
const BODY = {
  shopify: ({ assignment }: Shop, id: number, at: Date) =>
    shopifyOrder({ id, at, codes: [assignment.code], email: BUYER, lines: [{ price: '50.00' }] }),
  woocommerce: ({ assignment }: Shop, id: number, at: Date) => ({
    ...wooOrder({ id, codes: [assignment.code], paidAt: gmt(at), modifiedAt: gmt(at), email: BUYER, lines: ['50.00'] }),
    date_created_gmt: gmt(at),
  }),
  generic: ({ assignment }: Shop, id: number, at: Date) => ({
    ...{ order_id: String(id), currency: 'USD', amount: '50.00', customer_email: BUYER, codes: [assignment.code] },
    ...{ placed_at: at.toISOString(), paid_at: at.toISOString(), updated_at: at.toISOString() },
  }),
};
type Kind = keyof typeof BODY;

async function open(provider: Kind) {
  const shop = await openShop(app, provider);
  await app.context.postgres.db.updateTable('integrations').set({ sweepAt: null }).execute();
  shop.store.access.now = now;
  const key = await shop.brand.key('brand');
  const path = `/v1/affiliates/integrations/${shop.id}/backfill`;
  return {
    shop,
    get: async (where: string) => (await send(`${app.url}${where}`, key, 'GET')).body,
    start: () => send(`${app.url}${path}`, key, 'POST', {}),
    progress: async () => (await send(`${app.url}${path}`, key, 'GET')).body.data,
    put: (id: number, days: number, more: object = {}) =>
      shop.store.orders.set(String(id), { ...BODY[provider](shop, id, daysAgo(days, now())), ...more }),
  };
}

/** Reads on until everything is read, however long the store wants to be left alone in between. */
async function readAll(progress: () => Promise<{ status: string }>): Promise<void> {
  for (let round = 0; (await progress()).status === 'running' && round < 50; round += 1) {
    await Promise.all([backfillStores.run(app.context), backfillStores.run(app.context)]);
    nowMs += MINUTE_MS;
  }
}

describe('Reading the history of a store', () => {
  it.each<Kind>(['shopify', 'woocommerce', 'generic'])(
    'of %s records what no sweep reads, pays nobody, emits nothing, and makes customers known',
    async (provider) => {
      const { shop, get, start, progress, put } = await open(provider);
      for (let id = 1; id <= 120; id += 1) put(id, 100 + id);
      put(500, 10);
      await scheduleSweep(app.context, shop.id, now());
      await sweepStores.run(app.context);
      expect((await get('/v1/orders')).data).toMatchObject([{ order_id: '500', attributed: true, customer: 'new' }]);
      const events = (await get('/v1/events')).data.length;
      // The first sweep of a store starts it.
      expect(await progress()).toMatchObject({ status: 'running' });

      expect((await start()).body.data).toMatchObject({ status: 'running', orders_read: 0, reached_at: null });
      if (provider !== 'generic') shop.store.listing.busy.push({ 'retry-after': '20' });
      await readAll(progress);
      expect(await progress()).toMatchObject({ status: 'done', orders_recorded: 120, orders_unread: 0, problem: null });
      const { data, pagination } = await get('/v1/orders?attributed=false&reason=history&limit=1&sort=oldest');
      expect(pagination.total).toBe(120);
      expect(data).toMatchObject([{ order_id: '120', amount: 50, commission_id: null, reason: 'history' }]);
      expect((await get('/v1/orders?order_id=500')).data).toMatchObject([{ attributed: true, customer: 'returning' }]);
      expect((await get('/v1/events')).data).toHaveLength(events);
      const { meta } = await get('/v1/analytics/customers');
      expect(meta.history_since).toBe(
        daysAgo(220, new Date(Date.parse(data[0].occurred_at) + 220 * 86_400_000)).toISOString(),
      );

      expect((await start()).body.data).toMatchObject({ status: 'running', orders_recorded: 0 });
      await readAll(progress);
      expect(await progress()).toMatchObject({ status: 'done', orders_recorded: 0 });
      expect((await get('/v1/orders')).pagination.total).toBe(121);
    },
  );

  it('takes off refunds, and a later report of its store changes the order but pays nobody', async () => {
    const { shop, get, start, progress, put } = await open('shopify');
    const at = daysAgo(200, now());
    put(7, 200, { refunds: [shopifyRefund({ lines: [{ subtotal: '20.00' }], at })] });
    await start();
    await readAll(progress);
    const [{ id }] = (await get('/v1/orders')).data;
    expect((await get(`/v1/orders/${id}`)).data).toMatchObject({
      refunds: [{ amount: 20, counted: 20 }],
      explanation: 'It paid nobody: it is a past order, which was read in as history.',
    });
    const again = shopifyOrder({
      id: 7,
      at,
      updatedAt: at,
      codes: [shop.assignment.code],
      lines: [{ price: '40.00' }],
    });
    expect((await shop.report('orders/updated', again)).status).toBe(200);
    expect((await get('/v1/orders')).data).toMatchObject([{ attributed: false, reason: 'history' }]);
  });

  it('says why it waits, and continues at the last page when the store answers again', async () => {
    const { shop, start, progress, put } = await open('woocommerce');
    for (let id = 1; id <= 150; id += 1) put(id, 400 - id);
    await start();
    let lists = 0;
    shop.store.gate = async (path) => {
      if (!path.includes('/orders?')) return;
      lists += 1;
      if (lists === 1) shop.store.failWith = 500;
    };
    await backfillStores.run(app.context);
    const halfway = await progress();
    expect(halfway).toMatchObject({ status: 'running', orders_recorded: 100 });
    expect(halfway.problem).toMatch(/store/i);
    shop.store.failWith = undefined;
    nowMs += MINUTE_MS;
    await readAll(progress);
    expect(await progress()).toMatchObject({ status: 'done', orders_recorded: 150, problem: null });
  });

  it('needs a connected store of the brand', async () => {
    const { start, progress, shop, get } = await open('generic');
    await app.context.postgres.db
      .updateTable('integrations')
      .set({ status: 'disconnected' })
      .where('id', '=', shop.id)
      .execute();
    expect((await start()).status).toBe(409);
    expect(await progress()).toBeUndefined();
    expect((await get('/v1/affiliates/integrations/int_none/backfill')).code).toBe('NOT_FOUND');
  });
});
