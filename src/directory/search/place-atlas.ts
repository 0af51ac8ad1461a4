import { z } from 'zod';
import cityRows from '../../../metros/cities.json' with { type: 'json' };
import countryRows from '../../../metros/countries.json' with { type: 'json' };
import countryNameRows from '../../../metros/country-names.json' with { type: 'json' };
import metroRows from '../../../metros/metros.json' with { type: 'json' };
import nameRows from '../../../metros/names.json' with { type: 'json' };
import wordRows from '../../../metros/not-places.json' with { type: 'json' };
import regionRows from '../../../metros/regions.json' with { type: 'json' };
import stateRows from '../../../metros/states.json' with { type: 'json' };
import townRows from '../../../metros/towns.json' with { type: 'json' };
import { foldAccents } from '../../kit/values/fold.ts';
import { later } from '../../kit/values/later.ts';
import { placeKey, placeKeys, readFlag } from './place-names.ts';

/** A state of the US, the District of Columbia or a territory. */
export interface State {
  code: string;
  name: string;
}

/** A country by its ISO 3166-1 alpha-2 code. */
export interface Country {
  code: string;
  name: string;
}

export interface Metro {
  id: string;
  name: string;
  aliases: string[];
  country: string;
  members: Array<{ city: string; state: string | null; country: string }>;
}

/** A city and where it is. Members of metros that the dictionary of cities lacks have no population. */
export interface KnownCity {
  /** GeoNames' id; 0 if the dictionary lacks the city. */
  id: number;
  name: string;
  state: string | null;
  country: string;
  population: number;
}

export interface Membership {
  metroId: string;
  city: KnownCity;
}

const SpelledRows = z.array(
  z.object({
    code: z.string(),
    name: z.string(),
    spellings: z.array(z.string()),
    parts: z.array(z.string()).default([]),
    regions: z.array(z.string()).default([]),
    codes: z.array(z.string()).default([]),
  }),
);
const CityRows = z.record(z.string(), z.array(z.tuple([z.string(), z.number()])));
const MetroRows = z.array(
  z.object({
    id: z.string(),
    name: z.string(),
    country: z.string(),
    aliases: z.array(z.string()),
    members: z.record(z.string(), z.array(z.string())),
  }),
);

const RegionRows = z.array(
  z.object({
    names: z.array(z.string()),
    places: z.array(z.string()).optional(),
    countries: z.array(z.string()).optional(),
  }),
);

/** The data names an area `US-CA` if the state matters and `FR` if it does not. */
function readArea(area: string): { country: string; state: string | null } {
  const [country = area, state] = area.split('-');
  return { country, state: state ?? null };
}

function append<T>(lists: Map<string, T[]>, key: string, value: T): void {
  const list = lists.get(key);
  if (list) list.push(value);
  else lists.set(key, [value]);
}

const stateList = SpelledRows.parse(stateRows);
const countryList = SpelledRows.parse(countryRows);
const countryNames: Readonly<Record<string, string | undefined>> = z
  .record(z.string(), z.string())
  .parse(countryNameRows);

export const states: readonly State[] = stateList.map(({ code, name }) => ({ code, name }));
export const countries: readonly Country[] = countryList.map(({ code, name }) => ({ code, name }));
/** Regions that have a code of their own beside the country that people write behind their cities: `Hong Kong, China`. */
const COUNTRY_BY_REGION: Readonly<Record<string, string>> = { HK: 'CN', MO: 'CN', PR: 'US', GU: 'US', VI: 'US' };

/** True if a place of the first country also lies in the second. */
export const isWithin = (code: string, country: string | undefined): boolean =>
  code === country || (country !== undefined && COUNTRY_BY_REGION[code] === country);

export const metros: readonly Metro[] = MetroRows.parse(metroRows).map((row) => ({
  ...row,
  members: Object.entries(row.members).flatMap(([area, cities]) => cities.map((city) => ({ city, ...readArea(area) }))),
}));

