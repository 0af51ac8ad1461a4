import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { settle } from '../../src/kit/access/credits/settle.ts';
import { findCaller } from '../../src/kit/access/keys/callers.ts';
import { hashKey } from '../../src/kit/access/keys/key-form.ts';
import { DAY_MS } from '../../src/kit/values/duration.ts';
import {
  type Answer,
  call,
  engineUrls,
  keysInTurn,
  makeBrand,
  startApp,
  type TestApp,
  type TestBrand,
  unique,
  until,
} from '../harness/app.ts';
import { creator, putDirectory } from '../harness/directory/directory.ts';
import { walkOnce } from '../harness/directory/walking.ts';
import { startProxy } from '../harness/kit/proxy.ts';

const alias = unique('requests');
const CREATORS = 230;
let app: TestApp;
let brand: TestBrand;
let brandKey: string;
let dataKey: string;
/** Of the brand, for calls that are repeated until something is recorded. */
let nextKey: () => string;

beforeAll(async () => {
  app = await startApp({ alias });
  const creators = Array.from({ length: CREATORS }, (_, i) => creator(i + 1, { category: i < 30 ? 'Food' : 'Cars' }));
  await putDirectory(app.context.elastic, alias, creators);
  brand = await makeBrand(app.context, { plan: 'scale' });
  [brandKey, dataKey] = [await brand.key('brand'), await brand.key('data')];
  nextKey = await keysInTurn(brand, 5);
});
afterAll(() => app?.close());

const search = async (query: string, key = dataKey) => await call(`${app.url}/v1/creators/search?${query}`, key);
const requestsOf = async (query: string, key = brandKey) => await call(`${app.url}/v1/requests?${query}`, key);
const idOf = ({ headers }: Answer) => headers.get('x-request-id') ?? '';

/** The only call with this request id, once it is recorded. */
async function recorded(answer: Answer | string, key = nextKey()): Promise<Answer['body']> {
  const query = `request_id=${typeof answer === 'string' ? answer : idOf(answer)}`;
  await until(`the record of ${query}`, async () => (await requestsOf(query, key)).body.data?.length === 1);
  return (await requestsOf(query, key)).body.data[0];
}

