import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { accessKey } from '../../src/kit/access/credits/stream.ts';
import { NO_LIMITS } from '../../src/kit/access/keys/limits.ts';
import { setPlan } from '../../src/platform/brands/brands.ts';
import { createKey, revokeKey } from '../../src/platform/keys/keys.ts';
import {
  call,
  ledgerOf,
  makeBrand,
  type ServerProcess,
  startApp,
  startServer,
  type TestApp,
  unique,
  until,
} from '../harness/app.ts';
import { creator, putDirectory } from '../harness/directory/directory.ts';

const alias = unique('metering');
let app: TestApp;
let servers: ServerProcess[];

const engines = () => ({ db: app.context.postgres.db, redis: app.context.redis, clock: app.context.clock });

beforeAll(async () => {
  app = await startApp({ alias });
  await putDirectory(app.context.elastic, alias, [creator(1), creator(2)]);
  servers = await Promise.all([startServer(alias), startServer(alias), startServer(alias)]);
  // A process that has answered nothing yet can be busy for longer than it waits for Redis, and counts alone then.
  const key = await (await makeBrand(app.context)).key('brand');
  for (let i = 0; i < 60; i += 1) await call(`${spread(i)}/v1/usage`, key);
});
afterAll(async () => {
  await Promise.all((servers ?? []).map((server) => server.stop()));
  await app?.close();
});

const CALLS_AT_ONCE = 100;
const searchUrl = (url: string) => `${url}/v1/creators/search`;
const spread = (i: number) => servers[i % servers.length]?.url ?? '';

const tally = (statuses: readonly number[]) =>
  statuses.reduce<Record<number, number>>((counts, status) => {
    counts[status] = (counts[status] ?? 0) + 1;
    return counts;
  }, {});

