import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { rebuildFigures } from '../../src/affiliates/ledger/rebuild-figures.ts';
import { withFreshness, withFreshRows } from '../../src/analytics/figures/freshness.ts';
import { CLICK_CLAIM, REBUILD_NOTICE_MS } from '../../src/analytics/figures/sums.ts';
import { isBeingRebuilt } from '../../src/analytics/figures/sync.ts';
import { drainClicks } from '../../src/interfaces/links-host/jobs.ts';
import { type Desk, openDesk, SHOP } from '../harness/affiliates/affiliates.ts';
import { click, makeLink, type TrackedLink } from '../harness/affiliates/clicks.ts';
import {
  connectTestStore,
  deliver,
  signedDelivery,
  startStore,
  type TestStore,
  WEBHOOK_SECRET,
} from '../harness/affiliates/store.ts';
import { sync } from '../harness/analytics/figures.ts';
import { startApp, type TestApp, unique, until } from '../harness/app.ts';
import { makeDatabase, ownRedis, type TestDatabase } from '../harness/database.ts';

/** It holds up its clicks, and decides when they and its sales are in the figures. */
let database: TestDatabase;
let app: TestApp;
let desk: Desk;
let other: Desk;
let store: TestStore;
let integration = '';
let link: TrackedLink;
const CODE = 'ANN10';

beforeAll(async () => {
  database = await makeDatabase('freshness');
  app = await startApp({ urls: { postgres: database.url, redis: ownRedis() } });
  await app.context.redis.ready();
  [desk, other] = [await openDesk(app), await openDesk(app)];
  store = await startStore('generic');
  integration = await connectTestStore(app.context, desk.brand.id, store);
  link = await makeLink(desk, SHOP);
  await desk.made({ type: 'discount_code', value: CODE, commission_rate: 10 });
});
afterAll(async () => {
  await app?.close();
  await store?.close();
  await database?.drop();
});

async function report(event: string, data: object): Promise<void> {
  const delivery = signedDelivery('generic', WEBHOOK_SECRET, event, data);
  expect((await deliver(app.url, 'generic', integration, delivery)).status).toBe(200);
}

/** A paid order of 100 dollars with the code. */
async function sell(): Promise<string> {
  const order_id = unique('order');
  const at = new Date().toISOString();
  await report('order.paid', {
    order_id,
    currency: 'USD',
    amount: '100.00',
    placed_at: at,
    paid_at: at,
    codes: [CODE],
  });
  return order_id;
}

/** By what the API answers at each place with figures. */
async function headersOf({ get }: Desk): Promise<(number | null)[]> {
  const lists = [
    '/v1/affiliates',
    '/v1/affiliates/links',
    '/v1/affiliates/performance',
    '/v1/analytics',
    '/v1/creators',
  ];
  const paths = get === desk.get ? [...lists, `/v1/affiliates/links/${link.id}`] : lists;
  const answers = await Promise.all(paths.map((one) => get(one)));
  expect(answers.map(({ status }) => status)).toEqual(paths.map(() => 200));
  return answers.map(({ headers }) => {
    const at = headers.get('x-data-as-of');
    return at === null ? null : Date.parse(at);
  });
}

/** Likewise, of the lists as CSV. */
async function csvHeaders(): Promise<(string | null)[]> {
  const paths = ['/v1/affiliates', '/v1/affiliates/links', '/v1/affiliates/performance', '/v1/creators'];
  const answers = await Promise.all(paths.map((one) => desk.get(one, 'text/csv')));
  expect(answers.map(({ headers }) => headers.get('content-type'))).toEqual(paths.map(() => 'text/csv; charset=utf-8'));
  return answers.map(({ headers }) => headers.get('x-data-as-of'));
}

async function moveAll(): Promise<void> {
  await drainClicks(app.context);
  await sync(app, desk.brand.id);
}

describe('X-Data-As-Of on every response with figures', () => {
  it('is before a sale that is not in them yet, and advances once it is', async () => {
    await moveAll();
    const order = await sell();
    const { recorded_at } = (await desk.get('/v1/affiliates/ledger')).body.data[0];
    for (const at of await headersOf(desk)) expect(at, order).toBeLessThan(Date.parse(recorded_at));
    await moveAll();
    const now = Date.now();
    for (const at of await headersOf(desk)) expect(at).toBeGreaterThanOrEqual(now);
  });

  it('is before a click that is not in them yet, and advances once it is', async () => {
    const before = Date.now();
    await click(app, link.slug, { 'user-agent': `Mozilla/5.0 (iPhone) Mobile ${unique('a')}` });
    const after = Date.now();
    await until('the click’s moment to pass', () => Date.now() > after);
    for (const at of await headersOf(desk)) {
      expect(at).toBeLessThan(after);
      expect(at).toBeGreaterThanOrEqual(before - 1);
    }
    await moveAll();
    for (const at of await headersOf(desk)) expect(at).toBeGreaterThan(after);
  });

  it('is absent while the brand’s figures are rebuilt, and for no other brand', async () => {
    await sell();
    await moveAll();
    const { redis, postgres } = app.context;
    await redis.client.set(CLICK_CLAIM, '1-1:1-1', 'NX');
    const rebuilt = rebuildFigures(app.context, desk.brand.id);
    await until('the rebuild', () => isBeingRebuilt(postgres.db, desk.brand.id));
    expect(new Set(await headersOf(desk))).toEqual(new Set([null]));
    expect(await headersOf(other)).not.toContain(null);
    await redis.client.del(CLICK_CLAIM);
    await rebuilt;
    expect(await headersOf(desk)).not.toContain(null);
  });

  it('is absent from an answer that took longer than a rebuild’s notice if one started meanwhile', async () => {
    const { redis, postgres } = app.context;
    const said: string[] = [];
    const call = { caller: { brandId: desk.brand.id }, setHeader: (name: string) => void said.push(name) };
    let rebuilt: Promise<unknown> | undefined;
    await withFreshness(app.context, call, async () => {
      await redis.client.set(CLICK_CLAIM, '1-1:1-1', 'NX');
      const from = performance.now();
      rebuilt = rebuildFigures(app.context, desk.brand.id);
      await until('the rebuild', () => isBeingRebuilt(postgres.db, desk.brand.id));
      await until('its notice to be over', () => performance.now() - from > REBUILD_NOTICE_MS);
    });
    expect(said).toEqual([]);
    await redis.client.del(CLICK_CLAIM);
    await rebuilt;
    await withFreshness(app.context, call, async () => undefined);
    expect(said).toEqual(['x-data-as-of']);
  });

  it('is on lists as CSV too, which are cut off if a rebuild started meanwhile', async () => {
    await moveAll();
    const now = Date.now();
    for (const at of await csvHeaders()) expect(Date.parse(at ?? '')).toBeGreaterThanOrEqual(now);
    const { redis, postgres } = app.context;
    const call = { caller: { brandId: desk.brand.id }, setHeader: () => undefined };
    const none = async function* () {};
    const rows: AsyncIterable<unknown> = await withFreshRows(app.context, call, none());
    const from = performance.now();
    await redis.client.set(CLICK_CLAIM, '1-1:1-1', 'NX');
    const rebuilt = rebuildFigures(app.context, desk.brand.id);
    await until('the rebuild', () => isBeingRebuilt(postgres.db, desk.brand.id));
    await until('its notice to be over', () => performance.now() - from > REBUILD_NOTICE_MS);
    await expect(rows[Symbol.asyncIterator]().next()).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE' });
    expect(await csvHeaders()).toEqual([null, null, null, null]);
    await redis.client.del(CLICK_CLAIM);
    await rebuilt;
  });
});
