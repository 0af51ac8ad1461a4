import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { DirectoryCreatorDetail } from '../../src/directory/search/creator.shapes.ts';
import { CreatorSearchAnswer } from '../../src/directory/search/search.shapes.ts';
import { call, keysInTurn, makeBrand, startApp, type TestApp, unique } from '../harness/app.ts';
import { creator, putDirectory } from '../harness/directory/directory.ts';

const alias = unique('search');
let app: TestApp;
let nextKey: () => string;

const CREATORS: DirectoryCreatorDetail[] = [
  creator(1, {
    username: 'arjun.campbell3268',
    full_name: 'Arjun Campbell',
    city: 'Brooklyn',
    state: 'NY',
    country: 'US',
    follower_count: 900,
  }),
  creator(2, {
    username: 'zoe_lifts',
    full_name: 'Zoë Straße',
    biography: 'Vegan 🌱 runner',
    city: 'Jersey City',
    state: 'New Jersey',
    country: 'USA',
    follower_count: 800,
  }),
  creator(3, {
    username: 'miami.chef',
    city: 'Miami',
    state: 'FL',
    country: 'United States',
    category: 'Food',
    niches: 'vegan cooking, Baking',
    follower_count: 700,
    extracted_email: 'chef@example.com',
  }),
  creator(4, {
    username: 'okie',
    city: 'Miami',
    state: 'Oklahoma',
    country: 'US',
    follower_count: 600,
    gender: 'Male',
  }),
  creator(5, {
    username: 'angelina',
    city: 'Los Angeles',
    state: 'california',
    country: 'us',
    follower_count: 500,
    engagement_rate: 9.5,
  }),
  creator(6, {
    username: 'saopaulo.fit',
    city: 'São Paulo',
    state: 'SP',
    country: 'Brasil',
    follower_count: 400,
    engagement_rate: null,
  }),
  creator(7, { username: 'moscow_moves', city: 'Moscow', state: null, country: 'Russia', follower_count: 300 }),
  creator(8, { username: 'sydney.surfs', city: 'Sydney', state: 'NSW', country: 'Australia', follower_count: 200 }),
  creator(9, {
    username: 'zurich',
    city: 'Zürich',
    state: 'ZH',
    country: 'Switzerland',
    follower_count: 100,
    category: null,
    niches: null,
    gender: null,
  }),
  creator(10, {
    username: 'lansing',
    city: 'Lansing',
    state: 'MI',
    country: 'US',
    follower_count: null,
    engagement_rate: 3.5,
  }),
  creator(11, {
    username: 'texan',
    full_name: 'Paris Hilton Fan',
    biography: 'LA fitness member, 100% "organic" \\ {json} },"x":{"_source":{"card":{',
    city: 'Austin',
    state: 'TX',
    country: 'US',
    follower_count: 50,
  }),
  creator(12, { username: 'niamey', city: 'Niamey', state: null, country: 'Niger', follower_count: 40 }),
  creator(13, { username: 'lagosian', city: 'Lagos', state: null, country: 'Nigeria', follower_count: 30 }),
  creator(14, { username: 'oakland', city: 'Oakland', state: 'CA', country: 'US', follower_count: 20 }),
  creator(15, { username: 'daly', city: 'Daly City', state: 'CA', country: 'US', follower_count: 10 }),
];

beforeAll(async () => {
  app = await startApp({ alias });
  await putDirectory(app.context.elastic, alias, CREATORS);
  const brand = await makeBrand(app.context);
  nextKey = await keysInTurn(brand, 10);
});
afterAll(() => app?.close());

async function search(query: Record<string, string | number>) {
  const parameters = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) parameters.set(name, String(value));
  return await call(`${app.url}/v1/creators/search?${parameters}`, nextKey());
}

async function pks(query: Record<string, string | number>): Promise<number[]> {
  const { status, body } = await search(query);
  expect(status, JSON.stringify(body)).toBe(200);
  const found = body.data.map(({ pk }: { pk: number }) => pk);
  expect(body.pagination.total).toBe(found.length);
  return found;
}

