import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { changeAccess } from '../../../src/kit/access/credits/access.ts';
import { settleAll } from '../../../src/kit/access/credits/settle.ts';
import { newApiKey } from '../../../src/kit/access/keys/key-form.ts';
import { revokeKey } from '../../../src/platform/keys/keys.ts';
import {
  call,
  engineUrls,
  ledgerOf,
  makeBrand,
  startApp,
  type TestApp,
  type TestBrand,
  unique,
  until,
} from '../../harness/app.ts';
import { creator, putDirectory } from '../../harness/directory/directory.ts';
import { type EngineProxy, startProxy } from '../../harness/kit/proxy.ts';

const alias = unique('faults');
/** Reaches the engines directly: makes brands and looks at the ledger. */
let direct: TestApp;

beforeAll(async () => {
  direct = await startApp({ alias });
  await putDirectory(direct.context.elastic, alias, [creator(1)]);
  await until('all engines to be up once', async () => (await call(`${direct.url}/readyz`)).status === 200);
});
afterAll(() => direct?.close());

async function behindProxy(
  engine: 'postgres' | 'redis' | 'elasticsearch' | 'clickhouse',
): Promise<{ app: TestApp; proxy: EngineProxy }> {
  const proxy = await startProxy(engineUrls()[engine]);
  const app = await startApp({ alias, urls: { [engine]: proxy.url } });
  const { context } = app;
  await until('the engines', () =>
    Promise.all([context.redis.ping(), context.postgres.ping()]).then(
      () => true,
      () => false,
    ),
  );
  return { app, proxy };
}

const engines = () => ({ db: direct.context.postgres.db, redis: direct.context.redis, clock: direct.context.clock });
const search = (app: TestApp, key: string) => call(`${app.url}/v1/creators/search`, key);

const balanceOf = (brand: TestBrand) => ledgerOf(direct.context, brand);

function expectUnavailable(answer: Awaited<ReturnType<typeof call>>): void {
  expect([answer.status, answer.body.code]).toEqual([503, 'SERVICE_UNAVAILABLE']);
  expect(Number(answer.headers.get('retry-after'))).toBeGreaterThanOrEqual(1);
  expect(answer.headers.get('x-ratelimit-limit')).toBe('100');
  expect(JSON.stringify(answer.body)).not.toMatch(/127\.0\.0\.1|ECONN|stack/);
}

describe('Elasticsearch', () => {
  it.each(['cut', 'freeze'] as const)(
    '%s: searches are 503 and uncharged within a bounded time, and everything else works',
    async (fault) => {
      const { app, proxy } = await behindProxy('elasticsearch');
      const brand = await makeBrand(direct.context, { plan: 'starter' });
      const [dataKey, brandKey] = [await brand.key('data'), await brand.key('brand')];
      expect((await search(app, dataKey)).status).toBe(200);
      await proxy[fault]();
      const from = performance.now();
      const answer = await search(app, dataKey);
      expect(performance.now() - from).toBeLessThan(15_000);
      expectUnavailable(answer);
      expect([answer.headers.get('x-credits-charged'), answer.headers.get('x-credits-remaining')]).toEqual([
        '0',
        '990',
      ]);
      expect((await call(`${app.url}/v1/usage`, brandKey)).status).toBe(200);
      const ready = await call(`${app.url}/readyz`);
      expect([ready.status, ready.body.status, ready.body.engines.elasticsearch.status]).toEqual([
        200,
        'degraded',
        'down',
      ]);
      await proxy.restore();
      await until('searches to work again', async () => (await search(app, dataKey)).status === 200);
      const { charged, refunded, remaining } = await balanceOf(brand);
      expect([charged - refunded, remaining]).toEqual([20, 980]);
      await app.close();
      await proxy.close();
    },
  );
});

describe('ClickHouse', () => {
  const FIGURES = [
    '/v1/affiliates/performance',
    '/v1/affiliates',
    '/v1/affiliates/links',
    '/v1/analytics',
    '/v1/creators',
  ];
  // Less than the time limit of two background statements.
  const LIMIT_MS = 115_000;

  it.each(['cut', 'freeze'] as const)(
    '%s: figures are 503 for any number of callers and come back with it, and everything else works',
    async (fault) => {
      const { app, proxy } = await behindProxy('clickhouse');
      const brand = await makeBrand(direct.context);
      const key = await brand.key('brand');
      const read = (path: string, accept = 'application/json') => call(app.url + path, key, { headers: { accept } });
      expect((await read(FIGURES[0] ?? '')).status).toBe(200);
      await proxy[fault]();
      const requested = Array.from({ length: 6 }, () => FIGURES.map((path) => read(path))).flat();
      for (const answer of await Promise.all(requested)) expectUnavailable(answer);
      expectUnavailable(await read(FIGURES[0] ?? '', 'text/csv'));
      expect((await read('/v1/campaigns')).status).toBe(200);
      await proxy.restore();
      await until('figures', async () => (await read(FIGURES[0] ?? '')).status === 200);
      await app.close();
      await proxy.close();
    },
    LIMIT_MS,
  );
});

