import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { refundRequest } from '../../src/kit/access/credits/refund.ts';
import { settle, settleAll } from '../../src/kit/access/credits/settle.ts';
import { accessKey, readCharges } from '../../src/kit/access/credits/stream.ts';
import { setPlan } from '../../src/platform/brands/brands.ts';
import { call, ledgerOf, makeBrand, startApp, type TestApp, unique, until } from '../harness/app.ts';
import { creator, putDirectory } from '../harness/directory/directory.ts';

const alias = unique('metering');
let app: TestApp;

const engines = () => ({ db: app.context.postgres.db, redis: app.context.redis, clock: app.context.clock });

beforeAll(async () => {
  app = await startApp({ alias });
  await putDirectory(app.context.elastic, alias, [creator(1), creator(2)]);
});
afterAll(() => app?.close());

const searchUrl = (url: string) => `${url}/v1/creators/search`;

describe('credit metering', () => {
  it('charges 10 per search, whatever its limit and even without results; lookups and previews are free', async () => {
    const brand = await makeBrand(app.context, { plan: 'starter' });
    const key = await brand.key('data');
    const charged = async (path: string) => {
      const { headers } = await call(`${app.url}${path}`, key);
      return [headers.get('x-credits-charged'), headers.get('x-credits-remaining')];
    };
    expect(await charged('/v1/creators/search?limit=100')).toEqual(['10', '990']);
    expect(await charged('/v1/creators/search?category=none')).toEqual(['10', '980']);
    expect(await charged('/v1/creators/1')).toEqual(['0', '980']);
    expect(await charged('/v1/creators/search?preview=true')).toEqual(['0', '980']);
    expect(await charged('/v1/creators/search?limit=x')).toEqual(['0', '980']);
    expect(await charged('/v1/creators/search?directory_version=gone')).toEqual(['0', '980']);
    expect(await ledgerOf(app.context, brand)).toEqual({ granted: 1_000, charged: 20, refunded: 0, remaining: 980 });
  });

  it('answers 402 without partial results to a search with fewer than 10 credits left', async () => {
    const brand = await makeBrand(app.context, { plan: 'starter', credits: 19 });
    const key = await brand.key('data');
    expect((await call(searchUrl(app.url), key)).status).toBe(200);
    const { status, body } = await call(searchUrl(app.url), key);
    expect([status, body.credits_remaining]).toEqual([402, 9]);
  });

  it('does not apply to a brand key', async () => {
    const brand = await makeBrand(app.context);
    const { status, headers } = await call(searchUrl(app.url), await brand.key('brand'));
    expect([status, headers.get('x-credits-charged')]).toEqual([200, null]);
    expect((await ledgerOf(app.context, brand)).charged).toBe(0);
  });

  it('rebuilds the balance from the ledger and the unsettled charges when Redis has lost it', async () => {
    const brand = await makeBrand(app.context, { plan: 'starter' });
    const key = await brand.key('data');
    for (let i = 0; i < 3; i += 1) await call(searchUrl(app.url), key);
    await settle(engines(), [brand.subscriptionIds.data]);
    for (let i = 0; i < 2; i += 1) await call(searchUrl(app.url), key);
    await app.context.redis.client.del(accessKey(brand.subscriptionIds.data));
    const { headers } = await call(searchUrl(app.url), key);
    expect(headers.get('x-credits-remaining')).toBe('940');
  });

  it('writes a charge to the ledger once, even if it is settled several times', async () => {
    const brand = await makeBrand(app.context, { plan: 'starter' });
    const key = await brand.key('data');
    for (let i = 0; i < 20; i += 1) await call(searchUrl(app.url), key);
    await Promise.all(Array.from({ length: 5 }, () => settleAll(engines())));
    expect(await readCharges(app.context.redis, brand.subscriptionIds.data)).toEqual([]);
    expect(await ledgerOf(app.context, brand)).toEqual({ granted: 1_000, charged: 200, refunded: 0, remaining: 800 });
  });

  it('never lets a downgrade during the period turn the balance negative', async () => {
    const brand = await makeBrand(app.context, { plan: 'enterprise', credits: 100 });
    const key = await brand.key('data');
    for (let i = 0; i < 5; i += 1) await call(searchUrl(app.url), key);
    await setPlan(engines(), brand.subscriptionIds.data, { plan: 'enterprise', status: 'active', monthlyCredits: 20 });
    expect((await call(searchUrl(app.url), key)).status).toBe(402);
    expect(await ledgerOf(app.context, brand)).toEqual({ granted: 50, charged: 50, refunded: 0, remaining: 0 });
  });

  it('refunds the charge of a request by its id, once', async () => {
    const brand = await makeBrand(app.context, { plan: 'starter' });
    const key = await brand.key('data');
    const { headers } = await call(searchUrl(app.url), key);
    const requestId = headers.get('x-request-id') ?? '';
    expect(await refundRequest(engines(), requestId)).toMatchObject({ credits: 10 });
    await expect(refundRequest(engines(), requestId)).rejects.toThrow(/was already refunded/);
    await expect(refundRequest(engines(), 'req_unknown')).rejects.toThrow(/No such charge/);
    expect((await call(`${app.url}/v1/creators/1`, key)).headers.get('x-credits-remaining')).toBe('1000');
    expect(await ledgerOf(app.context, brand)).toEqual({ granted: 1_000, charged: 10, refunded: 10, remaining: 1_000 });
  });

  it('reports usage per key and day to the brand only', async () => {
    const brand = await makeBrand(app.context, { plan: 'starter' });
    const stranger = await makeBrand(app.context, { plan: 'starter' });
    const [first, second] = [await brand.key('data'), await brand.key('data')];
    for (let i = 0; i < 3; i += 1) await call(searchUrl(app.url), first);
    await call(searchUrl(app.url), second);
    await settle(engines(), [brand.subscriptionIds.data]);
    const { body } = await call(`${app.url}/v1/usage`, await brand.key('brand'));
    const today = new Date().toISOString().slice(0, 10);
    const rows = body.data.map(({ date, calls, credits, refunded }: Record<string, unknown>) => ({
      date,
      calls,
      credits,
      refunded,
    }));
    expect(rows).toHaveLength(2);
    expect(rows).toContainEqual({ date: today, calls: 3, credits: 30, refunded: 0 });
    expect(rows).toContainEqual({ date: today, calls: 1, credits: 10, refunded: 0 });
    expect(body.summary.balance).toMatchObject({ granted: 1_000, charged: 40, refunded: 0, remaining: 960 });
    expect(JSON.stringify(body)).not.toContain(first);
    expect((await call(`${app.url}/v1/usage`, await stranger.key('brand'))).body.data).toEqual([]);
  });

  it('records when a key was last used', async () => {
    const brand = await makeBrand(app.context);
    const key = await brand.key('brand');
    await call(`${app.url}/v1/usage`, key);
    await until('last_used_at', async () => {
      const row = await app.context.postgres.db
        .selectFrom('apiKeys')
        .select('lastUsedAt')
        .where('brandId', '=', brand.id)
        .executeTakeFirst();
      return row?.lastUsedAt !== null;
    });
  });
});