export const stateByKey = new Map<string, State>();
export const stateByName = new Map<string, State>();
for (const { code, name, spellings } of stateList) {
  const state = { code, name };
  stateByName.set(placeKey(name), state);
  for (const spelling of [code, name, ...spellings]) stateByKey.set(placeKey(spelling), state);
}

/** The US state of a code, a name, an abbreviation or an ISO 3166-2 code (`US-CA`). */
export function findState(text: string): State | undefined {
  return stateByKey.get(placeKey(text)) ?? findStateByIso(text);
}

/** The state of an ISO 3166-2 code, which no text abroad has. */
export function findStateByIso(text: string): State | undefined {
  const [, code] = /^US-([A-Z]{2})$/i.exec(text.trim()) ?? [];
  return code === undefined ? undefined : stateByKey.get(code.toLowerCase());
}

export const countryByKey = new Map<string, Country>();
/** The names of countries that indices of every version have the code of. */
export const longKnownCountries = new Set<string>();
for (const { code, name, spellings } of countryList) {
  const country = { code, name };
  for (const key of countryNames[code]?.split(' ') ?? []) countryByKey.set(key, country);
  for (const key of [code, name, ...spellings].map(placeKey)) {
    countryByKey.set(key, country);
    longKnownCountries.add(key);
  }
}

/** Places by the keys of their names. */
export interface Places<T> {
  get(key: string): T | undefined;
  has(key: string): boolean;
  values(): Iterable<T>;
}

/** Places that are read when the first is wanted: reading them all is a fifth of the start of a small program. */
function createLazyPlaces<T>(fill: (places: Map<string, T>) => void): Places<T> {
  const all = later(() => {
    const places = new Map<string, T>();
    fill(places);
    return places;
  });
  return { get: (key) => all().get(key), has: (key) => all().has(key), values: () => all().values() };
}

/** Countries by their nations and provinces. England is in the United Kingdom, but a search for England does not mean all of it. */
const countriesByPart = createLazyPlaces<Country[]>((places) => {
  for (const { code, name, parts, regions } of countryList) {
    for (const key of new Set([...parts, ...regions].map(placeKey))) append(places, key, { code, name });
  }
});

/** Countries by the short forms of provinces, which are read only behind a city: `Toronto, ON`. */
const countriesByCode = createLazyPlaces<Country[]>((places) => {
  for (const { code, name, codes } of countryList)
    for (const one of codes) append(places, placeKey(one), { code, name });
});

/** The country that a stored text names, as itself or by a part that no other country has. */
export function findStoredCountry(text: string): Country | undefined {
  const key = placeKey(text) || placeKey(readFlag(text));
  const [only, ...others] = countriesByPart.get(key) ?? [];
  return countryByKey.get(key) ?? (others.length === 0 ? only : undefined);
}

/** The countries that a text behind a city may mean: `Paris, France`, `London, England`, `Lahore, Punjab`, `Perth, WA`. */
export function listCountriesBehindCity(text: string): Country[] {
  const key = placeKey(text);
  const country = countryByKey.get(key);
  return [...(country ? [country] : []), ...(countriesByPart.get(key) ?? []), ...(countriesByCode.get(key) ?? [])];
}

/** The ids and other names of an area's cities, in the order of the cities. */
const NameRows = z.record(z.string(), z.array(z.string()));

/** The cities of the dictionary with their other names, by main name. */
const namedCities = later(() => {
  const names = NameRows.parse(nameRows);
  return Object.entries(CityRows.parse(cityRows)).flatMap(([area, cities]) =>
    cities.map(([name, population], i) => {
      const [id = '0', ...others] = names[area]?.[i]?.split(' ') ?? [];
      return { city: { id: Number(id), name, population, ...readArea(area) }, others };
    }),
  );
});

function sortBySize(places: Map<string, KnownCity[]>): void {
  for (const namesakes of places.values()) namesakes.sort((a, b) => b.population - a.population);
}

