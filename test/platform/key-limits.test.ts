import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { settle } from '../../src/kit/access/credits/settle.ts';
import { accessKey } from '../../src/kit/access/credits/stream.ts';
import { type KeyLimits, NO_LIMITS } from '../../src/kit/access/keys/limits.ts';
import { alertAboutCredits } from '../../src/platform/keys/credit-alerts.ts';
import { createKey } from '../../src/platform/keys/keys.ts';
import { call, makeBrand, startApp, type TestApp, type TestBrand, unique } from '../harness/app.ts';
import { creator, putDirectory } from '../harness/directory/directory.ts';
import { mailsOf } from '../harness/kit/mail.ts';
import { type SignedIn, signIn } from '../harness/platform/session.ts';

const alias = unique('limits');
let app: TestApp;
let brand: TestBrand;
let owner: SignedIn;
beforeAll(async () => {
  app = await startApp({ alias });
  const abroad = { country: 'CA', city: 'Toronto', category: 'Food' };
  await putDirectory(app.context.elastic, alias, [creator(1), creator(2, { category: 'Food' }), creator(3, abroad)]);
  brand = await makeBrand(app.context, { plan: 'scale' });
  owner = await signIn(app, brand.id);
});
afterAll(() => app?.close());

const limitedKey = async (limits: Partial<KeyLimits>, kind: 'data' | 'brand' = 'data') =>
  await createKey(app.context.postgres.db, app.context.clock, {
    ...{ brandId: brand.id, subscriptionId: brand.subscriptionIds[kind], kind, name: unique('limited') },
    limits: { ...NO_LIMITS, ...limits },
  });
const search = async (key: string, query = '', headers: Record<string, string> = {}) =>
  await call(`${app.url}/v1/creators/search?${query}`, key, { headers });
const engines = () => ({ db: app.context.postgres.db, redis: app.context.redis, clock: app.context.clock });

