import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { reconcileFigures } from '../../src/affiliates/ledger/ledger.jobs.ts';
import { finishReconciliation, insertReconciliation } from '../../src/analytics/figures/rollups.ts';
import { drainClicks } from '../../src/interfaces/links-host/jobs.ts';
import { migrateClickHouse } from '../../src/kit/engines/clickhouse/migrate.ts';
import { readClick } from '../../src/kit/values/click-token.ts';
import type { EmbeddedEngines } from '../../src/local/engines/start.ts';
import { type Desk, openDesk, SHOP } from '../harness/affiliates/affiliates.ts';
import { type Click, click, makeLink, type TrackedLink } from '../harness/affiliates/clicks.ts';
import {
  connectTestStore,
  deliver,
  signedDelivery,
  startStore,
  type TestStore,
  WEBHOOK_SECRET,
} from '../harness/affiliates/store.ts';
import { sync } from '../harness/analytics/figures.ts';
import { startApp, startWorkerProcess, type TestApp, unique, until } from '../harness/app.ts';
import { makeDatabase, type TestDatabase } from '../harness/database.ts';
import { removeEngineData, startOwnEngines } from '../harness/kit/own-engines.ts';

/** Engines of its own: this test kills ClickHouse, holds up its clicks, and decides when a worker runs. */
let engines: EmbeddedEngines;
let database: TestDatabase;
let app: TestApp;
let desk: Desk;
let store: TestStore;
let integration = '';
let link: TrackedLink;
const CODE = 'ANN10';
const dataName = `test-${process.pid}-freshness`;

beforeAll(async () => {
  database = await makeDatabase('freshness');
  engines = await startOwnEngines(dataName, ['redis', 'clickhouse']);
  const { redis = '', clickhouse = '' } = engines.urls;
  app = await startApp({ urls: { postgres: database.url, redis, clickhouse } });
  await app.context.redis.ready();
  await migrateClickHouse(app.context.clickhouse);
  await insertReconciliation(app.context.clickhouse, { claim: '', batch: 0 });
  await finishReconciliation(app.context.clickhouse);
  desk = await openDesk(app);
  store = await startStore('generic');
  integration = await connectTestStore(app.context, desk.brand.id, store);
  link = await makeLink(desk, SHOP);
  await desk.made({ type: 'discount_code', value: CODE, commission_rate: 10 });
});
afterAll(async () => {
  await app?.close();
  await store?.close();
  await engines?.stop();
  await database?.drop();
  await removeEngineData(dataName);
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

async function moveAll(): Promise<void> {
  await drainClicks(app.context);
  await sync(app, desk.brand.id);
}

const revenueOf = async () => (await desk.get('/v1/analytics')).body.summary.total_revenue;

/** What is promised of figures. */
const PROMISED_MS = 5_000;

describe('X-Data-As-Of on every response with figures', () => {
  it('is before a click that arrived late, and before an older one that came after it', async () => {
    await moveAll();
    const timeOf = ({ clickId }: Click) => readClick(app.context.secrets.key('click'), clickId)?.at.getTime() ?? 0;
    const someone = () => ({ 'user-agent': `Mozilla/5.0 (iPhone) Mobile ${unique('a')}` });
    const { redis = '', clickhouse = '' } = engines.urls;
    // Another process, with a clock that is behind.
    const clock = { now: () => new Date(Date.now() - 2_000) };
    const behind = await startApp({ urls: { postgres: database.url, redis, clickhouse }, clock });
    const pid = engines.pids.redis ?? Number.NaN;
    process.kill(pid, 'SIGSTOP');
    const slow = click(app, link.slug, someone());
    await pause(200);
    process.kill(pid, 'SIGCONT');
    const at = timeOf(await slow);
    for (const said of await headersOf(desk)) expect(said).toBe(at - 1);
    const older = timeOf(await click(behind, link.slug, someone()));
    for (const said of await headersOf(desk)) expect(said).toBeLessThan(older);
    await behind.close();
    const now = Date.now();
    await moveAll();
    for (const said of await headersOf(desk)) expect(said).toBeGreaterThanOrEqual(now);
  });

  it('is absent from the moment ClickHouse was killed until its figures are reconciled', async () => {
    await moveAll();
    const revenue = await revenueOf();
    process.kill(engines.pids.clickhouse ?? Number.NaN, 'SIGKILL');
    await engines.restart('clickhouse');
    expect(new Set(await headersOf(desk))).toEqual(new Set([null]));
    await reconcileFigures(app.context);
    expect(new Set(await headersOf(desk))).toEqual(new Set([null]));
    await reconcileFigures(app.context);
    expect(await headersOf(desk)).not.toContain(null);
    expect(await revenueOf()).toBe(revenue);
  });
});

describe('with a worker in its default configuration,', () => {
  it('a click, a sale and its refund are each in the API’s answers within 5 s of the event', async () => {
    const { redis = '', clickhouse = '' } = engines.urls;
    const env = { DATABASE_URL: database.url, REDIS_URL: redis, CLICKHOUSE_URL: clickhouse };
    const worker = await startWorkerProcess(unique('none'), env);
    const shown = async () => {
      const [{ body }, { body: analytics }] = await Promise.all([
        desk.get('/v1/affiliates/performance'),
        desk.get('/v1/analytics'),
      ]);
      const [{ clicks, revenue_minor } = { clicks: 0, revenue_minor: 0 }] = body.summary.by_currency;
      const { total_clicks, total_revenue } = analytics.summary;
      return [clicks, revenue_minor, total_clicks, total_revenue];
    };
    const expectWithin = async (what: string, event: () => Promise<unknown>, clicks: number, dollars: number) => {
      const [wasClicks = 0, wasMinor = 0, wasTotal = 0, wasRevenue = 0] = await shown();
      const wanted = [wasClicks + clicks, wasMinor + dollars * 100, wasTotal + clicks, wasRevenue + dollars];
      const at = performance.now();
      await event();
      const isShown = async () => JSON.stringify(await shown()) === JSON.stringify(wanted);
      await until(`${what} in the figures`, isShown, PROMISED_MS - (performance.now() - at));
    };
    let order = '';
    const sold = async () => {
      order = await sell();
    };
    const refunds = [{ refund_id: 'r1', amount: '40.00', at: new Date().toISOString() }];
    const agent = { 'user-agent': `Mozilla/5.0 (iPhone) Mobile ${unique('a')}` };
    const refunded = () => report('order.refunded', { order_id: order, currency: 'USD', refunds });
    try {
      await expectWithin('a click', () => click(app, link.slug, agent), 1, 0);
      await expectWithin('a sale', sold, 0, 100);
      await expectWithin('a refund', refunded, 0, -40);
    } finally {
      await worker.stop();
    }
  });
});
