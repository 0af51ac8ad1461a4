import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Answer, call, engineUrls, ledgerOf, makeBrand, startApp, type TestApp, unique } from '../harness/app.ts';
import { creator, putDirectory } from '../harness/directory/directory.ts';
import { startProxy } from '../harness/kit/proxy.ts';

const alias = unique('ahead');
/** Two processes, as far as a caller can tell: each remembers for itself how far a key is from its limits. */
let one: TestApp;
let other: TestApp;

beforeAll(async () => {
  [one, other] = await Promise.all([startApp({ alias }), startApp({ alias })]);
  await putDirectory(one.context.elastic, alias, [creator(1)]);
});
afterAll(() => Promise.all([one?.close(), other?.close()]));

const search = (app: TestApp, key: string) => call(`${app.url}/v1/creators/search`, key);
const richBrand = (credits = 1_000_000) => makeBrand(one.context, { plan: 'enterprise', credits });

describe('a search that starts in parallel with its debit', () => {
  it('is charged once and shows the remaining credits', async () => {
    const brand = await richBrand();
    const key = await brand.key('data');
    for (let n = 1; n <= 5; n += 1) {
      const { status, headers, body } = await search(one, key);
      expect([status, body.data.length]).toEqual([200, 1]);
      expect(headers.get('x-credits-remaining')).toBe(String(1_000_000 - 10 * n));
      expect(headers.get('x-directory-version')).toMatch(/^ahead-/);
    }
    expect(await ledgerOf(one.context, brand)).toMatchObject({ charged: 50 });
  });

  it('is refused when other calls use up the credits meanwhile, and shows no results', async () => {
    const brand = await richBrand();
    const key = await brand.key('data');
    for (const app of [one, other]) expect((await search(app, key)).status).toBe(200);
    await Promise.all(Array.from({ length: 98 }, () => search(other, key)));
    const { status, headers, body } = await search(one, key);
    expect([status, body.code]).toEqual([429, 'RATE_LIMITED']);
    expect(headers.get('x-directory-version')).toBeNull();
    expect(await ledgerOf(one.context, brand)).toMatchObject({ charged: 1_000 });
  });

  it('sells no credit twice over many keys and two processes', async () => {
    const brand = await richBrand(1_500);
    const keys = await Promise.all(Array.from({ length: 8 }, () => brand.key('data')));
    for (const key of keys) expect((await search(one, key)).status).toBe(200);
    const answers: Answer[] = [];
    // Two hundred at once are more than a busy Elasticsearch answers within its time limit.
    for (let from = 0; from < 200; from += 40) {
      const calls = Array.from({ length: 40 }, (_, i) =>
        search(i % 2 ? one : other, keys[(from + i) % keys.length] ?? ''),
      );
      answers.push(...(await Promise.all(calls)));
    }
    const count = (wanted: number) => answers.filter(({ status }) => status === wanted).length;
    expect([count(200), count(402)]).toEqual([142, 58]);
    expect(await ledgerOf(one.context, brand)).toMatchObject({ charged: 1_500, remaining: 0 });
  });

  it('is refunded when Elasticsearch fails, and is 503 without a charge when Redis is down', async () => {
    const elasticsearch = await startProxy(engineUrls().elasticsearch);
    const redis = await startProxy(engineUrls().redis);
    const app = await startApp({ alias, urls: { elasticsearch: elasticsearch.url, redis: redis.url } });
    await app.context.redis.ready();
    const brand = await richBrand();
    const key = await brand.key('data');
    expect((await search(app, key)).status).toBe(200);
    await elasticsearch.cut();
    const failed = await search(app, key);
    expect([failed.status, failed.headers.get('x-credits-charged')]).toEqual([503, '0']);
    await elasticsearch.restore();
    await redis.cut();
    expect((await search(app, key)).status).toBe(503);
    await app.close();
    await Promise.all([elasticsearch.close(), redis.close()]);
    const { charged, refunded } = await ledgerOf(one.context, brand);
    expect(charged - refunded).toBe(10);
  });
});
