import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { listCountries, listMetros, listStates, readCountry, readState } from '../../src/directory/search/places.ts';
import { call } from '../harness/app.ts';
import { openCases } from './search-cases.ts';

let cases: Awaited<ReturnType<typeof openCases>>;
beforeAll(async () => {
  cases = await openCases(800, 23);
});
afterAll(() => cases?.close());

interface FacetValue {
  value?: unknown;
  label?: string;
  count: number;
  filter: Record<string, unknown>;
}

const ALL = 'category,niche,country,state,metro,gender,followers,engagement,age,posts,is_verified,has_email';

async function countOtherwise(query: Record<string, string>, facets: string): Promise<string[]> {
  const { preview } = await cases.ask({ ...query, preview: 'true', facets, facet_size: '12' });
  const values: [string, FacetValue[]][] = Object.entries(preview.facets);
  const differences: string[] = [];
  for (const [name, value] of values.flatMap(([facet, found]) => found.map((one) => [facet, one] as const))) {
    const filter = Object.fromEntries(Object.entries(value.filter).map(([key, text]) => [key, String(text)]));
    const { pagination } = await cases.ask({ ...query, ...filter, limit: '1' });
    if (pagination.total !== value.count) differences.push(`${name} ${JSON.stringify(value)}: ${pagination.total}`);
  }
  expect(values.flatMap(([, found]) => found).length).toBeGreaterThan(20);
  return differences;
}

describe('a facet', () => {
  it('gives for each value and range a filter that finds exactly as many creators as it counts', async () => {
    expect(await countOtherwise({}, ALL)).toEqual([]);
  });

  it('gives filters of metros and niches that stand beside a city and a niche', async () => {
    expect(await countOtherwise({ city: 'a', niche: 'e' }, 'metro,niche,followers,engagement')).toEqual([]);
  });

  it('has names for people, and is absent if it was not requested', async () => {
    const { preview } = await cases.ask({ preview: 'true', facets: 'metro,state' });
    expect(Object.keys(preview.facets).sort()).toEqual(['metro', 'state']);
    const metro = preview.facets.metro.find(({ value }: FacetValue) => value === 'bay-area');
    expect(metro).toMatchObject({ label: 'San Francisco Bay Area', filter: { metro: 'bay-area' } });
    const state = preview.facets.state.find(({ value }: FacetValue) => value === 'CA');
    expect(state).toMatchObject({ label: 'California', filter: { state: 'US-CA' } });
    const six = await cases.ask({ preview: 'true' });
    expect(Object.keys(six.preview.facets)).toEqual(['category', 'niche', 'country', 'state', 'metro', 'gender']);
  });

  it('refuses a metro that does not exist', async () => {
    const url = `${cases.app.url}/v1/creators/search`;
    const { status, body } = await call(`${url}?metro=atlantis`, cases.nextKey());
    expect([status, body.details[0].field, body.details[0].message]).toEqual([
      422,
      'metro',
      expect.stringContaining('id'),
    ]);
    expect((await cases.ask({ metro: 'NYC' })).meta.interpretation.filters).toEqual({ metro: 'nyc' });
  });
});

it.each([
  ['city_any', 'NYC, LA', 'NYC|LA'],
  ['city_any', 'Austin, TX; Dallas, TX|Chicago', 'Austin, TX|Dallas, TX|Chicago'],
  ['not_city', 'Paris and London', 'Paris|London'],
])('two places in one value of %s, %s, are refused', async (parameter, value, right) => {
  const query = new URLSearchParams({ [parameter]: value });
  const { status, body } = await call(`${cases.app.url}/v1/creators/search?${query}`, cases.nextKey());
  expect([status, body.details[0].field, body.details[0].message]).toEqual([
    422,
    parameter,
    expect.stringContaining(`${parameter}=${right}`),
  ]);
});

it('every code of a country and a state is read as that country and state', () => {
  for (const { code } of listCountries()) expect(readCountry(code)).toMatchObject({ country: { code } });
  for (const { code } of listStates())
    expect(readState(`US-${code}`)).toMatchObject({ kind: 'state', state: { code } });
  expect(new Set(listMetros().map(({ id }) => id)).size).toBe(listMetros().length);
});

it('a preview names the price for its limit and for the largest one', async () => {
  const { preview, pagination } = await cases.ask({ preview: 'true', limit: '7', has_email: 'True' });
  const pages = [7, 100].map((limit) => Math.ceil(pagination.total / limit));
  expect(preview).toMatchObject({ limit: 7, pages: pages[0], credits_to_fetch_all: 10 * (pages[0] ?? 0) });
  expect(preview.at_limit_100).toEqual({ pages: pages[1], credits_to_fetch_all: 10 * (pages[1] ?? 0) });
  expect(pagination.total).toBe(cases.rows.filter(({ extracted_email }) => extracted_email?.trim()).length);
});

it.each([
  ['category', 'Beuaty', 'beauty'],
  ['gender', 'F', 'female'],
  ['niche', 'skincaer', 'skincare'],
  ['category', 'Fodo', 'food'],
])('a %s that nobody has, %s, has a suggestion', async (parameter, value, instead) => {
  const { pagination, meta } = await cases.ask({ [parameter]: value });
  const { total } = (await cases.ask({ [parameter]: instead })).pagination;
  expect([pagination.total, meta.suggestions]).toEqual([0, [{ parameter, value, instead, total }]]);
});

it.each<[string, string, { instead: string; instead_parameter?: string }[]]>([
  ['category', 'Skincare', [{ instead: 'skincare', instead_parameter: 'niche' }]],
  ['country', 'NYC', [{ instead: 'NYC', instead_parameter: 'city' }]],
  ['state', 'Calif', []],
  ['state', 'CA, NY', [{ instead: 'CA|NY', instead_parameter: 'state_any' }]],
  ['country', 'US|CA', [{ instead: 'US|CA', instead_parameter: 'country_any' }]],
  ['category', 'Food, Music', [{ instead: 'Food|Music', instead_parameter: 'category_any' }]],
  ['state', 'Bavaria', [{ instead: 'Germany', instead_parameter: 'country' }]],
  ['country', 'North America', [{ instead: 'United States|Canada|Mexico', instead_parameter: 'country_any' }]],
  ['city', '10001', [{ instead: 'NY', instead_parameter: 'state' }]],
  ['city', '90210-1234', [{ instead: 'CA', instead_parameter: 'state' }]],
  ['state', '10001', [{ instead: 'NY' }]],
  ['city', 'SW1A 1AA', [{ instead: 'London, UK' }]],
  ['state', 'Cal', [{ instead: 'California' }]],
  ['city', 'SoCal', [{ instead: 'LA' }, { instead: 'San Diego metro' }, { instead: 'Inland Empire' }]],
  ['q', 'USA', [{ instead: 'USA', instead_parameter: 'country' }]],
  ['q', 'qqqqq Texas', [{ instead: 'Texas', instead_parameter: 'state' }]],
  ['q', 'SoCal', [{ instead: 'LA' }, { instead: 'San Diego metro' }, { instead: 'Inland Empire' }]],
])('a value of another kind of filter, %s=%s, is suggested where it belongs', async (parameter, value, meant) => {
  const expected = [];
  for (const { instead, ...other } of meant) {
    const { total } = (await cases.ask({ [other.instead_parameter ?? parameter]: instead })).pagination;
    if (total > 0) expected.push({ parameter, value, instead, ...other, total });
  }
  const { pagination, meta } = await cases.ask({ [parameter]: value });
  expect(pagination.total === 0 ? meta.suggestions : []).toEqual(expected);
});
