import { findNamed } from './other-names.ts';
import {
  citiesByKey,
  citiesByOtherName,
  findState,
  findStoredCountry,
  isWithin,
  type KnownCity,
  membersByKey,
  metroByAlias,
} from './place-atlas.ts';
import { placeKey } from './place-names.ts';

/** An import repeats few distinct places, so results are cached; hostile input only empties the cache. */
const KEPT_ANSWERS = 100_000;

function remember<V>(answers: Map<string, V>, question: string, answer: V): V {
  if (answers.size >= KEPT_ANSWERS) answers.clear();
  answers.set(question, answer);
  return answer;
}

const countryCodes = new Map<string, string | null>();
const stateCodes = new Map<string, string | null>();
const metroIds = new Map<string, string[]>();
const cityIds = new Map<string, number[]>();

/** The ISO code of a stored country in any spelling; null if it is not a country. */
export function findCountryCode(country: string | null): string | null {
  if (!country) return null;
  const cachedCode = countryCodes.get(country);
  if (cachedCode !== undefined) return cachedCode;
  return remember(countryCodes, country, findStoredCountry(country)?.code ?? null);
}

/** The code of a US state from its code, name or abbreviation; null if the country is another one. */
export function findStateCode(state: string | null, country: string | null): string | null {
  if (!state) return null;
  const code = findCountryCode(country);
  if (code !== 'US' && (code !== null || !isBlank(country))) return null;
  const cachedCode = stateCodes.get(state);
  if (cachedCode !== undefined) return cachedCode;
  return remember(stateCodes, state, findState(state)?.code ?? null);
}

/** The ids of the metros of a stored row. The array is shared between calls and must not be changed. */
export function listMetroIds(city: string | null, state: string | null, country: string | null): string[] {
  if (!city) return [];
  const question = `${city}\n${state ?? ''}\n${country ?? ''}`;
  const cachedIds = metroIds.get(question);
  if (cachedIds !== undefined) return cachedIds;
  return remember(metroIds, question, listMetrosOfPlace(readStoredPlace(city, state, country)));
}

/** `null` is an absent state or country; `unknown` one that is given but names nothing we know. */
interface StoredPlace {
  key: string;
  state: string | null | 'unknown';
  country: string | null | 'unknown';
}

function isBlank(text: string | null): boolean {
  return text === null || placeKey(text) === '';
}

/** A city may carry its state or country inside (`Brooklyn, NY`); the row's own columns win over it. */
function readStoredPlace(
  city: string,
  state: string | null,
  country: string | null,
  isName = (key: string) => metroByAlias.has(key) || membersByKey.has(key),
): StoredPlace {
  let stateText = isBlank(state) ? null : state;
  let countryText = isBlank(country) ? null : country;
  const whole = placeKey(city);
  const [name = '', ...tail] = city.split(',', 3);
  const isWhole = tail.length === 0 || isName(whole);
  for (const part of isWhole ? [] : tail) {
    if (!stateText && findStateCode(part, countryText)) stateText = part;
    else if (!countryText && findCountryCode(part)) countryText = part;
    else if (!stateText && !isBlank(part)) stateText = part;
  }
  return {
    key: isWhole ? whole : placeKey(name),
    state: stateText && (findStateCode(stateText, countryText) ?? 'unknown'),
    country: countryText && (findCountryCode(countryText) ?? 'unknown'),
  };
}

const MOST_CITIES = 8;

/**
 * The ids of the cities that a stored row may lie in under any of their names, main names first, then the largest. The
 * array is shared between calls and must not be changed.
 */
export function listCityIds(city: string | null, state: string | null, country: string | null): number[] {
  if (!city) return [];
  const question = `${city}\n${state ?? ''}\n${country ?? ''}`;
  const cachedIds = cityIds.get(question);
  if (cachedIds !== undefined) return cachedIds;
  const place = readStoredPlace(city, state, country, (key) => citiesByKey.has(key) || citiesByOtherName.has(key));
  const namedCities = [...(citiesByKey.get(place.key) ?? []), ...(citiesByOtherName.get(place.key) ?? [])];
  const ids = namedCities.filter((one) => one.id !== 0 && agrees(place, one)).map(({ id }) => id);
  return remember(cityIds, question, [...new Set(ids)].slice(0, MOST_CITIES));
}

function listMetrosOfPlace(place: StoredPlace): string[] {
  const ids = metrosByMainName(place);
  if (ids.length > 0 || citiesByKey.has(place.key) || membersByKey.has(place.key)) return ids;
  const namedCities = findNamed(place.key, (city) => agrees(place, city)).meant;
  const [only] = namedCities;
  if (!only || (namedCities.length > 1 && !isPlaced(place))) return [];
  // The city's own main name and area say which members of metros it is.
  return metrosByMainName({ key: placeKey(only.name), state: only.state, country: only.country });
}

function metrosByMainName(place: StoredPlace): string[] {
  const ids = new Set<string>();
  const metro = citiesByKey.has(place.key) ? undefined : metroByAlias.get(place.key);
  if (metro?.members.some((member) => agrees(place, member))) ids.add(metro.id);
  const members = (membersByKey.get(place.key) ?? []).filter(({ city }) => agrees(place, city));
  const places = members.map(({ city }) => city);
  const only = isPlaced(place) ? undefined : onlyPlace(place, places);
  for (const { metroId, city } of members) {
    if (isPlaced(place) || (only && isSamePlace(only, city))) ids.add(metroId);
  }
  return [...ids];
}

/** Tells if the row locates its city: in the US by state, abroad by country. */
function isPlaced({ state, country }: StoredPlace): boolean {
  return country === null || country === 'US' ? state !== null && state !== 'unknown' : true;
}

function agrees(place: StoredPlace, area: { state: string | null; country: string }): boolean {
  if (place.country !== null && !isWithin(area.country, place.country)) return false;
  // Puerto Rico is a state to some and a country to others.
  if (area.country !== 'US') return [null, 'unknown', area.country].includes(place.state);
  return place.state === null || place.state === area.state;
}

function isSamePlace(a: KnownCity, b: KnownCity): boolean {
  return a.country === b.country && a.state === b.state;
}

/** The one city a name can mean, given the rest of the row; undefined if several known cities have it. */
function onlyPlace(place: StoredPlace, members: KnownCity[]): KnownCity | undefined {
  const knownCities = (citiesByKey.get(place.key) ?? []).filter((city) => agrees(place, city));
  const candidates = knownCities.length > 0 ? knownCities : members;
  const [first] = candidates;
  return first && candidates.every((city) => isSamePlace(first, city)) ? first : undefined;
}
