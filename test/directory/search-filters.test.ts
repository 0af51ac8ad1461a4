import { afterAll, beforeAll, describe, expect, it, test } from 'vitest';
import { call, makeBrand, startApp, unique } from '../harness/app.ts';
import { creator, putDirectory } from '../harness/directory/directory.ts';
import { oracleSearch } from '../harness/directory/directory-oracle.ts';
import { openCases } from './search-cases.ts';

let cases: Awaited<ReturnType<typeof openCases>>;
beforeAll(async () => {
  cases = await openCases(3_000, 11);
});
afterAll(() => cases?.close());

const refused = async (query: Record<string, string>) =>
  await call(`${cases.app.url}/v1/creators/search?${new URLSearchParams(query)}`, cases.nextKey());

describe('a search with filters, orders and facets', () => {
  it('finds in random cases what the oracle finds, in its order', async () => {
    expect(await cases.differences(150, 1)).toEqual([]);
  });

  it('by relevance finds the same creators as by followers, each on one page, best first', async () => {
    const query = { q: 'coffee anna', typos: 'true' };
    const expected = oracleSearch(cases.rows, { ...query, sort: 'relevance' }).map(({ pk }) => pk);
    const found: number[] = [];
    for (let page = 1; found.length < expected.length; page += 1) {
      const { data } = await cases.ask({ ...query, sort: 'relevance', limit: '100', page: String(page) });
      if (data.length === 0) break;
      found.push(...data.map(({ pk }: { pk: number }) => pk));
    }
    expect(found.toSorted((a, b) => a - b)).toEqual(expected);
    const { data } = await cases.ask({ q: 'anna', sort: 'relevance', limit: '1' });
    expect(`${data[0].full_name} ${data[0].username}`.toLowerCase()).toContain('anna');
  });

  it('by relevance reaches every creator of a result that is deeper than one window', async () => {
    const query = { q: 'with', q_as: 'text', sort: 'relevance', limit: '100' };
    const expected = oracleSearch(cases.rows, query).map(({ pk }) => pk);
    const found = new Set<number>();
    for (let page = 1; page <= Math.ceil(expected.length / 100); page += 1) {
      const { data } = await cases.ask({ ...query, page: String(page) });
      for (const { pk } of data) found.add(pk);
    }
    expect([expected.length > 700, found.size]).toEqual([true, expected.length]);
  });

  it('with typos names what its words matched', async () => {
    const { meta } = await cases.ask({ q: 'recpies', typos: 'true' });
    expect(meta.interpretation.typos).toEqual([{ word: 'recpies', matched: ['recipes'] }]);
  });

  it('takes any whole number as a bound, also beyond what a field holds', async () => {
    const largest = String(Number.MAX_SAFE_INTEGER);
    const all = { age_min: '0', posts_min: '0', following_max: largest };
    const { pagination } = await cases.ask({ ...all, age_max: '150' });
    expect((await cases.ask({ ...all, age_max: largest, posts_max: largest })).pagination).toEqual(pagination);
    expect((await cases.ask({ age_min: largest })).pagination.total).toBe(0);
  });

  it('takes a list one value at a time too, as generated clients send it, also if values have commas', async () => {
    const path = `${cases.app.url}/v1/creators/search`;
    const repeated = async (...pairs: [string, string][]) =>
      (await call(`${path}?${new URLSearchParams([...pairs, ['preview', 'true']])}`, cases.nextKey())).body;
    const several = await repeated(['city_any', 'Los Angeles, CA'], ['city_any', 'NYC']);
    expect(several.pagination).toEqual(
      (await cases.ask({ city_any: 'Los Angeles, CA|NYC', preview: 'true' })).pagination,
    );
    const [first, second] = cases.rows.map(({ username }) => username);
    const named = await repeated(['usernames', first ?? ''], ['usernames', second ?? '']);
    expect(named.pagination.total).toBe(2);
    expect((await repeated(['city', 'LA'], ['city', 'NYC'])).details).toMatchObject([
      { field: 'city', code: 'duplicate' },
    ]);
  });

  it('repeats the new filters in its interpretation', async () => {
    const { meta } = await cases.ask({ city_any: 'NYC|LA', not_category: 'Food', age_min: '20' });
    expect(meta.interpretation.city_any.map(({ name }: { name: string }) => name)).toEqual([
      'New York City',
      'Greater Los Angeles',
    ]);
    expect(meta.interpretation.filters).toEqual({ age_min: 20, not_category: ['Food'] });
  });

  it.each([
    [{ category: 'Food', category_any: 'Food|Baking' }, 'category_any', /category/],
    [{ country: 'USA', not_country: 'united states' }, 'not_country', /country/],
    [{ city_any: 'NYC|LA', not_city: 'new york city' }, 'not_city', /city_any/],
    [{ city: 'Miami, FL', state_any: 'FL|GA' }, 'state_any', /city/],
    [{ city_any: 'LA|Miami, FL', state: 'CA' }, 'state', /city_any.*Miami, FL/],
    [{ niche_any: 'a||b' }, 'niche_any', /blank/],
    [{ gender_any: Array.from({ length: 21 }, (_, i) => `g${i}`).join('|') }, 'gender_any', /20/],
    [{ typos: 'true' }, 'typos', /q/],
    [{ sort: 'relevance' }, 'sort', /q/],
    [{ sort: 'relevance', q: 'NYC' }, 'sort', /q_as=text/],
    [{ age_min: '40', age_max: '30' }, 'age_min', /age_max/],
    [{ facets: 'category' }, 'facets', /preview/],
    [{ preview: 'true', facets: 'colour' }, 'facets', /category/],
  ])('refuses %j with 422 naming both sides', async (query, field, message) => {
    const { status, body } = await refused(query);
    expect([status, body.details[0].field]).toEqual([422, field]);
    expect(body.details[0].message).toMatch(message);
  });

  it('answers facet_size above 500 like 500', async () => {
    const { preview } = await cases.ask({ preview: 'true', facet_size: '9000', facets: 'niche' });
    expect(preview.facets.niche.length).toBeGreaterThan(50);
    expect(Object.keys(preview.facets)).toEqual(['niche']);
  });

  it('has a metro in its facets by the start of its name too', async () => {
    const { preview } = await cases.ask({ preview: 'true', facet_q: 'Bay A', facets: 'metro' });
    expect(preview.facets.metro.map(({ value }: { value: string }) => value)).toEqual(['bay-area']);
  });
});