describe('the search', () => {
  const all = CREATORS.map(({ pk }) => pk).filter((pk) => pk !== 10);
  const cases: [Record<string, string | number>, number[]][] = [
    [{}, [...all, 10]],
    [{ sort: 'engagement' }, [5, 10, 1, 2, 3, 4, 7, 8, 9, 11, 12, 13, 14, 15, 6]],
    [{ follower_min: 600 }, [1, 2, 3, 4]],
    [{ follower_max: 40 }, [12, 13, 14, 15]],
    [{ follower_min: 100, follower_max: 300 }, [7, 8, 9]],
    [{ engagement_min: 3.5 }, [5, 10]],
    [{ category: 'FOOD' }, [3]],
    [{ category: 'Foo' }, []],
    [{ niche: 'vegan' }, [3]],
    [{ niche: 'baking' }, [3]],
    [{ has_email: 'true' }, [3]],
    [{ has_email: 'false', follower_min: 600 }, [1, 2, 4]],
    [{ gender: 'MALE' }, [4]],
    [{ country: 'US' }, [1, 2, 3, 4, 5, 11, 14, 15, 10]],
    [{ country: 'united states' }, [1, 2, 3, 4, 5, 11, 14, 15, 10]],
    [{ country: 'Niger' }, [12]],
    [{ country: 'switz' }, [9]],
    [{ country: 'br' }, [6]],
    [{ state: 'NJ' }, [2]],
    [{ state: 'New Jersey' }, [2]],
    [{ state: 'CA' }, [5, 14, 15]],
    [{ state: 'nsw' }, [8]],
    [{ city: 'NYC' }, [1, 2]],
    [{ city: 'n.y.c.' }, [1, 2]],
    [{ city: 'NYC, NJ' }, [2]],
    [{ city: 'NYC', state: 'NY' }, [1]],
    [{ city: 'Miami' }, [3]],
    [{ city: 'Miami, FL' }, [3]],
    [{ city: 'Miami, OK' }, [4]],
    [{ city: 'LA' }, [5]],
    [{ city: 'angel' }, [5]],
    [{ city: 'sao paulo' }, [6]],
    [{ city: 'ZÜR' }, [9]],
    [{ city: 'SF' }, [15]],
    [{ city: 'bay area' }, [14, 15]],
    [{ q: 'NYC' }, [1, 2]],
    [{ q: 'Brooklyn, NY' }, [1]],
    [{ q: 'bay area' }, [14, 15]],
    [{ q: 'Texas' }, [11]],
    [{ q: 'los angeles' }, [5]],
    [{ q: 'LA fitness' }, [11, 13, 10]],
    [{ q: 'paris hilton' }, [11]],
    [{ q: 'zoe strasse' }, [2]],
    [{ q: 'campbell3268' }, [1]],
    [{ q: 'arjun.camp' }, [1]],
    [{ q: 'vegan lift' }, []],
    [{ q: 'vegan zoe_l' }, [2]],
    [{ q: 'vegan', category: 'food' }, [3]],
    [{ q: 'angelina & "' }, [5]],
    [{ q: 'NYC', q_as: 'text' }, []],
  ];
  it.each(cases)('with %j finds %j', async (query, expected) => {
    expect(await pks(query)).toEqual(expected);
  });

  it('returns its declared shape and the exact bytes of a parsed and serialized response', async () => {
    for (const query of [{}, { limit: 3 }, { q: 'nobody' }, { sort: 'engagement', page: 2, limit: 4 }]) {
      const { body } = await search(query);
      expect(CreatorSearchAnswer.parse(body)).toEqual(body);
      for (const found of body.data) {
        const { following_count, media_count, gender, age, ...card } =
          CREATORS.find(({ pk }) => pk === found.pk) ?? creator(0);
        expect(found).toEqual(card);
        expect(Object.keys(found)).toEqual(Object.keys(card));
      }
    }
  });

  it('for a single creator returns the detail fields', async () => {
    const { body } = await call(`${app.url}/v1/creators/4`, nextKey());
    expect(body.data).toEqual(CREATORS[3]);
    expect(body.meta).toEqual({ data_as_of: null, changed_at: null, source: null });
  });
});

