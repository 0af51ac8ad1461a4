import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { listMetroIds } from '../../src/directory/search/stored-place.ts';
import { call, keysInTurn, makeBrand, startApp, type TestApp, unique } from '../harness/app.ts';
import { creator, putDirectory } from '../harness/directory/directory.ts';

const alias = unique('spellings');
let app: TestApp;
let nextKey: () => string;

const PLACES: readonly [city: string | null, state: string | null, country: string | null][] = [
  ['Cagliari', 'CA', 'Italy'],
  ['Tijuana', 'California', 'Mexico'],
  ['Oakland', 'California', 'US'],
  ['Fresno', 'CA', null],
  ['St. Louis', 'MO', 'US'],
  ['Saint Louis', 'Missouri', 'USA'],
  ['St Louis', 'MO', null],
  ['East Louiston', 'KY', 'US'],
  ['Winston-Salem', 'NC', 'US'],
  ['Winston Salem', 'NC', 'US'],
  ['Saint-Denis', null, 'France'],
  [null, null, null],
];

beforeAll(async () => {
  app = await startApp({ alias });
  const creators = PLACES.map(([city, state, country], i) =>
    creator(i + 1, { city, state, country, follower_count: 1_000 - i }),
  );
  await putDirectory(app.context.elastic, alias, creators);
  const brand = await makeBrand(app.context);
  nextKey = await keysInTurn(brand, 3);
});
afterAll(() => app?.close());

async function search(query: Record<string, string>) {
  return await call(`${app.url}/v1/creators/search?${new URLSearchParams(query)}`, nextKey());
}

const ALL = PLACES.map((_, i) => i + 1);

async function found(query: Record<string, string>): Promise<number[]> {
  const { status, body } = await search(query);
  expect([status, body.details]).toEqual([200, undefined]);
  return body.data.map(({ pk }: { pk: number }) => pk);
}

describe('a state', () => {
  it.each<[Record<string, string>, number[]]>([
    [{ state: 'California', country: 'Italy' }, []],
    [{ state: 'CA', country: 'mexico' }, []],
    [{ state: 'CA', country: 'Italy' }, [1]],
    [{ state: 'california', country: 'mexico' }, [2]],
    [{ state: 'California', country: 'US' }, [3]],
    [{ state: 'CA', country: 'US' }, [3]],
    [{ state: 'California' }, [2, 3, 4]],
    [{ state: 'CA' }, [1, 3, 4]],
    [{ state: 'US-CA' }, [3, 4]],
    [{ state: 'Calif.' }, [3, 4]],
    [{ q: 'California' }, [2, 3, 4]],
    [{ q: 'CA' }, [1, 3, 4]],
    [{ q: 'CA', country: 'Mexico' }, []],
  ])('abroad matches only as sent, and in the US by code and name alike: %j', async (query, expected) => {
    expect(await found(query)).toEqual(expected);
  });
});

describe('a known city', () => {
  it.each<[Record<string, string>, number[]]>([
    [{ city: 'Saint Louis' }, [5, 6, 7]],
    [{ city: 'st louis' }, [5, 6, 7]],
    [{ city: 'ST. LOUIS' }, [5, 6, 7]],
    [{ city: 'St. Louis, MO' }, [5, 6, 7]],
    [{ city: 'Saint Louis, MO' }, [5, 6, 7]],
    [{ city: 'st louis, missouri' }, [5, 6, 7]],
    [{ city: 'St. Louis', state: 'MO' }, [5, 6, 7]],
    [{ q: 'saint louis' }, [5, 6, 7]],
    [{ q: 'Saint Louis, MO' }, [5, 6, 7]],
    [{ city: 'Winston-Salem' }, [9, 10]],
    [{ city: 'winston salem' }, [9, 10]],
    [{ city: 'Winston Salem, NC' }, [9, 10]],
    [{ city: 'St-Denis, France' }, [11]],
    [{ city: 'saint denis' }, [11]],
    [{ city: 'st lou' }, [7, 8]],
  ])('is found in every spelling by any of them, and under no other name: %j', async (query, expected) => {
    expect(await found(query)).toEqual(expected);
  });
});

describe('text that folds to nothing', () => {
  it.each(['city', 'country', 'state', 'category', 'niche', 'gender'])('is ignored as a blank %s', async (name) => {
    for (const text of ['\u0301', ' \u0301\u0302 ']) {
      const { body } = await search({ [name]: text });
      expect(body.pagination.total).toBe(ALL.length);
      expect(body.meta.interpretation).toMatchObject({ city: null, country: null, state: null });
    }
  });

  it.each(['\u0301', '@', '@\u0301'])('is 422 in autocomplete: %j', async (text) => {
    const { status, body } = await call(`${app.url}/v1/creators/autocomplete?q=${encodeURIComponent(text)}`, nextKey());
    expect([status, body.details[0].field]).toEqual([422, 'q']);
  });

  it('before a comma does not match everyone', async () => {
    expect(await found({ city: '\u0301, CA' })).toEqual([]);
  });
});

describe('problems of a search', () => {
  it.each<[Record<string, string>, string[]]>([
    [{ city: 'Miami, FL', state: 'OK', sort: 'z' }, ['sort', 'state']],
    [{ follower_min: '5', follower_max: '4', page: '0', preview: 'yes' }, ['follower_min', 'page', 'preview']],
    [
      { city: 'Miami, FL', state: 'OK', follower_min: '5', follower_max: '4', limit: 'x' },
      ['follower_min', 'limit', 'state'],
    ],
    [{ follower_min: 'x', follower_max: '4', city: 'a'.repeat(201), state: 'OK' }, ['city', 'follower_min']],
  ])('are all reported at once: %j', async (query, fields) => {
    const { status, body } = await search(query);
    expect(status).toBe(422);
    expect(body.details.map(({ field }: { field: string }) => field).sort()).toEqual(fields);
  });
});

describe('a metro', () => {
  it('applies to a row with only a city if no other known city has that name', () => {
    expect(listMetroIds('London', null, null)).toEqual([]);
    expect(listMetroIds('London', null, 'UK')).toEqual(['london']);
    expect(listMetroIds('Los Angeles', null, null)).toEqual([]);
    expect(listMetroIds('Los Angeles', null, 'US')).toEqual(['la']);
    expect(listMetroIds('Chicago', null, null)).toEqual(['chicago']);
  });
});