test('an index with the previous mapping answers a new filter with 503, free of charge, and can still be searched', async () => {
  const alias = unique('before');
  const app = await startApp({ alias });
  try {
    const index = await putDirectory(app.context.elastic, alias, [creator(1)]);
    await app.context.elastic.client.indices.putMapping({ index, _meta: { version: 1 } });
    const brand = await makeBrand(app.context);
    const key = await brand.key('data');
    const before = (await call(`${app.url}/v1/creators/search?follower_min=1`, key)).headers.get('x-credits-remaining');
    const refused = await call(`${app.url}/v1/creators/search?age_min=1`, key);
    expect([refused.status, refused.body.code]).toEqual([503, 'SERVICE_UNAVAILABLE']);
    expect(refused.body.error).toMatch(/age_min.*next import/);
    expect(refused.headers.get('x-credits-remaining')).toBe(before);
    for (const parameter of ['changed_since=2026-01-01', 'fresh_within_days=7', 'with=freshness']) {
      expect((await call(`${app.url}/v1/creators/search?${parameter}`, key)).status, parameter).toBe(503);
    }
    const served = await call(`${app.url}/v1/creators/search?not_category=Food&sort=followers_asc`, key);
    expect([served.status, served.body.pagination.total]).toEqual([200, 1]);
  } finally {
    await app.close();
  }
});