describe('interpretation', () => {
  it('explains how each place was read and suggests a name for an unknown one', async () => {
    const { body } = await search({ q: 'NYC', state: 'florida', country: 'us', city: 'Miami, FL', colour: 'red' });
    expect(body.meta.interpretation).toMatchObject({
      q: { value: 'NYC', read_as: 'metro', name: 'New York City' },
      city: { value: 'Miami, FL', read_as: 'city', name: expect.stringMatching(/miami/i), state: 'FL' },
      state: { read_as: 'state', name: 'Florida', state: 'FL' },
      country: { read_as: 'country', name: 'United States', country: 'US' },
      ignored: ['colour'],
    });
  });

  it('suggests a name for a misspelt city', async () => {
    const { body } = await search({ city: 'Los Angelas' });
    expect(body.meta.interpretation.city).toMatchObject({ read_as: 'city_contains', did_you_mean: 'Los Angeles' });
  });

  it('refuses a state that contradicts the city with 422 naming both', async () => {
    const { status, body } = await search({ city: 'Miami, FL', state: 'OK' });
    expect(status).toBe(422);
    expect(body.details).toEqual([{ field: 'state', code: 'contradiction', message: expect.stringMatching(/FL.*OK/) }]);
  });

  it('refuses a follower_min above follower_max with 422', async () => {
    expect((await search({ follower_min: 5, follower_max: 4 })).body.details[0].field).toBe('follower_min');
  });
});

describe('the free operations', () => {
  it('include a preview with the true total, facets and no creators', async () => {
    const { body } = await search({ preview: 'true', country: 'US', limit: 4 });
    expect(body.data).toEqual([]);
    expect(body.pagination).toEqual({ page: 1, limit: 4, total: 9, has_more: false });
    expect(body.preview).toMatchObject({ pages: 3, credits_to_fetch_all: 30 });
    expect(body.preview.facets.state[0]).toMatchObject({ value: 'CA', count: 3 });
    expect(body.preview.facets.country).toMatchObject([{ value: 'US', count: 9, label: 'United States' }]);
  });

  it.each(['metros', 'states', 'countries', 'categories', 'niches'])(
    'include the dictionary of %s, a list with counts',
    async (name) => {
      const { status, body } = await call(`${app.url}/v1/creators/dictionary/${name}?limit=5`, nextKey());
      expect(status).toBe(200);
      expect(body.data.length).toBeGreaterThan(0);
      expect(body.data.every((row: { count: unknown }) => typeof row.count === 'number')).toBe(true);
    },
  );

  it('include dictionary values that find as many creators as they say', async () => {
    const { body } = await call(`${app.url}/v1/creators/dictionary/metros?limit=100`, nextKey());
    for (const { id, name, aliases, count } of body.data.filter((metro: { count: number }) => metro.count > 0)) {
      for (const word of [name, ...aliases])
        expect((await search({ city: word })).body.pagination.total, `${id} ${word}`).toBe(count);
    }
  });

  it('include autocomplete, which finds usernames by their start, most followed first', async () => {
    const { body } = await call(`${app.url}/v1/creators/autocomplete?q=@Z`, nextKey());
    expect(body.data.map(({ username }: { username: string }) => username)).toEqual(['zoe_lifts', 'zurich']);
  });

  it.each(['a', 'arjun.ca', 'Arjun.cam', 'ARJUN.CAMPBELL326', 'Ârjun', 'árjun.cämpbell', 'arjun.campbell3268'])(
    'find a username by its start, however long, folded: %s',
    async (beginning) => {
      const { body } = await call(
        `${app.url}/v1/creators/autocomplete?limit=1&q=${encodeURIComponent(beginning)}`,
        nextKey(),
      );
      expect(body.data[0]?.pk).toBe(1);
      const found = await search({ q: beginning });
      expect(found.body.data.map(({ pk }: { pk: number }) => pk)).toContain(1);
    },
  );

  it.each(['arjun.campbell32689', 'rjun', 'arjun*', 'campbell32'])(
    'find nothing for a text that no username starts with: %s',
    async (text) => {
      const { body } = await call(`${app.url}/v1/creators/autocomplete?q=${encodeURIComponent(text)}`, nextKey());
      expect(body.data).toEqual([]);
    },
  );
});
