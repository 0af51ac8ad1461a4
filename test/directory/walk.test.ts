import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { settle } from '../../src/kit/access/credits/settle.ts';
import { blocksKey } from '../../src/kit/access/credits/stream.ts';
import { setPlan } from '../../src/platform/brands/brands.ts';
import { call, ledgerOf, makeBrand, startApp, type TestApp, unique } from '../harness/app.ts';
import { creator, putDirectory } from '../harness/directory/directory.ts';
import { walkOnce } from '../harness/directory/walking.ts';
import { connectAgent, errorOf } from '../harness/interfaces/agent.ts';

const alias = unique('walk');
const rows = Array.from({ length: 2_450 }, (_, i) =>
  creator(i + 1, {
    // Ties, and values that are missing.
    follower_count: i % 50 === 0 ? null : 1_000 * (i % 40),
    engagement_rate: i % 30 === 0 ? null : (i % 17) / 4,
    media_count: i % 20 === 0 ? null : i,
    biography: `Zoë says "hi"},"sort":[1] ${'word '.repeat(i % 9)}`,
    category: i % 5 === 0 ? 'Food' : 'Fitness',
  }),
);

let app: TestApp;
let index: string;
beforeAll(async () => {
  app = await startApp({ alias });
  index = await putDirectory(app.context.elastic, alias, rows);
});
afterAll(() => app?.close());

const engines = () => ({ db: app.context.postgres.db, redis: app.context.redis, clock: app.context.clock });
const walk = (key: string, query: Record<string, string> = {}, requestId?: string) =>
  walkOnce(app.url, key, query, requestId ? { requestId } : {});

async function payer(credits = 100_000) {
  const brand = await makeBrand(app.context, { plan: 'enterprise', credits });
  return { brand, key: await brand.key('data') };
}

async function pagesOf(key: string, query: Record<string, string>): Promise<number[]> {
  const found: number[] = [];
  for (let page = 1; ; page += 1) {
    const parameters = new URLSearchParams({ ...query, limit: '100', page: String(page) });
    const { body } = await call(`${app.url}/v1/creators/search?${parameters}`, key);
    found.push(...body.data.map(({ pk }: { pk: number }) => pk));
    if (!body.pagination.has_more) return found;
  }
}

