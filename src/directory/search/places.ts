import { foldAccents } from '../../kit/values/fold.ts';
import { isPartOfKnownName, nearestOf, nearestPlace } from './nearest-place.ts';
import {
  type Country,
  citiesByKey,
  countries,
  countryByKey,
  countryOfPart,
  everydayWords,
  type KnownCity,
  type Metro,
  metroByAlias,
  metros,
  namesakesOf,
  type Places,
  type State,
  stateByKey,
  stateByName,
  states,
} from './place-atlas.ts';
import { placeKey, spellingsOf } from './place-names.ts';

/**
 * How a city is understood: a metro, perhaps narrowed (`LA, CA`); exactly one city (`Miami, FL`); or every city whose
 * folded name contains the folded `text`. `spellings` are the other folded forms in which a known city's name may be
 * stored. A suggestion is the closest known name for an unknown text.
 */
export type PlaceReading =
  | { kind: 'metro'; metro: Metro; state?: State; country?: Country }
  | { kind: 'city'; name: string; spellings: string[]; state?: State; country?: Country }
  | {
      kind: 'city_contains';
      text: string;
      spellings?: string[];
      state?: State;
      country?: Country;
      suggestion?: string;
    }
  | KnownState;
/** A state of the US, and the folded text it was read from, which is all that matches abroad. */
interface KnownState {
  kind: 'state';
  state: State;
  text: string;
}
export type StateReading = KnownState | { kind: 'state_text'; text: string; suggestion?: string };
export type CountryReading =
  | { kind: 'country'; country: Country }
  | { kind: 'country_contains'; text: string; suggestion?: string };

/** No place name is longer; longer values are text and are not looked up. */
const LONGEST_PLACE = 120;

const nearestState = nearestOf(states.map((state) => state.name));
const nearestCountry = nearestOf(countries.map((country) => country.name));

export function listMetros(): readonly Metro[] {
  return metros;
}

export function listStates(): readonly State[] {
  return states;
}

export function listCountries(): readonly Country[] {
  return countries;
}

/** Reads a metro's alias or full name, else `City, ST` or `City, Country`, else part of a city's name. */
export function readCity(value: string): PlaceReading {
  const metro = findMetro(value);
  if (metro) return { kind: 'metro', metro };
  return readCityInArea(value) ?? readCityText(value);
}

export function readState(value: string): StateReading {
  const state = find(stateByKey, value);
  if (state) return { kind: 'state', state, text: foldAccents(value) };
  return { kind: 'state_text', text: foldAccents(value), ...suggesting(nearestState(value)) };
}

export function readCountry(value: string): CountryReading {
  const country = find(countryByKey, value);
  if (country) return { kind: 'country', country };
  const text = foldAccents(value);
  const isPartOfName = countries.some(({ name }) => foldAccents(name).includes(text));
  return { kind: 'country_contains', text, ...suggesting(isPartOfName ? undefined : nearestCountry(value)) };
}

/** The place that a whole `q` names; undefined if it is text, as it is with any additional word. */
export function readLocation(q: string): PlaceReading | undefined {
  const metro = findMetro(q);
  if (metro) return { kind: 'metro', metro };
  if (q.includes(',')) {
    const reading = readCityInArea(q);
    return reading?.kind === 'city_contains' ? undefined : reading;
  }
  const state = find(stateByName, q) ?? stateInCapitals(q.trim());
  if (state) return { kind: 'state', state, text: foldAccents(q) };
  return findCities(q) && !everydayWords.has(placeKey(withoutArticle(q))) ? readCityText(q) : undefined;
}

function find<T>(places: Pick<Places<T>, 'get'>, value: string): T | undefined {
  return value.length > LONGEST_PLACE ? undefined : places.get(placeKey(value));
}

function withoutArticle(value: string): string {
  return foldAccents(value).replace(/^the /, '');
}

function findCities(value: string): KnownCity[] | undefined {
  return find(citiesByKey, value) ?? find(citiesByKey, withoutArticle(value));
}

function findMetro(value: string): Metro | undefined {
  return find(metroByAlias, value);
}

