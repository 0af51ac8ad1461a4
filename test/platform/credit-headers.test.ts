import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Answer, call, engineUrls, ledgerOf, makeBrand, startApp, type TestApp, unique } from '../harness/app.ts';
import { creator, putDirectory } from '../harness/directory/directory.ts';
import { startProxy } from '../harness/kit/proxy.ts';

const alias = unique('credits');
let app: TestApp;

beforeAll(async () => {
  app = await startApp({ alias });
  await putDirectory(app.context.elastic, alias, [creator(1)]);
});
afterAll(() => app?.close());

const search = (key: string, query = '') => call(`${app.url}/v1/creators/search${query}`, key);

/** Status, limit, remaining and charged; the reset is within a month. */
function creditsOf({ status, headers }: Answer) {
  const seconds = Number(headers.get('x-credits-reset')) - Date.now() / 1_000;
  expect(seconds).toBeGreaterThan(0);
  expect(seconds).toBeLessThan(32 * 24 * 60 * 60);
  return [status, ...['limit', 'remaining', 'charged'].map((name) => headers.get(`x-credits-${name}`))];
}

describe('the headers with a data key’s credits', () => {
  it('are on 402, 403, 404, 422 and 429 responses, which charge nothing', async () => {
    const brand = await makeBrand(app.context, { plan: 'starter', credits: 15 });
    const key = await brand.key('data');
    expect(creditsOf(await search(key))).toEqual([200, '15', '5', '10']);
    expect(creditsOf(await search(key))).toEqual([402, '15', '5', '0']);
    expect(creditsOf(await call(`${app.url}/v1/usage`, key))).toEqual([403, '15', '5', '0']);
    expect(creditsOf(await call(`${app.url}/v1/creators/%zz`, key))).toEqual([403, '15', '5', '0']);
    expect(creditsOf(await call(`${app.url}/v1/creators/99`, key))).toEqual([404, '15', '5', '0']);
    expect(creditsOf(await search(key, '?limit=x'))).toEqual([422, '15', '5', '0']);
    for (let i = 6; i < 100; i += 1) await search(key, '?limit=x');
    expect(creditsOf(await search(key))).toEqual([429, '15', '5', '0']);
  });

  it('show no charge for a call over the rate limit, however many credits are left', async () => {
    const brand = await makeBrand(app.context, { plan: 'starter' });
    const key = await brand.key('data');
    for (let i = 0; i < 100; i += 1) await call(`${app.url}/v1/creators/1`, key);
    expect(creditsOf(await search(key))).toEqual([429, '1000', '1000', '0']);
    expect(await ledgerOf(app.context, brand)).toEqual({ granted: 1_000, charged: 0, refunded: 0, remaining: 1_000 });
  });

  it('show 0 remaining credits and no charge without Redis, while the balance is unknown', async () => {
    const proxy = await startProxy(engineUrls().redis);
    const cut = await startApp({ alias, urls: { redis: proxy.url } });
    const key = await (await makeBrand(app.context, { plan: 'starter' })).key('data');
    await proxy.cut();
    const read = async (path: string) => creditsOf(await call(cut.url + path, key));
    expect(await read('/v1/creators/search')).toEqual([503, '1000', '0', '0']);
    expect(await read('/v1/creators/1')).toEqual([200, '1000', '0', '0']);
    expect(await read('/v1/usage')).toEqual([403, '1000', '0', '0']);
    expect(await read('/v1/creators/search?limit=x')).toEqual([422, '1000', '0', '0']);
    await proxy.restore();
    await cut.close();
    await proxy.close();
  });
});

describe('CREATOR_LOOKUP_CREDITS', () => {
  it('is the price of one creator; a creator that does not exist is free', async () => {
    const priced = await startApp({ alias, env: { CREATOR_LOOKUP_CREDITS: '3' } });
    const brand = await makeBrand(app.context, { plan: 'starter', credits: 5 });
    const key = await brand.key('data');
    const look = async (pk: number) => creditsOf(await call(`${priced.url}/v1/creators/${pk}`, key));
    expect(await look(1)).toEqual([200, '5', '2', '3']);
    const poor = await call(`${priced.url}/v1/creators/1`, key);
    expect([poor.body.credits_remaining, poor.body.credits_required, ...creditsOf(poor)]).toEqual([
      ...[2, 3, 402],
      ...['5', '2', '0'],
    ]);
    const other = await makeBrand(app.context, { plan: 'starter', credits: 5 });
    const missing = await call(`${priced.url}/v1/creators/99`, await other.key('data'));
    expect(creditsOf(missing)).toEqual([404, '5', '5', '0']);
    expect((await ledgerOf(app.context, brand)).charged).toBe(3);
    const { charged, refunded } = await ledgerOf(app.context, other);
    expect(charged - refunded).toBe(0);
    await priced.close();
  });
});