describe('a walk', () => {
  it('has every match of a search in its order, with a cursor at the start and after each thousand, and costs what the pages cost', async () => {
    const { brand, key } = await payer();
    const walked = await walk(key);
    expect(walked.pks).toEqual(await pagesOf(await brand.key('brand'), {}));
    expect(walked.end).toEqual({ complete: true, creators: 2_450, credits: 250, next: null });
    expect(walked.before).toBe(2_000);
    expect(walked.headers.get('content-type')).toBe('application/x-ndjson; charset=utf-8');
    expect(walked.headers.get('x-directory-version')).toBe(index);
    expect([walked.headers.get('x-credits-charged'), walked.headers.get('x-credits-remaining')]).toEqual([
      '10',
      '99990',
    ]);
    expect(walked.headers.get('x-ratelimit-remaining')).toBe('99');
    expect(await ledgerOf(app.context, brand)).toMatchObject({ charged: 250, refunded: 0 });
  });

  it.each(['engagement', 'followers_asc', 'engagement_asc', 'posts', 'recent', 'relevance'])(
    'has the order of sort=%s',
    async (sort) => {
      const key = await (await makeBrand(app.context)).key('brand');
      const query = { category: 'Food', q: 'says', sort };
      const walked = await walk(key, query);
      expect(walked.pks).toEqual(await pagesOf(key, query));
      expect(walked.end).toEqual({ complete: true, creators: 490, credits: 0, next: null });
    },
  );

  it('has the cards as search has them', async () => {
    const key = await (await makeBrand(app.context)).key('brand');
    const { body } = await call(`${app.url}/v1/creators/search?category=Food&follower_min=35000&limit=100`, key);
    expect((await walk(key, { category: 'Food', follower_min: '35000' })).cards).toEqual(body.data);
    expect(body.data.length).toBeGreaterThan(0);
  });

  it('is CSV on request', async () => {
    const { brand, key } = await payer();
    const headers = { accept: 'text/csv' };
    const answer = await call(`${app.url}/v1/creators/search?walk=true&category=Food`, key, { headers });
    expect(answer.headers.get('content-type')).toBe('text/csv; charset=utf-8');
    expect(answer.body.trimEnd().split('\n')).toHaveLength(491);
    expect(answer.body).toContain('Zoë says ""hi""');
    expect((await ledgerOf(app.context, brand)).charged).toBe(50);
  });

  it('costs 10 credits if it is empty, and its preview names the price', async () => {
    const { brand, key } = await payer();
    const { end, pks } = await walk(key, { category: 'none' });
    expect([pks, end]).toEqual([[], { complete: true, creators: 0, credits: 10, next: null }]);
    const priceOf = async (query: string) =>
      (await call(`${app.url}/v1/creators/search?walk=true&preview=true${query}`, key)).body.preview
        .credits_to_fetch_all;
    expect([await priceOf(''), await priceOf('&category=none')]).toEqual([250, 10]);
    expect((await ledgerOf(app.context, brand)).charged).toBe(10);
  });

  it.each([
    ['catagory=Beauty', 'catagory', 'unknown', 'Did you mean category?'],
    ['minFollowers=1000', 'minFollowers', 'unknown', 'Did you mean follower_min?'],
    ['in_list=', 'in_list', 'blank', 'is blank'],
    ['category=%CC%81', 'category', 'blank', 'is blank'],
    ['max_credits=%20', 'max_credits', 'blank', 'is blank'],
  ])('never runs past %s, which a page ignores and names, free of charge', async (query, field, code, message) => {
    const { brand, key } = await payer();
    const url = `${app.url}/v1/creators/search?${query}`;
    for (const more of ['walk=true', 'walk=True', 'walk=true&preview=true']) {
      const { status, body } = await call(`${url}&${more}`, key);
      expect([status, body.details]).toEqual([422, [{ field, code, message: expect.stringContaining(message) }]]);
    }
    expect((await call(`${url}&walk=true`, await brand.key('brand'))).status).toBe(422);
    expect((await ledgerOf(app.context, brand)).charged).toBe(0);
    const page = await call(`${url}&limit=1`, key);
    expect([page.status, page.body.meta.ignored]).toEqual([200, [field]]);
    expect(page.headers.get('x-ignored-params')).toBe(code === 'unknown' ? field : null);
    const older = await call(`${app.url}/api/v1/creators/search?${query}`, key);
    expect([older.status, Object.keys(older.body.meta)]).toEqual([200, ['interpretation']]);
  });

  it('continues from a cursor for the price of what was not paid yet', async () => {
    const { brand, key } = await payer();
    const cut = await walkOnce(app.url, key, {}, { isEnough: (pks) => pks.length >= 1_300 });
    expect(cut.end).toBeUndefined();
    const rest = await walk(key, { cursor: cut.cursor ?? '' });
    const all = [...cut.pks.slice(0, cut.before), ...rest.pks];
    expect([all.length, new Set(all).size, rest.end?.complete]).toEqual([2_450, 2_450, true]);
    expect(await ledgerOf(app.context, brand)).toMatchObject({ charged: 250, refunded: 0 });
    // Redis may forget: the ledger and the charges on their way know what was paid.
    await settle(engines(), [brand.subscriptionIds.data]);
    const ids = await app.context.postgres.db
      .selectFrom('creditEntries')
      .select('chargeId')
      .where('subscriptionId', '=', brand.subscriptionIds.data)
      .where('kind', '=', 'charge')
      .execute();
    const [walkId = ''] = ids[0]?.chargeId.split('#') ?? [];
    expect(ids.map(({ chargeId }) => chargeId).sort()).toEqual(
      Array.from({ length: 25 }, (_, i) => `${walkId}#${i + 1}`).sort(),
    );
    await app.context.redis.client.del(blocksKey(brand.subscriptionIds.data, walkId));
    expect((await walk(key, { cursor: cut.cursor ?? '' })).end).toMatchObject({ complete: true, credits: 0 });
    expect((await ledgerOf(app.context, brand)).charged).toBe(250);
  });

  it('is not paid twice if it is sent again with its request id, as another walk is', async () => {
    const { brand, key } = await payer();
    const requestId = unique('again');
    for (let i = 0; i < 2; i += 1) expect((await walk(key, { category: 'Food' }, requestId)).pks).toHaveLength(490);
    expect((await ledgerOf(app.context, brand)).charged).toBe(50);
    await walk(key, { category: 'Fitness', follower_min: '39000' }, requestId);
    expect((await ledgerOf(app.context, brand)).charged).toBe(60);
  });

  it('ends at max_credits or with the last credit, and says where to continue', async () => {
    const { brand, key } = await payer(70);
    const first = await walk(key, { category: 'Food', max_credits: '25' });
    expect(first.end).toMatchObject({
      complete: false,
      creators: 200,
      credits: 20,
      reason: { code: 'CREDITS_EXHAUSTED' },
    });
    const cursor = first.end?.next ?? '';
    const second = await walk(key, { category: 'Food', cursor, max_credits: '20' });
    expect(second.end).toMatchObject({ complete: false, creators: 200, credits: 20 });
    const last = await walk(key, { category: 'Food', cursor: second.end?.next ?? '' });
    expect(last.end).toMatchObject({ complete: true, creators: 90, credits: 10 });
    expect(new Set([...first.pks, ...second.pks, ...last.pks]).size).toBe(490);
    const poor = await walk(key, {});
    expect(poor.end).toMatchObject({
      complete: false,
      creators: 200,
      credits: 20,
      reason: { code: 'CREDITS_EXHAUSTED' },
    });
    const none = await walk(key, { cursor: poor.end?.next ?? '' });
    expect([none.status, none.refusal?.code]).toEqual([402, 'CREDITS_EXHAUSTED']);
    expect((await walk(key, { max_credits: '9' })).refusal?.code).toBe('CREDITS_EXHAUSTED');
    await setPlan(engines(), brand.subscriptionIds.data, {
      plan: 'enterprise',
      status: 'active',
      monthlyCredits: 1_000,
    });
    expect((await walk(key, { cursor: poor.end?.next ?? '' })).end).toMatchObject({ complete: true, creators: 2_250 });
    expect((await ledgerOf(app.context, brand)).charged).toBe(50 + 250);
  });

  it('refuses a cursor that is forged, of another brand or of another search, and one of a version that is gone, free of charge', async () => {
    const [{ key, brand }, other] = [await payer(), await payer()];
    const cursor = (await walk(key, { max_credits: '10', category: 'Food' })).end?.next ?? '';
    const refusalOf = async (its: string, query: Record<string, string>) => {
      const { status, refusal } = await walk(its, query);
      return [status, refusal?.details?.[0]?.field];
    };
    expect(await refusalOf(key, { category: 'Fitness', cursor })).toEqual([422, 'cursor']);
    expect(await refusalOf(key, { category: 'Food', sort: 'posts', cursor })).toEqual([422, 'cursor']);
    expect(await refusalOf(other.key, { category: 'Food', cursor })).toEqual([422, 'cursor']);
    expect(await refusalOf(key, { category: 'Food', cursor: `${cursor.slice(0, -4)}AAAA` })).toEqual([422, 'cursor']);
    expect(await refusalOf(key, { category: 'Food', cursor, directory_version: 'other' })).toEqual([409, undefined]);
    expect((await ledgerOf(app.context, brand)).charged).toBe(10);
    expect((await ledgerOf(app.context, other.brand)).charged).toBe(0);
  });

  it.each([
    [{ page: '1' }, 'page'],
    [{ limit: '10' }, 'limit'],
    [{ pks: '1' }, 'pks'],
    [{ preview: 'true', cursor: 'x' }, 'cursor'],
  ])('refuses %j beside it', async (query, field) => {
    const { status, refusal } = await walk(await (await makeBrand(app.context)).key('brand'), query);
    expect([status, refusal?.details?.[0]?.field]).toEqual([422, field]);
  });

  it('is not plain JSON, not a tool for agents, and unknown to the older interface', async () => {
    const key = await (await makeBrand(app.context)).key('brand');
    const answer = await call(`${app.url}/v1/creators/search?walk=true`, key, {
      headers: { accept: 'application/json' },
    });
    expect([answer.status, answer.body.code]).toEqual([406, 'NOT_ACCEPTABLE']);
    const older = await call(`${app.url}/api/v1/creators/search?walk=true`, key);
    expect([older.status, older.headers.get('x-ignored-params')]).toEqual([200, 'walk']);
    const client = await connectAgent(app.url, key);
    const refused = errorOf(await client.callTool({ name: 'search_creators', arguments: { walk: true } }));
    expect(refused).toMatchObject({ code: 'VALIDATION_ERROR', details: [{ field: 'walk' }] });
    await client.close();
  });

  it('is limited to two at a time for each brand', async () => {
    const brand = await makeBrand(app.context);
    const key = await brand.key('brand');
    const take = (name: string) => app.context.directory.walks.take(brand.id, name, 'Two are under way.');
    const [one, two] = [await take('walk_one'), await take('walk_two')];
    const third = await walk(key, { category: 'Food' });
    expect([third.status, third.refusal?.code]).toEqual([429, 'RATE_LIMITED']);
    expect(Number(third.headers.get('retry-after'))).toBeGreaterThan(0);
    // A newer holder of the same walk, such as after a broken connection, replaces the older one.
    const again = await take('walk_two');
    expect([await one.keep(), await two.keep(), await again.keep()]).toEqual([true, false, true]);
    await one.leave();
    expect((await walk(key, { category: 'Food' })).end?.complete).toBe(true);
    expect((await walk(key, { category: 'Food' })).end?.complete).toBe(true);
  });
});