/** The cities of the dictionary by main name, the largest first. */
export const citiesByKey = createLazyPlaces<KnownCity[]>((places) => {
  for (const { city } of namedCities()) append(places, placeKey(city.name), city);
  sortBySize(places);
});

/** The same cities by their names in other languages, former names and nicknames. */
export const citiesByOtherName = createLazyPlaces<KnownCity[]>((places) => {
  for (const { city, others } of namedCities()) {
    for (const key of others) append(places, key, city);
  }
  sortBySize(places);
});

/** Regions that people name but nobody has drawn, with values of `city` for the largest places there. */
export const placesByRegion = createLazyPlaces<readonly string[]>((places) => {
  for (const { names, places: values } of RegionRows.parse(regionRows)) {
    for (const name of values === undefined ? [] : names) places.set(placeKey(name), values ?? []);
  }
});

/** Parts of the world, with the names of their largest countries. */
export const countriesByRegion = createLazyPlaces<readonly string[]>((places) => {
  for (const { names, countries: codes } of RegionRows.parse(regionRows)) {
    if (codes === undefined) continue;
    const countryNames = codes.map((code) => countryByKey.get(placeKey(code))?.name ?? code);
    for (const name of names) places.set(placeKey(name), countryNames);
  }
});

export const metroByAlias = createLazyPlaces<Metro>((places) => {
  for (const metro of metros) {
    for (const key of [metro.name, ...metro.aliases].flatMap(placeKeys)) places.set(key, metro);
  }
});

export const membersByKey = createLazyPlaces<Membership[]>((places) => {
  for (const metro of metros) {
    for (const { city, state, country } of metro.members) {
      append(places, placeKey(city), { metroId: metro.id, city: { id: 0, name: city, state, country, population: 0 } });
    }
  }
});

/** Words around a place for its metro, folded; some in other languages: `Großraum München`, `Gran Bogotá`, `Paris region`. */
const BEFORE_METRO =
  'greater|metro|metropolitan|gro(?:ss|s)raum|raum|gran|grande?|region(?: de| of)?|(?:area|zona) metropolitana d(?:el?|i|o|a)';
const BEHIND_METRO = 'metro(?:politan)?(?: area| region)?|area|region';
const AFFIXES = new RegExp(`^(?:the )?(?:(${BEFORE_METRO}) )?(.+?)(?: (${BEHIND_METRO}))?$`);

/** The place in `Greater Dallas` or `Dallas metro area`; undefined without such words. */
export function readMetroCore(name: string): string | undefined {
  const [, before, core, after] = AFFIXES.exec(foldAccents(name)) ?? [];
  return before || after ? core : undefined;
}

/** Metros by the cities that their names have, for `Dallas area` and `Fort Worth metro`. */
export const metroByCore = createLazyPlaces<Metro>((places) => {
  for (const metro of metros) {
    const parts = metro.name.split('-');
    const first = metro.aliases.flatMap((alias) => alias.split('-').slice(0, 1));
    const cores = [metro.name, ...metro.aliases].flatMap((name) => readMetroCore(name) ?? []);
    for (const key of [...cores, ...parts, ...first].map(placeKey)) if (!places.has(key)) places.set(key, metro);
  }
});

/** Smaller US towns, recognized only together with their state. */
const townsByKey = createLazyPlaces<KnownCity[]>((places) => {
  for (const [area, towns] of Object.entries(z.record(z.string(), z.array(z.string())).parse(townRows))) {
    for (const name of towns) append(places, placeKey(name), { id: 0, name, population: 0, ...readArea(area) });
  }
});

/** City names that are also everyday words or given names. */
export const everydayWords: ReadonlySet<string> = new Set(wordRows.map(placeKey));

/** All places with a name: cities of the dictionary, largest first, then members of metros and towns. */
export function listNamesakes(key: string): KnownCity[] {
  const members = membersByKey.get(key) ?? [];
  return [...(citiesByKey.get(key) ?? []), ...members.map((member) => member.city), ...(townsByKey.get(key) ?? [])];
}
