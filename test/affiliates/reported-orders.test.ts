import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { makeAssignment } from '../harness/affiliates/sales.ts';
import {
  connectTestStore,
  deliver,
  signedDelivery,
  startStore,
  type TestStore,
  WEBHOOK_SECRET,
} from '../harness/affiliates/store.ts';
import { type Answer, makeBrand, send, startApp, type TestApp, type TestBrand } from '../harness/app.ts';
import { randomRuns, testSeed } from '../harness/kit/random-runs.ts';

const NOW = new Date('2026-03-20T12:00:00Z');
let app: TestApp;
let store: TestStore;
beforeAll(async () => {
  app = await startApp({ clock: { now: () => NOW } });
  store = await startStore('generic');
});
afterAll(async () => {
  await app?.close();
  await store?.close();
});

/** One version of an order; minutes count from its placing. */
interface Version {
  order: number;
  cents: number;
  paid: boolean;
  cancelled: boolean;
  isCoded: boolean;
  minute: number;
  refunds: { id: number; cents: number }[] | null;
}

const version: fc.Arbitrary<Version> = fc.record({
  order: fc.integer({ min: 1, max: 3 }),
  cents: fc.integer({ min: 0, max: 50_000 }),
  paid: fc.boolean(),
  cancelled: fc.constantFrom(false, false, false, true),
  isCoded: fc.constantFrom(true, true, false),
  minute: fc.integer({ min: 0, max: 600 }),
  refunds: fc.option(
    fc.uniqueArray(fc.record({ id: fc.integer({ min: 1, max: 3 }), cents: fc.integer({ min: 1, max: 20_000 }) }), {
      selector: ({ id }) => id,
      maxLength: 2,
    }),
  ),
});

const placedAt = ({ order }: Version) => new Date(Date.UTC(2026, 2, 1 + order)).getTime();
const text = (ms: number) => new Date(ms).toISOString();

function dataOf(one: Version, code: string) {
  const placed = placedAt(one);
  const at = text(placed + one.minute * 60_000);
  return {
    ...{ order_id: `order-${one.order}`, currency: 'USD', amount: one.cents / 100, placed_at: text(placed) },
    ...{ paid_at: one.paid ? at : null, cancelled_at: one.cancelled ? at : null, updated_at: at },
    ...{ customer_email: `c${one.order}@shop.example`, codes: one.isCoded ? [code] : [] },
    items: [
      { sku: 'A', amount: Math.floor(one.cents / 2) / 100 },
      { title: `Minute ${one.minute}`, quantity: 2, amount: 1 },
    ],
    ...(one.refunds
      ? {
          refunds: one.refunds.map(({ id, cents }) => ({
            refund_id: `re-${id}`,
            amount: cents / 100,
            at,
            items: [{ sku: 'A', amount: cents / 100 }],
          })),
        }
      : {}),
  };
}

/** What a brand sees of its orders, without what names one brand's rows. */
async function seenBy(key: string): Promise<object> {
  const get = async (path: string): Promise<Answer['body']> => (await send(`${app.url}${path}`, key, 'GET')).body;
  const orders = await get('/v1/orders?sort=oldest');
  const commissions = await get('/v1/affiliates/commissions?limit=100');
  const ledger = await get('/v1/affiliates/ledger?limit=100');
  const events = await get('/v1/events?limit=100');
  const own = new Set([
    'id',
    'integration_id',
    'link_id',
    'commission_id',
    'creator_email',
    'source',
    'created_at',
    'creator_id',
    'customer_id',
  ]);
  const others = new Set(['customer_email', 'affiliate_code', 'discount_code', 'order_url', 'hash', 'seq']);
  const plain = (rows: readonly object[]) =>
    rows
      .map((row) => JSON.stringify(Object.entries(row).filter(([name]) => !own.has(name) && !others.has(name))))
      .sort();
  const items = [];
  for (const { id, order_id } of orders.data) items.push([order_id, (await get(`/v1/orders/${id}`)).data.items]);
  return {
    orders: plain(orders.data),
    items: items.toSorted(),
    commissions: plain(commissions.data),
    balances: ledger.summary.balances,
    // A batch records the orders that are new together, so entries of different orders may change places.
    entries: ledger.data.map(({ kind }: { kind: string }) => kind).toSorted(),
    events: events.data.map(({ type, event }: { type?: string; event?: string }) => type ?? event).toSorted(),
  };
}

async function makeSeller(): Promise<{ brand: TestBrand; key: string; code: string }> {
  const brand = await makeBrand(app.context);
  const { code } = await makeAssignment(app.context, brand);
  return { brand, code, key: await brand.key('brand') };
}