describe('three processes', () => {
  it('keeps the daily and the monthly limit of a key exact on three processes with 64 connections', async () => {
    const brand = await makeBrand(app.context, { credits: 100_000 });
    for (const limits of [{ daily_credits: 205 }, { monthly_credits: 205 }]) {
      const before = await ledgerOf(app.context, brand);
      const { key } = await createKey(app.context.postgres.db, app.context.clock, {
        ...{ brandId: brand.id, subscriptionId: brand.subscriptionIds.data, kind: 'data' as const, name: 'limited' },
        limits: { ...NO_LIMITS, ...limits },
      });
      const calls = Array.from({ length: 64 }, (_, i) => call(searchUrl(spread(i)), key));
      const statuses = (await Promise.all(calls)).map(({ status }) => status);
      expect(statuses.toSorted()).toEqual(Array.from({ length: 64 }, (_, i) => (i < 20 ? 200 : 402)));
      expect((await ledgerOf(app.context, brand)).charged - before.charged).toBe(200);
    }
  });

  it('let exactly 100 of 1,000 concurrent calls of one key pass', async () => {
    const brand = await makeBrand(app.context);
    const key = await brand.key('brand');
    const answers: Awaited<ReturnType<typeof call>>[] = [];
    for (let from = 0; from < 1_000; from += CALLS_AT_ONCE)
      answers.push(
        ...(await Promise.all(
          Array.from({ length: CALLS_AT_ONCE }, (_, i) => call(`${spread(from + i)}/v1/usage`, key)),
        )),
      );
    expect(tally(answers.map(({ status }) => status))).toEqual({ 200: 100, 429: 900 });
    const left = answers
      .filter(({ status }) => status === 200)
      .map(({ headers }) => Number(headers.get('x-ratelimit-remaining')));
    expect(left.sort((a, b) => a - b)).toEqual(Array.from({ length: 100 }, (_, i) => i));
  });

  it('sell a budget of 1,000 credits to exactly 100 of 300 concurrent searches over five keys', async () => {
    const brand = await makeBrand(app.context, { plan: 'enterprise', credits: 1_000 });
    const keys = await Promise.all(Array.from({ length: 5 }, () => brand.key('data')));
    const answers = await Promise.all(
      Array.from({ length: 300 }, (_, i) => call(searchUrl(spread(i)), keys[i % keys.length] ?? '')),
    );
    expect(tally(answers.map(({ status }) => status))).toEqual({ 200: 100, 402: 200 });
    const refused = answers.find(({ status }) => status === 402);
    expect(refused?.body).toMatchObject({ code: 'CREDITS_EXHAUSTED', credits_remaining: 0, credits_required: 10 });
    expect(Date.parse(refused?.body.resets_at)).toBeGreaterThan(Date.now());
    expect(refused?.headers.get('x-credits-charged')).toBe('0');
    expect(await ledgerOf(app.context, brand)).toEqual({ granted: 1_000, charged: 1_000, refunded: 0, remaining: 0 });
  });

  it('apply a revocation within a second', async () => {
    const brand = await makeBrand(app.context);
    const [key, other] = [await brand.key('brand'), await brand.key('brand')];
    for (const server of servers) expect((await call(`${server.url}/v1/usage`, key)).status).toBe(200);
    await revokeKey(engines(), key);
    for (const server of servers) {
      const answer = await call(`${server.url}/v1/usage`, key);
      expect([answer.status, answer.body.code]).toEqual([401, 'INVALID_API_KEY']);
      expect((await call(`${server.url}/v1/usage`, other)).status).toBe(200);
    }
  });

  it('apply a changed plan within a second', async () => {
    const brand = await makeBrand(app.context, { plan: 'starter' });
    const brandKey = await brand.key('brand');
    const dataKey = await brand.key('data');
    for (const server of servers) {
      expect((await call(searchUrl(server.url), brandKey)).status).toBe(200);
      expect((await call(searchUrl(server.url), dataKey)).headers.get('x-credits-limit')).toBe('1000');
    }
    const change = { plan: 'free' as const, status: undefined, monthlyCredits: undefined };
    await setPlan(engines(), brand.subscriptionIds.brand, change);
    await setPlan(engines(), brand.subscriptionIds.data, {
      plan: 'scale',
      status: 'canceled',
      monthlyCredits: undefined,
    });
    for (const server of servers) {
      expect((await call(searchUrl(server.url), brandKey)).body.code).toBe('SUBSCRIPTION_REQUIRED');
      expect((await call(searchUrl(server.url), dataKey)).body.code).toBe('INVALID_API_KEY');
    }
    await setPlan(engines(), brand.subscriptionIds.data, {
      plan: 'growth',
      status: 'active',
      monthlyCredits: undefined,
    });
    for (const server of servers) {
      const limit = async () => (await call(searchUrl(server.url), dataKey)).headers.get('x-credits-limit');
      await until('the new plan', async () => (await limit()) === '10000');
    }
  });

  it('keep selling exactly the budget while the plan changes and the balance is rebuilt', async () => {
    const brand = await makeBrand(app.context, { plan: 'enterprise', credits: 500 });
    const keys = await Promise.all(Array.from({ length: 6 }, () => brand.key('data')));
    const search = async (i: number) => {
      if (i % 50 === 0) await app.context.redis.client.del(accessKey(brand.subscriptionIds.data));
      if (i === 123)
        await setPlan(engines(), brand.subscriptionIds.data, {
          plan: 'enterprise',
          status: 'active',
          monthlyCredits: 900,
        });
      return (await call(searchUrl(spread(i)), keys[i % keys.length] ?? '')).status;
    };
    const answers: number[] = [];
    for (let from = 0; from < 400; from += CALLS_AT_ONCE)
      answers.push(...(await Promise.all(Array.from({ length: CALLS_AT_ONCE }, (_, i) => search(from + i)))));
    const statuses = tally(answers);
    const sold = statuses[200] ?? 0;
    expect(statuses).toEqual({ 200: sold, 402: 400 - sold });
    const ledger = await ledgerOf(app.context, brand);
    expect(ledger).toEqual({ granted: 900, charged: sold * 10, refunded: 0, remaining: 900 - sold * 10 });
    expect(sold).toBeGreaterThanOrEqual(50);
    expect(sold).toBeLessThanOrEqual(90);
  });
});
