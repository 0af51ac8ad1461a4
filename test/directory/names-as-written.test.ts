import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { call, keysInTurn, makeBrand, startApp, type TestApp, unique } from '../harness/app.ts';
import { creator, putDirectory } from '../harness/directory/directory.ts';

const alias = unique('as-written');
let app: TestApp;
let nextKey: () => string;

const NAMES = [
  '𝗔𝗻𝗮 𝗩𝗲𝗴𝗮',
  '𝓐𝓷𝓪 𝓥𝓮𝓰𝓪 🌸',
  'ᴀɴᴀ ᴠᴇɢᴀ',
  '🅐🅝🅐 🅥🅔🅖🅐',
  'A\u0332n\u0332a Ve\u00adga',
  'Jörg Müller-Lüdenscheidt',
  'Joerg Mueller',
  'Jorg Muller',
  "Conan O'Brien",
  'Conan O’Brien',
  'Conan OBrien',
  'Zoë Noel',
  'Zo Nol',
  'Анна Каренина',
  'أحمد عبد الله',
  'Søren Ångström',
  'Chef Paris',
  '김민지'.normalize('NFD'),
];

const PLACES: [string, string | null, string | null][] = [
  ['Köln', null, 'Deutschland'],
  ['Munich', null, 'DE'],
  ['Wien', null, 'Österreich'],
  ['Praha', null, 'Czechia'],
  ['Bombay', null, 'India'],
  ['Москва', null, 'Россия'],
  ['دبي', null, 'United Arab Emirates'],
  ['上海', null, 'China'],
  ['Las Vegas', 'NV', 'US'],
  ['New York, NY', null, null],
  ['Odesa', null, 'Ukraine'],
  ['Odessa', 'TX', 'US'],
  ['Austin TX', null, null],
  ['Austin', 'TX', 'US'],
];
const FIRST_PLACE = 101;

beforeAll(async () => {
  app = await startApp({ alias });
  const creators = NAMES.map((full_name, i) =>
    creator(i + 1, { full_name, biography: i === 11 ? "Ana's Kitchen" : null, follower_count: 1_000 - i }),
  );
  const placed = PLACES.map(([city, state, country], i) =>
    creator(FIRST_PLACE + i, { city, state, country, biography: null, follower_count: 500 - i }),
  );
  await putDirectory(app.context.elastic, alias, [...creators, ...placed]);
  nextKey = await keysInTurn(await makeBrand(app.context), 3);
});
afterAll(() => app?.close());

async function find(query: Record<string, string>): Promise<number[]> {
  const { status, body } = await call(`${app.url}/v1/creators/search?${new URLSearchParams(query)}`, nextKey());
  expect([status, body.details]).toEqual([200, undefined]);
  return body.data.map(({ pk }: { pk: number }) => pk);
}

describe('a name', () => {
  it.each<[string, number[]]>([
    ['Ana Vega', [1, 2, 3, 4, 5]],
    ['𝕬𝖓𝖆 𝖁𝖊𝖌𝖆', [1, 2, 3, 4, 5]],
    ['🅐🅝🅐 🅥🅔🅖🅐', [1, 2, 3, 4, 5]],
    ['Аnа vega', [1, 2, 3, 4, 5]],
    ['Jorg Muller', [6, 8]],
    ['Joerg Mueller', [6, 7]],
    ['Jörg Müller', [6, 7, 8]],
    ['Luedenscheidt', [6]],
    ['obrien', [9, 10, 11]],
    ['brien', [9, 10]],
    ["O'Brien", [9, 10, 11]],
    ['O´Brien', [9, 10, 11]],
    ['ana kitchen', [12]],
    ['김민지', [18]],
    ['김민지'.normalize('NFD'), [18]],
    ['Noel', [12]],
    ['Nol', [13]],
    ['анна', [14]],
    ['احمد', [15]],
    ['soeren aangstrom', []],
    ['soeren aangstroem', [16]],
    ['soren angstrom', [16]],
  ])('%s finds the creators %j', async (q, expected) => {
    expect(await find({ q })).toEqual(expected);
  });

  it('is found by relevance in every spelling', async () => {
    expect((await find({ q: 'Ana Vega', sort: 'relevance' })).sort()).toEqual([1, 2, 3, 4, 5]);
    expect((await find({ q: 'Jörg Müller', sort: 'relevance' })).sort()).toEqual([6, 7, 8]);
  });
});

describe('a city', () => {
  it.each<[string, number[]]>([
    ['Cologne', [101]],
    ['München', [102]],
    ['Vienna', [103]],
    ['Prague', [104]],
    ['Mumbai', [105]],
    ['Moscow', [106]],
    ['Dubai', [107]],
    ['Shanghai', [108]],
    ['Cologne, Germany', [101]],
    ['Vegas', [109]],
    ['Vegas, NV', [109]],
    ['Las Vegas area', [109]],
    ['New York, NY', [110]],
    ['Odesa', [111]],
    ['Odessa', [112]],
    ['Austin TX', [113, 114]],
  ])('%s finds the creators %j', async (city, expected) => {
    expect(await find({ city })).toEqual(expected);
  });

  it('tells which cities it names and which others are called so', async () => {
    const { body } = await call(`${app.url}/v1/creators/search?city=Odessa`, nextKey());
    expect(body.meta.interpretation.city).toMatchObject({
      read_as: 'city_contains',
      also: [{ name: 'Odessa', state: 'TX', country: 'US' }],
      others: [{ value: 'Odesa, UA', name: 'Odesa', state: null, country: 'UA' }],
    });
  });

  it.each(['NYC|LA', 'NYC, LA'])('is not two places: %s', async (city) => {
    const { status, body } = await call(`${app.url}/v1/creators/search?${new URLSearchParams({ city })}`, nextKey());
    expect([status, body.details]).toMatchObject([422, [{ field: 'city', code: 'several_places' }]]);
    expect(body.details[0].message).toContain('city_any=NYC|LA');
  });
});

