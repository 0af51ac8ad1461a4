import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { call, keysInTurn, makeBrand, startApp, type TestApp, unique } from '../harness/app.ts';
import { creator, putDirectory } from '../harness/directory.ts';

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
];

beforeAll(async () => {
  app = await startApp({ alias });
  const creators = NAMES.map((full_name, i) =>
    creator(i + 1, { full_name, biography: i === 11 ? "Ana's Kitchen" : null, follower_count: 1_000 - i }),
  );
  await putDirectory(app.context.elastic, alias, creators);
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