async function bySignature(history: readonly Version[]): Promise<unknown> {
  const { brand, key, code } = await makeSeller();
  const id = await connectTestStore(app.context, brand.id, store);
  for (const one of history) {
    const { became } = await deliver(
      app.url,
      'generic',
      id,
      signedDelivery('generic', WEBHOOK_SECRET, 'order.updated', dataOf(one, code), NOW),
    );
    expect(became?.state).toBe('done');
  }
  return await seenBy(key);
}

async function byKey(history: readonly Version[], isBatch: boolean): Promise<unknown> {
  const { key, code } = await makeSeller();
  const orders = history.map((one) => ({ source: 'pop-up', ...dataOf(one, code) }));
  const calls = isBatch
    ? [{ path: '/v1/orders/batch', body: { orders } }]
    : orders.map((body) => ({ path: '/v1/orders', body }));
  for (const { path, body } of calls) {
    const { status, body: answer } = await send(`${app.url}${path}`, key, 'POST', body);
    expect([status, answer.details]).toEqual([200, undefined]);
  }
  return await seenBy(key);
}

const runs = randomRuns(8);

describe('an order that a key reports', () => {
  it(
    'leaves the same orders, commissions, ledger and events as the same history of signed deliveries',
    async () => {
      await fc.assert(
        fc.asyncProperty(fc.array(version, { minLength: 1, maxLength: 6 }), async (history) => {
          const signed = await bySignature(history);
          expect(await byKey(history, false)).toEqual(signed);
          expect(await byKey(history, true)).toEqual(signed);
        }),
        { numRuns: runs, seed: testSeed, endOnFailure: true },
      );
    },
    Math.max(300_000, runs * 10_000),
  );

  it('counts as a past order if the batch says so: it pays nobody, emits nothing, and leaves known orders alone', async () => {
    const { key, code } = await makeSeller();
    const placed = { placed_at: '2025-12-01T09:00:00Z', paid_at: '2025-12-01T09:00:00Z' };
    const order = { source: 'old-shop', currency: 'USD', amount: 50, codes: [code], ...placed };
    await send(`${app.url}/v1/orders`, key, 'POST', { ...order, order_id: 'known' });
    const before = await seenBy(key);
    const orders = [
      { ...order, order_id: 'known', amount: 10 },
      { ...order, order_id: 'past', placed_at: '2025-12-02T09:00:00Z', paid_at: '2025-12-02T09:00:00Z' },
    ];
    const report = () => send(`${app.url}/v1/orders/batch`, key, 'POST', { orders, history: true });
    for (const { status, body } of [await report(), await report()]) {
      expect(status).toBe(200);
      expect(body.data.orders).toMatchObject([{ attributed: true }, { order_id: 'past', attributed: false }]);
    }
    expect(await seenBy(key)).toEqual({ ...before, orders: expect.any(Array), items: expect.any(Array) });
    const past = (await send(`${app.url}/v1/orders?sort=oldest`, key, 'GET')).body.data;
    expect(past).toMatchObject([
      { order_id: 'known', amount: 50 },
      { order_id: 'past', amount: 50, reason: 'history', customer: null },
    ]);
  });

  it('is won by a code that was pasted with invisible marks, into the shop or here', async () => {
    const { key, code } = await makeSeller();
    const placed = { placed_at: '2025-12-01T09:00:00Z', paid_at: '2025-12-01T09:00:00Z' };
    const order = { source: 'till', order_id: 'pasted', currency: 'USD', amount: 50, ...placed };
    const won = await send(`${app.url}/v1/orders`, key, 'POST', { ...order, codes: [`\u202a${code}\u202c\u200b`] });
    expect(won.body.data).toMatchObject({ attributed: true });
    const [link] = (await send(`${app.url}/v1/affiliates/links`, key, 'GET')).body.data;
    const value = `\u2066${code}2\u200b\u2069`;
    const { body } = await send(`${app.url}/v1/affiliates/links/${link.id}`, key, 'PATCH', { value });
    expect(body.data.value).toBe(`${code}2`);
  });

  it('is won by a code with an accent however the accent is written', async () => {
    const { key } = await makeSeller();
    const value = 'CAFÉ10';
    await send(`${app.url}/v1/roster`, key, 'POST', { creator_email: 'cafe@creators.example' });
    const link = { creator_email: 'cafe@creators.example', value: value.normalize('NFD'), commission_rate: 10 };
    const made = await send(`${app.url}/v1/affiliates/links`, key, 'POST', link);
    expect(made.body.data.value).toBe(value);
    const paidAt = new Date().toISOString();
    for (const form of ['NFC', 'NFD'] as const) {
      const placed = { placed_at: paidAt, paid_at: paidAt, codes: [value.normalize(form)] };
      const order = { source: 'till', order_id: form, currency: 'USD', amount: 50, ...placed };
      expect((await send(`${app.url}/v1/orders`, key, 'POST', order)).body.data).toMatchObject({ attributed: true });
    }
  });

  it('is one order however its id was pasted', async () => {
    const { key, code } = await makeSeller();
    const placed = { placed_at: '2025-12-01T09:00:00Z', paid_at: '2025-12-01T09:00:00Z' };
    const order = { source: 'till', currency: 'USD', amount: 50, codes: [code], ...placed };
    const ids = [];
    for (const order_id of ['77', ' 77 ', '77\u200b']) {
      ids.push((await send(`${app.url}/v1/orders`, key, 'POST', { ...order, order_id })).body.data.id);
    }
    expect(new Set(ids).size).toBe(1);
  });

  it.each(['none', 'N/A', '-', '@', 'nobody@'])(
    'has no customer if the shop sends “%s” for the address',
    async (text) => {
      const { key } = await makeSeller();
      const placed = { placed_at: '2025-12-01T09:00:00Z', paid_at: '2025-12-01T09:00:00Z' };
      const order = { source: 'till', order_id: 'guest', currency: 'USD', amount: 50, customer_email: text, ...placed };
      const { status, body } = await send(`${app.url}/v1/orders`, key, 'POST', order);
      expect([status, body.data.customer]).toEqual([200, null]);
    },
  );

  it('is refunded by key, names its shop, and is the brand’s own', async () => {
    const { key, code } = await makeSeller();
    const order = { source: 'pop-up', order_id: '7', currency: 'USD', amount: 100, placed_at: '2026-03-02T09:00:00Z' };
    const report = (more: object) => send(`${app.url}/v1/orders`, key, 'POST', { ...order, ...more });
    const { status, body } = await report({ paid_at: '2026-03-02T09:00:00Z', codes: [code] });
    expect([status, body.data.attributed, body.data.commission]).toEqual([200, true, 10]);
    const refund = { refund_id: 're_1', amount: 40, at: '2026-03-03T09:00:00Z' };
    const path = `${app.url}/v1/orders/${body.data.id}/refunds`;
    const first = await send(path, key, 'POST', refund);
    const again = await send(path, key, 'POST', refund);
    expect([first.status, first.body.data.refunds]).toEqual([200, again.body.data.refunds]);
    expect(first.body.data.refunds).toEqual([
      { refund_id: 're_1', amount: 40, counted: 40, at: '2026-03-03T09:00:00.000Z' },
    ]);
    expect((await send(`${app.url}/v1/orders/${body.data.id}`, key, 'GET')).body.data.commission.commission).toBe(6);
    const stores = await send(`${app.url}/v1/affiliates/integrations`, key, 'GET');
    expect(stores.body.data.map(({ name }: { name: string }) => name)).not.toContain('pop-up');
    const stranger = await makeSeller();
    expect((await send(path, stranger.key, 'POST', refund)).status).toBe(404);
    expect((await send(path, key, 'POST', { ...refund, refund_id: 're_2', amount: 101 })).status).toBe(422);

    const many = [
      { ...order, order_id: '8' },
      { ...order, order_id: '9', amount: 1.234 },
    ];
    const refused = await send(`${app.url}/v1/orders/batch`, key, 'POST', { orders: many });
    expect([refused.status, refused.body.details[0].field]).toEqual([422, 'orders.1.amount']);
    expect((await send(`${app.url}/v1/orders?order_id=8`, key, 'GET')).body.data).toEqual([]);
    expect((await report({ currency: 'EUR' })).body.details[0]).toMatchObject({
      field: 'currency',
      code: 'currency_mismatch',
    });
  });

  it('is refused a refund where a connected store reports them', async () => {
    const { brand, key, code } = await makeSeller();
    const id = await connectTestStore(app.context, brand.id, store);
    const data = { order_id: '1', currency: 'USD', amount: 10, placed_at: '2026-03-02T09:00:00Z', codes: [code] };
    await deliver(app.url, 'generic', id, signedDelivery('generic', WEBHOOK_SECRET, 'order.created', data, NOW));
    const [order] = (await send(`${app.url}/v1/orders`, key, 'GET')).body.data;
    const refund = { refund_id: 're_1', amount: 4, at: '2026-03-03T09:00:00Z' };
    expect((await send(`${app.url}/v1/orders/${order.id}/refunds`, key, 'POST', refund)).status).toBe(409);
  });
});