describe('the address of a profile', () => {
  it('is a username in a look-up, where another address is nobody’s', async () => {
    const usernames = ['https://www.instagram.com/creator1/?hl=en', 'instagram.com/p/C1/', 'tiktok.com/@creator1'];
    const query = new URLSearchParams({ usernames: usernames.join(',') });
    const { body } = await call(`${app.url}/v1/creators/search?${query}`, nextKey());
    expect(body.data.map(({ pk }: { pk: number }) => pk)).toEqual([1]);
    expect(body.meta.not_found.usernames).toEqual(usernames.slice(1));
  });

  it('is a username as a whole q, unless q is text', async () => {
    const { body } = await call(`${app.url}/v1/creators/search?q=m.instagram.com/Creator1/reels/`, nextKey());
    expect([body.pagination.total, body.meta.interpretation.q]).toMatchObject([
      1,
      { read_as: 'username', name: 'Creator1' },
    ]);
    expect(await find({ q: 'instagram.com/creator1', q_as: 'text' })).toEqual([]);
  });
});

describe('a q with a place', () => {
  const read = async (query: Record<string, string>) => {
    const { body } = await call(`${app.url}/v1/creators/search?${new URLSearchParams(query)}`, nextKey());
    return {
      total: body.pagination.total,
      q: body.meta.interpretation.q,
      pks: body.data.map(({ pk }: { pk: number }) => pk),
    };
  };

  it('is its other words in the place if its text finds nobody, on pages and in previews alike', async () => {
    const expected = {
      total: 1,
      q: {
        read_as: 'text_in_place',
        text: 'creator',
        place: 'Cologne',
        instead_of: { read_as: 'text', total: 0 },
        also: [{ name: 'Köln', state: null, country: 'DE' }],
      },
    };
    expect(await read({ q: 'creator in Cologne' })).toMatchObject({ ...expected, pks: [101] });
    expect(await read({ q: 'creator in Cologne', preview: 'true' })).toMatchObject({ ...expected, pks: [] });
    expect(await read({ q: 'creator Germany', follower_max: '499' })).toMatchObject({ total: 1, pks: [102] });
    expect(await read({ q: 'creator in Cologne', q_as: 'text' })).toMatchObject({ total: 0, q: { read_as: 'text' } });
  });

  it('stays text if that finds anybody, and offers the place', async () => {
    const { total, q } = await read({ q: 'Vega Ana' });
    expect([total, q.read_as, q.offer]).toEqual([5, 'text', undefined]);
    const offered = await read({ q: 'Zoë London' });
    expect(offered).toMatchObject({ total: 0, q: { read_as: 'text_in_place' } });
    const named = await read({ q: 'Chef Paris' });
    expect(named).toMatchObject({ total: 1, q: { read_as: 'text', offer: { q: 'Chef', city: 'Paris' } } });
  });

  it.each(['🇬🇧 zoë', 'zoë 🇬🇧', 'zoë in 🇬🇧'])('takes a flag for its country: %s', async (q) => {
    const { total, q: reading } = await read({ q });
    expect(reading).toMatchObject(
      total > 0 && reading.read_as === 'text'
        ? { offer: { q: 'zoë', country: '🇬🇧' } }
        : { read_as: 'text_in_place', text: 'zoë', place: '🇬🇧' },
    );
  });
});

describe('a search that finds nobody', () => {
  const suggest = async (query: Record<string, string>) => {
    const { body } = await call(`${app.url}/v1/creators/search?${new URLSearchParams(query)}`, nextKey());
    return [body.pagination.total, body.meta.suggestions];
  };

  it('never takes a place apart from where it lies: its parts are other places', async () => {
    for (const city of [
      'Cambridge, ON',
      'Paris, TX',
      'Birmingham, UK',
      'Valencia, Spain',
      'Vienna, VA',
      'Perth, Scotland',
      ...['Santo Domingo, RD', 'León, GTO', 'Santiago, DR', 'Los Angeles, Cal', 'Guadalajara, Jal'],
    ]) {
      const [, suggestions] = await suggest({ city });
      const apart = suggestions.filter((one: { instead: string | null }) => one.instead?.includes('|'));
      expect([city, apart]).toEqual([city, []]);
    }
  });

  it('suggests the nearest word, Latin letters, the nearest place, and the search without a filter', async () => {
    expect(await suggest({ q: 'karenin' })).toEqual([0, []]);
    expect(await suggest({ q: 'Ana Vegga' })).toEqual([
      0,
      [{ parameter: 'q', value: 'Ana Vegga', instead: 'ana vega', total: 5 }],
    ]);
    // Fewer than five have this name, so that it is told only by a result.
    expect(await suggest({ q: 'muelller' })).toEqual([0, []]);
    expect(await suggest({ q: 'Ана Вега', preview: 'true' })).toEqual([
      0,
      [{ parameter: 'q', value: 'Ана Вега', instead: 'ana vega', total: 5 }],
    ]);
    expect(await suggest({ q: 'Cologne' })).toEqual([
      0,
      [{ parameter: 'q', value: 'Cologne', instead: 'Köln', total: 1 }],
    ]);
    expect(await suggest({ city: 'Colonge' })).toEqual([0, []]);
    expect(await suggest({ city: 'Pragu, Germany', q: 'creator' })).toEqual([
      0,
      [{ parameter: 'city', value: 'Pragu, Germany', instead: null, total: 32 }],
    ]);
  });

  it('has no suggestions if it finds anybody', async () => {
    expect(await suggest({ q: 'Ana Vega' })).toEqual([5, undefined]);
  });
});