describe('Redis', () => {
  it('is down: free calls are limited by the process, metered searches are 503 and uncharged', async () => {
    const { app, proxy } = await behindProxy('redis');
    const brand = await makeBrand(direct.context, { plan: 'starter' });
    const [dataKey, brandKey] = [await brand.key('data'), await brand.key('brand')];
    expect((await search(app, dataKey)).status).toBe(200);
    await proxy.cut();
    const refused = await search(app, dataKey);
    expectUnavailable(refused);
    expect(refused.headers.get('x-ratelimit-remaining')).toBe('0');
    expect((await call(`${app.url}/v1/creators/1`, dataKey)).status).toBe(200);
    expect((await call(`${app.url}/v1/creators/search?preview=true`, dataKey)).status).toBe(200);
    const statuses: number[] = [];
    for (let i = 0; i < 101; i += 1) statuses.push((await call(`${app.url}/v1/usage`, brandKey)).status);
    expect(statuses.filter((status) => status === 200)).toHaveLength(100);
    expect(statuses[100]).toBe(429);
    expect((await call(`${app.url}/v1/usage`)).status).toBe(401);
    expect((await call(`${app.url}/readyz`)).body.engines.redis.status).toBe('down');
    await proxy.restore();
    await until('searches to work again', async () => (await search(app, dataKey)).status === 200);
    expect(await balanceOf(brand)).toMatchObject({ charged: 20, remaining: 980 });
    await app.close();
    await proxy.close();
  });

  it('goes down after a change of access was committed: it is not made again', async () => {
    const { app, proxy } = await behindProxy('redis');
    const brand = await makeBrand(direct.context);
    let times = 0;
    await changeAccess({ ...engines(), redis: app.context.redis }, brand.subscriptionIds.data, async () => {
      times += 1;
      await proxy.cut();
    });
    expect(times).toBe(1);
    await app.close();
    await proxy.close();
  });

  it('hangs after a debit: the search is 503 and its charge is refunded once', async () => {
    const { app, proxy } = await behindProxy('redis');
    const brand = await makeBrand(direct.context, { plan: 'starter' });
    const key = await brand.key('data');
    expect((await search(app, key)).headers.get('x-credits-remaining')).toBe('990');
    proxy.freezeAnswers();
    expectUnavailable(await search(app, key));
    await proxy.restore();
    await until('the ledger to hold the charge and its refund', async () => (await balanceOf(brand)).refunded === 10);
    await settleAll(engines());
    expect(await balanceOf(brand)).toEqual({ granted: 1_000, charged: 20, refunded: 10, remaining: 990 });
    await until('the balance', async () => (await search(direct, key)).headers.get('x-credits-remaining') === '980');
    await app.close();
    await proxy.close();
  });

  it('is down: a revocation still takes effect soon, not when the cached key is read again', async () => {
    const { app, proxy } = await behindProxy('redis');
    const brand = await makeBrand(direct.context);
    const key = await brand.key('brand');
    await proxy.cut();
    expect((await call(`${app.url}/v1/usage`, key)).status).toBe(200);
    const { context } = app;
    await revokeKey({ db: context.postgres.db, redis: context.redis, clock: context.clock }, key);
    await until('401', async () => (await call(`${app.url}/v1/usage`, key)).status === 401);
    await settleAll(engines());
    expect((await call(`${direct.url}/v1/usage`, key)).status).toBe(401);
    await app.close();
    await proxy.close();
  });
});

describe('PostgreSQL', () => {
  it('is down: cached keys keep searching, an unknown key is 503 and never 401, and what needs PostgreSQL is 503', async () => {
    const { app, proxy } = await behindProxy('postgres');
    const brand = await makeBrand(direct.context, { plan: 'starter' });
    const [dataKey, brandKey] = [await brand.key('data'), await brand.key('brand')];
    expect((await search(app, dataKey)).status).toBe(200);
    expect((await call(`${app.url}/v1/usage`, brandKey)).status).toBe(200);
    await proxy.cut();
    const answer = await search(app, dataKey);
    expect([answer.status, answer.headers.get('x-credits-remaining')]).toEqual([200, '980']);
    expectUnavailable(await call(`${app.url}/v1/usage`, newApiKey()));
    expectUnavailable(await call(`${app.url}/v1/usage`, brandKey));
    expect((await call(`${app.url}/v1/usage`, 'svk_mistyped')).status).toBe(401);
    const ready = await call(`${app.url}/readyz`);
    expect([ready.status, ready.body.engines.postgres.status]).toEqual([200, 'down']);
    await proxy.restore();
    await until('usage to work again', async () => (await call(`${app.url}/v1/usage`, brandKey)).status === 200);
    await app.close();
    await proxy.close();
  });

  it('is down: a cached key stops after a minute, and then nothing can be served', async () => {
    const proxy = await startProxy(engineUrls().postgres);
    let shiftMs = 0;
    const clock = { now: () => new Date(Date.now() + shiftMs) };
    const app = await startApp({ alias, urls: { postgres: proxy.url }, clock });
    const brand = await makeBrand(direct.context);
    const key = await brand.key('brand');
    expect((await search(app, key)).status).toBe(200);
    await proxy.cut();
    shiftMs = 40_000;
    expect((await search(app, key)).status).toBe(200);
    expect((await call(`${app.url}/readyz`)).status).toBe(200);
    shiftMs = 61_000;
    expectUnavailable(await search(app, key));
    expect((await call(`${app.url}/readyz`)).status).toBe(503);
    await app.close();
    await proxy.close();
  });

  it('is lost within a transaction or at its rollback: the call is 503, not an internal error', async () => {
    const { app, proxy } = await behindProxy('postgres');
    const { db } = app.context.postgres;
    const lostBy = (work: () => Promise<unknown>) =>
      db.transaction().execute(async (trx) => {
        await sql`select 1`.execute(trx);
        await proxy.cut();
        await work();
        await sql`select 1`.execute(trx);
      });
    const unavailable = { code: 'SERVICE_UNAVAILABLE' };
    await expect(lostBy(async () => undefined)).rejects.toMatchObject(unavailable);
    await proxy.restore();
    await expect(lostBy(() => Promise.reject(new Error('of the work itself')))).rejects.toMatchObject(unavailable);
    await app.close();
    await proxy.close();
  });
});
