import type { DirectoryCreatorDetail } from '../../../src/directory/search/creator.shapes.ts';
import {
  type PlaceReading,
  readCity,
  readCountry,
  readLocation,
  readState,
} from '../../../src/directory/search/places.ts';
import { expandWord, listOtherSpellings } from '../../../src/directory/search/search-words.ts';
import {
  findCountryCode,
  findStateCode,
  listCityIds,
  listMetroIds,
} from '../../../src/directory/search/stored-place.ts';
import { fold, foldAccents } from '../../../src/kit/values/fold.ts';

/** A creator as the oracle sees it: the row, and the time of its data. */
export type OracleRow = DirectoryCreatorDetail & { data_as_of: string | null };
export type OracleQuery = Readonly<Record<string, string>>;

type Test = (row: OracleRow) => boolean;

const nichesOf = (row: OracleRow) =>
  (row.niches ?? '')
    .split(',')
    .map(foldAccents)
    .filter((niche) => niche !== '');
const isFilled = (text: string | null) => text !== null && text.trim() !== '';

/** The words of a text as the index has them. */
const tokensOf = (text: string | null) =>
  foldAccents(text ?? '')
    .replace(/[._-]+/g, ' ')
    .split(/[^\p{L}\p{N}']+/u)
    .filter(Boolean);

const textsOf = (row: OracleRow) => [row.username, row.full_name, row.biography, row.niches, row.category];

function countryTest(value: string): Test {
  const reading = readCountry(value);
  if (reading.kind === 'country') return (row) => findCountryCode(row.country) === reading.country.code;
  return (row) => foldAccents(row.country ?? '').includes(reading.text);
}

function stateTest(value: string): Test {
  const reading = readState(value);
  const isText: Test = (row) => row.state !== null && foldAccents(row.state) === reading.text;
  if (reading.kind === 'state_text') return isText;
  return (row) => findStateCode(row.state, row.country) === reading.state.code || isText(row);
}

/** Rows in a city that the value names, and rows that have the value as it was sent. */
function nameTest(reading: PlaceReading): Test {
  if (reading.kind === 'state') return () => false;
  const ids = new Set(('cities' in reading ? reading.cities : undefined)?.map(({ id }) => id));
  return ({ city, state, country }) =>
    listCityIds(city, state, country).some((id) => ids.has(id)) ||
    (reading.asSent !== undefined && city !== null && foldAccents(city).includes(reading.asSent));
}

function cityTest(value: string): Test {
  const reading = readCity(value);
  if (reading.kind === 'state') return stateTest(value);
  const { state, country } = reading;
  const liesThere: Test = (row) =>
    (!state || findStateCode(row.state, row.country) === state.code) &&
    (!country || findCountryCode(row.country) === country.code);
  const isNamed = nameTest(reading);
  switch (reading.kind) {
    case 'metro':
      return (row) =>
        (listMetroIds(row.city, row.state, row.country).includes(reading.metro.id) && liesThere(row)) || isNamed(row);
    case 'city':
      return (row) =>
        (row.city !== null && reading.spellings.includes(foldAccents(row.city)) && liesThere(row)) || isNamed(row);
    case 'city_contains':
      return (row) => {
        const city = foldAccents(row.city ?? '');
        const others = reading.spellings ?? [];
        const hasText = city.includes(reading.text) || others.some((part) => ` ${city}`.includes(` ${part}`));
        return (row.city !== null && hasText && liesThere(row)) || isNamed(row);
      };
  }
}

/** Edits between two words, where a swap of two neighbours is one. */
function editsBetween(a: string, b: string): number {
  const [x, y] = [[...a], [...b]];
  const rows: number[][] = [Array.from({ length: y.length + 1 }, (_, j) => j)];
  const at = (i: number, j: number) => rows[i]?.[j] ?? Number.POSITIVE_INFINITY;
  for (let i = 1; i <= x.length; i += 1) {
    const row = [i];
    rows.push(row);
    for (let j = 1; j <= y.length; j += 1) {
      const isSame = x[i - 1] === y[j - 1];
      let least = Math.min(at(i - 1, j) + 1, at(i, j - 1) + 1, at(i - 1, j - 1) + (isSame ? 0 : 1));
      if (x[i - 1] === y[j - 2] && x[i - 2] === y[j - 1]) least = Math.min(least, at(i - 2, j - 2) + 1);
      row.push(least);
    }
  }
  return at(x.length, y.length);
}

function isNear(word: string, other: string): boolean {
  const { length } = [...word];
  if (length < 4 || word.slice(0, 2) !== other.slice(0, 2)) return false;
  return editsBetween(word, other) <= (length < 8 ? 1 : 2);
}

function textTest(text: string, typos: boolean): Test {
  const words = text.split(/\s+/u).filter((word) => /[\p{L}\p{N}]/u.test(word));
  return (row) => {
    const texts = textsOf(row);
    const tokens = [...texts, listOtherSpellings(texts) ?? null].flatMap(tokensOf);
    const isIn = (spelling: string) => tokensOf(spelling).every(has);
    const has = (word: string) => tokens.some((token) => token === word || (typos && isNear(word, token)));
    const begins = (word: string) => foldAccents(row.username).startsWith(word);
    return words.every(
      (word) => [word, ...expandWord(word)].some(isIn) || begins(foldAccents(word)) || begins(fold(word)),
    );
  };
}

const qTest = (query: OracleQuery, q: string): Test =>
  query.q_as !== 'text' && readLocation(q) ? placeTest(q) : textTest(q, query.typos === 'true');

/** A whole `q` that is a place reads a state before a city. */
function placeTest(q: string): Test {
  return readLocation(q)?.kind === 'state' ? stateTest(q) : cityTest(q);
}

const NUMBERS: Readonly<Record<string, (row: OracleRow) => number | null>> = {
  follower: (row) => row.follower_count,
  engagement: (row) => row.engagement_rate,
  age: (row) => row.age,
  posts: (row) => row.media_count,
  following: (row) => row.following_count,
};

const VALUES: Readonly<Record<string, (value: string) => Test>> = {
  category: (value) => (row) => row.category !== null && foldAccents(row.category) === foldAccents(value),
  niche: (value) => (row) => nichesOf(row).some((niche) => niche.includes(foldAccents(value))),
  gender: (value) => (row) => row.gender !== null && foldAccents(row.gender) === foldAccents(value),
  country: countryTest,
  state: stateTest,
  city: cityTest,
};

const TRUTHS: Readonly<Record<string, (row: OracleRow) => boolean | null>> = {
  has_email: (row) => isFilled(row.extracted_email),
  has_url: (row) => isFilled(row.external_url),
  is_verified: (row) => row.is_verified,
};

function testsOf(query: OracleQuery): Test[] {
  return Object.entries(query).flatMap(([name, value]): Test[] => {
    if (name === 'q') return [qTest(query, value)];
    const number = /^(\w+)_(min|max)$/.exec(name);
    const read = number?.[1] === undefined ? undefined : NUMBERS[number[1]];
    if (read) {
      const isMin = number?.[2] === 'min';
      return [
        (row) => {
          const found = read(row);
          return found !== null && (isMin ? found >= Number(value) : found <= Number(value));
        },
      ];
    }
    const truth = TRUTHS[name];
    if (truth) return [(row) => truth(row) === (value === 'true')];
    const [, not, plain = '', any] = /^(not_)?(\w+?)(_any)?$/.exec(name) ?? [];
    const testOf = VALUES[plain];
    if (!testOf) return [];
    const tests = (not || any ? value.split('|') : [value]).map((one) => testOf(one.trim()));
    return not ? [(row) => !tests.some((test) => test(row))] : [(row) => tests.some((test) => test(row))];
  });
}

const SORTED: Readonly<Record<string, readonly [(row: OracleRow) => number | null, 1 | -1]>> = {
  followers: [(row) => row.follower_count, -1],
  engagement: [(row) => row.engagement_rate, -1],
  followers_asc: [(row) => row.follower_count, 1],
  engagement_asc: [(row) => row.engagement_rate, 1],
  posts: [(row) => row.media_count, -1],
  recent: [(row) => (row.data_as_of === null ? null : Date.parse(row.data_as_of)), -1],
};

/** Every match of a search, in its order. By relevance only the set is meant. */
export function oracleSearch(rows: readonly OracleRow[], query: OracleQuery): OracleRow[] {
  const tests = testsOf(query);
  const found = rows.filter((row) => tests.every((test) => test(row)));
  const sorted = SORTED[query.sort ?? 'followers'];
  if (!sorted) return found.sort((a, b) => a.pk - b.pk);
  const [read, direction] = sorted;
  return found.sort((a, b) => {
    const [x, y] = [read(a), read(b)];
    if (x === null || y === null) return Number(x === null) - Number(y === null) || a.pk - b.pk;
    return (x - y) * direction || a.pk - b.pk;
  });
}

/** The nearest-rank percentiles and the mean of the preview. */
export function oracleStats(rows: readonly OracleRow[], read: (row: OracleRow) => number | null) {
  const values = rows.flatMap((row) => read(row) ?? []).sort((a, b) => a - b);
  const at = (share: number) => values[Math.ceil(share * values.length) - 1] ?? null;
  const sum = values.reduce((total, value) => total + value, 0);
  const mean = values.length === 0 ? null : sum / values.length;
  return { p10: at(0.1), p50: at(0.5), p90: at(0.9), mean };
}