describe('a key with limits', () => {
  it('spends what a day allows, says which limit refused it and when it ends, and loses no count with Redis', async () => {
    const { key } = await limitedKey({ daily_credits: 25, monthly_credits: 1_000 });
    expect((await search(key)).status).toBe(200);
    await app.context.redis.use((client) => client.del(accessKey(brand.subscriptionIds.data)));
    expect((await search(key)).status).toBe(200);
    const refused = await search(key);
    expect([refused.status, refused.body]).toMatchObject([
      402,
      { code: 'CREDITS_EXHAUSTED', limit: 'key_day', credits_remaining: 5, credits_required: 10 },
    ]);
    expect(refused.body.resets_at).toMatch(/T00:00:00\.000Z$/);
    expect(refused.headers.get('x-credits-charged')).toBe('0');
    expect((await search(key, 'preview=true')).status).toBe(200);
  });

  it('spends what a period allows, and gets back what a failed call cost', async () => {
    const { key } = await limitedKey({ monthly_credits: 20 });
    const failed = await search(key, 'in_list=lst_missing');
    expect([failed.status, (await search(key)).status, (await search(key)).status]).toEqual([422, 200, 200]);
    expect((await search(key)).body).toMatchObject({ limit: 'key_month', credits_remaining: 0 });
  });

  it('obeys changed limits from its next call on, and counts what it spent before', async () => {
    const { key, id } = await limitedKey({});
    for (let i = 0; i < 3; i += 1) expect((await search(key)).status).toBe(200);
    const patch = async (limits: object) => await owner.send('PATCH', `/v1/keys/${id}`, { limits });
    const { status, body } = await patch({ daily_credits: 30 });
    expect([status, body.data.limits]).toEqual([200, { ...NO_LIMITS, daily_credits: 30 }]);
    expect((await search(key)).body).toMatchObject({ limit: 'key_day', credits_remaining: 0 });
    await patch({ daily_credits: 40 });
    expect((await search(key)).status).toBe(200);
    expect((await search(key)).body.limit).toBe('key_day');
    expect((await patch({ daily_credits: null })).body.data.limits).toEqual(NO_LIMITS);
    expect((await search(key)).status).toBe(200);
  });

  it('makes as many calls a minute as it may, and none from another address', async () => {
    const { key } = await limitedKey({ calls_per_minute: 3 }, 'brand');
    const answers = [];
    for (let i = 0; i < 4; i += 1) answers.push(await search(key));
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 429]);
    expect(answers[0]?.headers.get('x-ratelimit-limit')).toBe('3');
    const away = await limitedKey({ allowed_addresses: ['203.0.113.0/24', '2001:db8::/32'] });
    const refused = await search(away.key);
    expect([refused.status, refused.body.code]).toEqual([403, 'ADDRESS_NOT_ALLOWED']);
    const near = await limitedKey({ allowed_addresses: ['127.0.0.0/8'] });
    expect((await search(near.key)).status).toBe(200);
  });

  it('finds only what its forced filters allow, whatever it requests, and sees those filters', async () => {
    const { key } = await limitedKey({ forced_filters: { country: 'US', not_category: 'Food' } });
    const found = async (query: string) => {
      const { body } = await search(key, query);
      return [body.pagination.total, body.data.map(({ pk }: { pk: number }) => pk), body.meta.interpretation.forced];
    };
    const forced = { country: 'US', not_category: 'Food' };
    expect(await found('')).toEqual([1, [1], forced]);
    expect(await found('country=CA')).toEqual([0, [], forced]);
    expect(await found('pks=1,3')).toEqual([1, [1], forced]);
    expect((await search(key, 'preview=true')).body.preview.facets.category).toMatchObject([
      { value: 'fitness', count: 1 },
    ]);
    const statuses = await Promise.all([1, 2, 3].map((pk) => call(`${app.url}/v1/creators/${pk}`, key)));
    expect(statuses.map(({ status }) => status)).toEqual([200, 404, 404]);
    const older = await call(`${app.url}/api/v1/creators/search?city=Toronto`, key);
    expect(older.body.pagination?.total ?? older.body.total).toBe(0);
  });

  it('is refused for filters that would bind it to nothing, and can be replaced when its list is gone', async () => {
    const create = async (forced_filters: object) =>
      await owner.send('POST', '/v1/keys', { name: 'bound', type: 'data', limits: { forced_filters } });
    const refused: [forced: object, field: string, code: string][] = [
      [{ country: ' ' }, 'country', 'invalid'],
      [{ category: '\u0301', city: 'NYC' }, 'category', 'invalid'],
      [{ in_list: 'lst_missing' }, 'in_list', 'not_found'],
      [{ page: '2' }, 'page', 'invalid'],
    ];
    for (const [forced, field, code] of refused) {
      const { status, body } = await create(forced);
      const [problem] = body.details ?? [];
      expect([status, problem?.field, problem?.code]).toEqual([422, `limits.forced_filters.${field}`, code]);
    }
    const brandKey = await brand.key('brand');
    const list = await call(`${app.url}/v1/lists`, brandKey, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ name: 'bound', search: { city: 'Toronto' } }),
    });
    const made = await create({ in_list: list.body.data.id });
    expect((await search(made.body.data.key)).body.pagination.total).toBe(1);
    await call(`${app.url}/v1/lists/${list.body.data.id}`, brandKey, { method: 'DELETE' });
    const { status, body } = await owner.send('POST', `/v1/keys/${made.body.data.id}/rotate`, { overlap_hours: 0 });
    expect([status, body.data.limits.forced_filters]).toEqual([201, { in_list: list.body.data.id }]);
  });

  it('mails owners once a period for each share of a limit that it reached', async () => {
    const { key } = await limitedKey({ daily_credits: 20, alert_at: [50, 100] });
    const { key: free } = await limitedKey({ alert_at: [100] });
    for (const one of [key, free]) expect((await search(one)).status).toBe(200);
    const alerts = async () => {
      await settle(engines(), [brand.subscriptionIds.data]);
      await alertAboutCredits.run(app.context);
      const mails = await mailsOf(app.context, brand.id);
      return mails.map(({ subject }) => subject).filter((subject) => /has used \d+%/.test(subject)).length;
    };
    await expect.poll(alerts).toBe(1);
    expect((await search(key)).status).toBe(200);
    expect(await alerts()).toBe(2);
    expect(await alerts()).toBe(2);
  });
});

it('A key’s limits are refused where they make no sense, and are set by people only', async () => {
  const make = async (limits: object, type = 'data') =>
    await owner.send('POST', '/v1/keys', { name: 'k', type, limits });
  const fields = async (limits: object, type?: string) =>
    (await make(limits, type)).body.details.map(({ field }: { field: string }) => field);
  expect(await fields({ daily_credits: 5 }, 'brand')).toEqual(['limits.daily_credits']);
  expect(await fields({ forced_filters: { citty: 'LA', age_min: 'x' } })).toEqual([
    'limits.forced_filters.citty',
    'limits.forced_filters.age_min',
  ]);
  expect(await fields({ calls_per_minute: 101 })).toEqual(['limits.calls_per_minute']);
  expect(await fields({ allowed_addresses: ['here'] })).toEqual(['limits.allowed_addresses.0']);
  expect((await make({ daily_credits: 500, alert_at: [80] })).status).toBe(201);
  const byKey = await call(`${app.url}/v1/keys`, await brand.key('brand'));
  expect([byKey.status, byKey.body.code]).toEqual([403, 'SESSION_REQUIRED']);
});

it('A search that costs more than max_credits is 402 and costs nothing', async () => {
  const key = await brand.key('data');
  const refused = await search(key, 'max_credits=9');
  expect([refused.status, refused.body]).toMatchObject([402, { limit: 'max_credits', credits_required: 10 }]);
  expect(refused.headers.get('x-credits-charged')).toBe('0');
  expect((await search(key, 'max_credits=10')).headers.get('x-credits-charged')).toBe('10');
});