describe('the record of calls', () => {
  it('has what each call did, cost and found, and no text that was searched for', async () => {
    const answers = [
      await search('q=purple+walrus&category=food&sort=engagement'),
      await search('category=food&limit=5&page=2'),
      await search('category=food&preview=true'),
      await search('usernames=nobody.at.all'),
      await search('limit=x'),
      await call(`${app.url}/v1/nowhere`, brandKey),
    ];
    const entries = [];
    for (const answer of answers) entries.push(await recorded(answer));
    const [text, page, preview, lookUp, invalid, unknown] = entries;
    const filters = { kind: 'page', filters: ['category'], fingerprint: page.search.fingerprint };
    const common = { operation: 'search_creators', status: 200, code: null };
    expect(text).toMatchObject({ ...common, credits: 10, results: 0, search: { filters: ['category', 'q'] } });
    expect(page).toMatchObject({ ...common, credits: 10, results: 30, search: filters });
    expect(preview).toMatchObject({ ...common, credits: 0, results: 30, search: { ...filters, kind: 'preview' } });
    expect(lookUp).toMatchObject({ ...common, credits: 0, results: 0, search: { kind: 'look_up' } });
    expect(invalid).toMatchObject({ status: 422, code: 'VALIDATION_ERROR', credits: 0, results: null, search: null });
    expect(unknown).toMatchObject({ operation: null, status: 404, code: 'NOT_FOUND' });
    expect(text.search.fingerprint).not.toBe(page.search.fingerprint);
    expect(entries.every(({ ms, key_name }) => ms > 0 && key_name === 'test')).toBe(true);
    const { rows } = await readRows();
    expect(rows).toContain(idOf(answers[0] ?? (await search(''))));
    expect(rows).not.toMatch(/walrus|nobody/);
  });

  it('has a walk once, with the creators that it sent and the sum of its credits', async () => {
    const id = unique('req');
    expect((await walkOnce(app.url, dataKey, {}, { requestId: id })).pks).toHaveLength(CREATORS);
    expect(await recorded(id)).toMatchObject({ status: 200, credits: 30, results: CREATORS, search: { kind: 'walk' } });
  });

  it('is filtered by key, operation, status and time, page by page without gaps, and as CSV', async () => {
    const other = await makeBrand(app.context, { plan: 'scale' });
    const [key, own] = [await other.key('data'), await other.key('brand')];
    const ids: string[] = [];
    for (let i = 0; i < 7; i += 1) ids.push(idOf(await search(i < 2 ? 'limit=x' : `limit=${i}`, key)));
    await recorded(ids.at(-1) ?? '', own);
    const { key_id: keyId } = await recorded(ids[0] ?? '', own);
    const pages: string[][] = [];
    for (let after = ''; ; ) {
      const { body } = await requestsOf(`key=${keyId}&limit=3&after=${after}`, own);
      pages.push(body.data.map(({ request_id }: { request_id: string }) => request_id));
      expect(body.has_more).toBe(body.next_after !== null);
      if (!body.has_more) break;
      after = body.next_after;
    }
    expect(pages.map(({ length }) => length)).toEqual([3, 3, 1]);
    expect(pages.flat()).toEqual(ids.toReversed());
    const found = async (query: string) => (await requestsOf(`key=${keyId}&${query}`, own)).body.data.length;
    expect([await found('status=422'), await found('status=4xx'), await found('status=200')]).toEqual([2, 2, 5]);
    expect([await found('operation=search_creators'), await found('operation=list_keys')]).toEqual([7, 0]);
    const today = new Date().toISOString().slice(0, 10);
    const yesterday = new Date(Date.now() - DAY_MS).toISOString().slice(0, 10);
    expect([await found(`from=${yesterday}&to=${today}`), await found(`to=${yesterday}`)]).toEqual([7, 0]);
    const csv = await call(`${app.url}/v1/requests?key=${keyId}`, own, { headers: { accept: 'text/csv' } });
    expect(csv.body.trim().split('\n')).toHaveLength(8);
    for (const query of ['status=6xx', 'after=!', 'from=soon', 'limit=0'])
      expect((await requestsOf(query)).body.code, query).toBe('VALIDATION_ERROR');
  });

  it('is the brand’s alone, and no data key reads it', async () => {
    const id = idOf(await search('limit=1'));
    await recorded(id);
    const stranger = await (await makeBrand(app.context)).key('brand');
    expect((await requestsOf(`request_id=${id}`, stranger)).body.data).toEqual([]);
    expect((await call(`${app.url}/v1/usage/searches`, stranger)).body.data).toMatchObject({ pages: 0, p50_ms: null });
    for (const path of ['requests', 'usage/searches', 'usage?by=key'])
      expect((await call(`${app.url}/v1/${path}`, dataKey)).body.code, path).toBe('BRAND_KEY_REQUIRED');
  });

  it('reaches back 14 days by the clock of the server', async () => {
    const id = idOf(await search('limit=1'));
    await recorded(id);
    const later = await startApp({ alias, clock: { now: () => new Date(Date.now() + 14 * DAY_MS) } });
    expect((await call(`${later.url}/v1/requests?request_id=${id}`, brandKey)).body.data).toEqual([]);
    await later.close();
  });
});

it('sends the calls of two seconds together, also while others end without a pause', async () => {
  const own = await startApp({ alias });
  const sent = vi.spyOn(own.context.clickhouse.client, 'exec');
  const { calls } = own.context;
  const caller = await findCaller(own.context.postgres.db, hashKey(dataKey));
  const countInserts = () =>
    sent.mock.calls.filter(([{ query }]) => query.startsWith('INSERT INTO requests_v1')).length;
  const from = performance.now();
  while (countInserts() < 3) {
    calls.end({ ...calls.begin('search_creators', unique('req')), caller }, 200);
    await pause(1);
  }
  expect(countInserts()).toBeLessThanOrEqual(1 + (performance.now() - from) / 2_000);
  await own.close();
});

/** Everything that is stored of the brand's calls. */
async function readRows(): Promise<{ rows: string }> {
  const answer = await app.context.clickhouse.client.query({
    query: `SELECT * FROM requests_v1 WHERE brand_id = '${brand.id}' FORMAT TabSeparated`,
  });
  return { rows: await answer.text() };
}