function stateInCapitals(value: string): State | undefined {
  return /^[A-Z]{2}$/.test(value) ? stateByKey.get(value.toLowerCase()) : undefined;
}

function suggesting(suggestion: string | undefined): { suggestion?: string } {
  return suggestion === undefined ? {} : { suggestion };
}

/** The text as sent, and the common spellings of the names. */
function allSpellings(value: string, cities: readonly KnownCity[]): string[] {
  const names = new Set(cities.map((city) => city.name));
  return [...new Set([foldAccents(value), ...[...names].flatMap(spellingsOf)])];
}

/** A known city as a user writes it (`st louis`, `The Bronx`) matches its name in all spellings. */
function readCityText(value: string): PlaceReading {
  const text = foldAccents(value);
  const namesakes = findCities(value) ?? [];
  const [largest] = namesakes;
  if (largest) {
    const parts = [withoutArticle(value), text];
    const part = parts.find((spelling) => namesakes.some((city) => foldAccents(city.name).includes(spelling)));
    const read = part ?? foldAccents(largest.name);
    const others = allSpellings(value, namesakes).filter((spelling) => !spelling.includes(read));
    return { kind: 'city_contains', text: read, ...(others.length === 0 ? {} : { spellings: others }) };
  }
  return { kind: 'city_contains', text, ...suggesting(nearestTo(value)) };
}

function nearestTo(value: string): string | undefined {
  if (isPartOfKnownName(value)) return undefined;
  const [name = '', ...rest] = value.split(',', 2);
  return rest.length === 0 ? nearestPlace(value) : find(citiesByKey, name)?.[0]?.name;
}

interface Area {
  state?: State;
  country?: Country;
}

function liesIn({ state, country }: Area): (place: { state: string | null; country: string }) => boolean {
  return (place) => (state ? place.state === state.code : place.country === country?.code);
}

/** Reads `City, ST`, `City, Country` or `City, ST, Country`; undefined if the part after the comma is neither. */
function readCityInArea(value: string): PlaceReading | undefined {
  if (value.length > LONGEST_PLACE) return undefined;
  const [name = '', ...rest] = value.split(',');
  const key = placeKey(name);
  const area = key === '' ? undefined : readArea(key, rest);
  if (!area) return undefined;
  const withState = rest.length === 2 ? findMetro(`${name},${rest[0]}`) : undefined;
  if (withState) return { kind: 'metro', metro: withState };
  const metro = citiesByKey.has(key) ? undefined : metroByAlias.get(key);
  if (metro) return { kind: 'metro', metro, ...area };
  const cities = namesakesOf(key).filter(liesIn(area));
  const [city] = cities;
  if (city) return { kind: 'city', name: city.name, spellings: allSpellings(name, cities), ...area };
  const suggestion = nearestPlace(name, liesIn(area));
  return { kind: 'city_contains', text: foldAccents(name), ...area, ...suggesting(suggestion) };
}

/** After a city, a part of a country means the country: `London, England`. */
function countryOf(text: string): Country | undefined {
  const key = placeKey(text);
  return countryByKey.get(key) ?? countryOfPart.get(key);
}

function readArea(key: string, [first = '', second, ...more]: string[]): Area | undefined {
  if (more.length > 0) return undefined;
  const state = stateByKey.get(placeKey(first));
  if (second === undefined) return pickArea(key, state, countryOf(first));
  const country = countryOf(second);
  if (country?.code === 'US') return state && { state };
  return country && namesakesOf(key).some(liesIn({ country })) ? { country } : undefined;
}

/** `DE` is Delaware and Germany: it means the state, unless the city is known only in the country (`Berlin, DE`). */
function pickArea(key: string, state: State | undefined, country: Country | undefined): Area | undefined {
  if (!state) return country && { country };
  if (!country) return { state };
  const places: Array<Pick<KnownCity, 'state' | 'country'>> = [
    ...namesakesOf(key),
    ...(metroByAlias.get(key)?.members ?? []),
  ];
  const isOnlyAbroad = !places.some(liesIn({ state })) && places.some(liesIn({ country }));
  return isOnlyAbroad ? { country } : { state };
}
