import { type CreatorDocument, type CreatorRow, toDocument } from '../src/directory/search/document.ts';
import { listMetros, readCity, readCountry } from '../src/directory/search/places.ts';
import { readPlaces } from '../src/directory/search/interpretation.ts';

export type Parameters = Record<string, string>;

export interface Kind {
  name: string;
  /** One of the last three kinds: a deep page. */
  isDeep: boolean;
  variants: Parameters[];
}

const VARIANTS = 60;
const PAGE_LIMIT = 100;

/** Mulberry32: small, fast, and the same numbers everywhere for the same seed. */
function randomOf(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

type Random = () => number;

function pick<T>(random: Random, values: readonly T[]): T | undefined {
  return values[Math.floor(random() * values.length)];
}

/** Collects distinct variants until there are enough; `make` returns undefined for a row that lacks what it needs. */
function variantsOf(name: string, make: () => Parameters | undefined): Parameters[] {
  const found = new Map<string, Parameters>();
  for (let attempt = 0; found.size < VARIANTS; attempt += 1) {
    if (attempt > 200_000) throw new Error(`Only ${found.size} different queries of the kind "${name}" in this data.`);
    const made = make();
    if (made) found.set(JSON.stringify(made), made);
  }
  return [...found.values()];
}

/** A word from a profile that is searched as text. */
function wordOf(random: Random, { card }: CreatorDocument): string | undefined {
  const text = pick(random, [card.biography, card.full_name, card.niches]) ?? '';
  const word = pick(random, text.match(/\p{L}{4,}/gu) ?? []);
  return word && readPlaces({ q: word }).q?.kind === 'text' ? word : undefined;
}

function twoWordsOf(random: Random, creator: CreatorDocument): string | undefined {
  const words = [wordOf(random, creator), wordOf(random, creator)];
  const q = words.join(' ');
  return words[0] && words[1] && words[0] !== words[1] && readPlaces({ q }).q?.kind === 'text' ? q : undefined;
}

function partOf(random: Random, text: string | null): string | undefined {
  if (!text || text.length < 6) return undefined;
  const length = 4 + Math.floor(random() * 3);
  const start = Math.floor(random() * (text.length - length + 1));
  const part = text.slice(start, start + length).trim();
  return part.length >= 4 ? part : undefined;
}

function metroOf(random: Random, { x }: CreatorDocument): Parameters | undefined {
  const id = pick(random, x.metros);
  const metro = listMetros().find((known) => known.id === id);
  const city = metro && pick(random, [metro.name, ...metro.aliases]);
  if (!city || readCity(city).kind !== 'metro') return undefined;
  return random() < 0.5 ? { city } : { city, has_email: String(x.has_email) };
}

function partialCountryOf(random: Random, { card }: CreatorDocument): Parameters | undefined {
  const country = partOf(random, card.country);
  return country && readCountry(country).kind === 'country_contains' ? { country } : undefined;
}

function partialCityOf(random: Random, { card }: CreatorDocument): Parameters | undefined {
  const city = partOf(random, card.city);
  return city && readCity(city).kind === 'city_contains' ? { city } : undefined;
}

function filtersOf(random: Random, { card }: CreatorDocument): Parameters | undefined {
  const { category, country, follower_count: followers } = card;
  if (!category || !country || followers === null) return undefined;
  return { category, country, follower_min: String(Math.floor(followers * random())) };
}

function nicheOf(random: Random, { x }: CreatorDocument): Parameters | undefined {
  const niche = pick(random, x.niches);
  if (!niche) return undefined;
  return random() < 0.5 || !x.gender ? { niche } : { niche, gender: x.gender };
}

function stateByEngagementOf({ card, x }: CreatorDocument): Parameters | undefined {
  return x.state_code && card.state && x.gender
    ? { state: card.state, gender: x.gender, sort: 'engagement' }
    : undefined;
}

const withText = (q: string | undefined, filters: Parameters | undefined = {}): Parameters | undefined =>
  q === undefined ? undefined : { q, ...filters };

/** Filters that match at least `creators` creators; the empty filter always does. */
function broadFilters(sample: readonly CreatorDocument[], share: number): Parameters[] {
  const counts = new Map<string, number>();
  for (const { card, x } of sample) {
    const filters = [{ has_email: String(x.has_email) }, { gender: x.gender }, { country: card.country }];
    for (const filter of filters) {
      const key = JSON.stringify(filter);
      counts.set(key, (counts.get(key) ?? 0) + 1);
    }
  }
  const enough = [...counts].filter(([key, count]) => !key.includes('null') && count / sample.length > share * 1.2);
  return [{}, ...enough.map(([key]): Parameters => JSON.parse(key))];
}

function deepKind(sample: readonly CreatorDocument[], creators: number, page: number, random: Random): Kind {
  const name = `page ${page.toLocaleString('en')}`;
  const filters = broadFilters(sample, (page * PAGE_LIMIT) / creators);
  const variants = variantsOf(name, () => ({
    ...pick(random, filters),
    page: String(page - Math.floor(random() * VARIANTS)),
    limit: String(PAGE_LIMIT),
  }));
  return { name, isDeep: true, variants };
}

/**
 * The kinds of query in the mix, 60 distinct ones of each, built from rows of the data. The deepest page is `lastPage`.
 */
export function makeKinds(rows: readonly CreatorRow[], creators: number, lastPage: number, seed: number): Kind[] {
  const random = randomOf(seed);
  const sample = rows.map((row) => toDocument(row));
  const kind = (name: string, make: (creator: CreatorDocument) => Parameters | undefined): Kind => ({
    name,
    isDeep: false,
    variants: variantsOf(name, () => {
      const creator = pick(random, sample);
      return creator && make(creator);
    }),
  });
  return [
    kind('filters', (creator) => filtersOf(random, creator)),
    kind('niche', (creator) => nicheOf(random, creator)),
    kind('one-word q', (creator) => withText(wordOf(random, creator))),
    kind('two-word q', (creator) => withText(twoWordsOf(random, creator))),
    kind('q + filters', (creator) => withText(wordOf(random, creator), filtersOf(random, creator))),
    kind('metro', (creator) => metroOf(random, creator)),
    kind('part of a city', (creator) => partialCityOf(random, creator)),
    kind('part of a country', (creator) => partialCountryOf(random, creator)),
    kind('state by engagement', stateByEngagementOf),
    ...[100, 1_000, 10_000].filter((page) => page <= lastPage).map((page) => deepKind(sample, creators, page, random)),
  ];
}

/** The variants of all kinds in one seeded order, with each kind equally often. */
export function shuffled<T>(values: readonly T[], seed: number): T[] {
  const random = randomOf(seed);
  return values
    .map((value) => ({ value, place: random() }))
    .sort((a, b) => a.place - b.place)
    .map(({ value }) => value);
}