describe('a record that ClickHouse does not take', () => {
  it('delays no call, is complete if ClickHouse soon answers again, and drops and counts what does not fit', async () => {
    const proxy = await startProxy(engineUrls().clickhouse);
    const own = await startApp({ alias, urls: { clickhouse: proxy.url } });
    await proxy.cut();
    const searched = await call(`${own.url}/v1/creators/search?limit=1`, dataKey);
    const caller = await findCaller(own.context.postgres.db, hashKey(dataKey));
    const { calls } = own.context;
    for (let i = 0; i <= 20_000; i += 1) {
      calls.end({ ...calls.begin('search_creators', 'req_of_a_flood'), caller }, 200);
    }
    const text = await (await fetch(`${own.url}/metrics`)).text();
    expect(Number(/^rollcall_calls_unrecorded_total (\d+)$/m.exec(text)?.[1])).toBeGreaterThan(0);
    await proxy.restore();
    expect(await recorded(searched)).toMatchObject({ status: 200 });
    await own.close();
    await proxy.close();
  });
});

describe('usage of the record', () => {
  let other: TestBrand;
  let own: string;
  let data: string;
  const today = new Date().toISOString().slice(0, 10);
  const usage = async (query: string) => (await call(`${app.url}/v1/usage?${query}`, own)).body;

  beforeAll(async () => {
    other = await makeBrand(app.context, { plan: 'scale' });
    [own, data] = [await other.key('brand'), await other.key('data')];
    await search('category=food&city=Oakland&preview=true', data);
    await search('category=food&city=Oakland', data);
    await search('category=cars&preview=true', data);
    await search('limit=x', data);
    await recorded(await search('q=zebra', data), own);
    const { postgres, redis, clock } = app.context;
    await settle({ db: postgres.db, redis, clock }, [other.subscriptionIds.data]);
  });

  it('is summed by hour or day, and by key, operation or status, beside an answer that stays as it was', async () => {
    const before = await usage('');
    expect(Object.keys(before)).toEqual(['data', 'pagination', 'summary']);
    const of = async (query: string) => {
      const { series, ...rest } = await usage(query);
      expect(rest).toEqual(before);
      return series.filter(({ operation, key_id }: Record<string, string>) =>
        operation === undefined ? key_id === undefined || key_id === before.data[0].key_id : operation !== 'list_usage',
      );
    };
    const sums = { calls: 5, credits: 20 };
    const [byKey] = await of('by=key');
    expect(byKey).toEqual({
      ...sums,
      start: `${today}T00:00:00.000Z`,
      key_id: before.data[0].key_id,
      key_name: 'test',
    });
    const byHour = await of('granularity=hour');
    expect(byHour.reduce((sum: number, { calls }: { calls: number }) => sum + calls, 0)).toBe(5);
    expect(byHour[0].start).toMatch(/T\d\d:00:00\.000Z$/);
    const found = (await of('by=operation')).filter(({ operation }: Answer['body']) => operation === 'search_creators');
    expect(found).toMatchObject([sums]);
    expect((await of('by=status&granularity=day')).find(({ status }: Answer['body']) => status === 422).calls).toBe(1);
    const long = await usage('granularity=hour&from=2026-01-01');
    expect([long.code, long.details[0].field]).toEqual(['VALIDATION_ERROR', 'from']);
  });

  it('has the filters of searches, empty results, previews that became searches, and how long pages took', async () => {
    const { body } = await call(`${app.url}/v1/usage/searches?from=${today}`, own);
    expect(body.data).toMatchObject({
      ...{ pages: 2, previews: 2, walks: 0, empty: 2, credits: 20, previewed: 2, previewed_then_searched: 1 },
      filters: [
        { filter: 'category', searches: 3, empty: 2 },
        { filter: 'city', searches: 2, empty: 2 },
        { filter: 'q', searches: 1, empty: 1 },
      ],
    });
    expect(body.data.p50_ms).toBeGreaterThan(0);
    expect(body.data.p95_ms).toBeGreaterThanOrEqual(body.data.p50_ms);
  });
});
