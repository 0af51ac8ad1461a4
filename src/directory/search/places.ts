import { foldAccents } from '../../kit/values/fold.ts';
import { later } from '../../kit/values/later.ts';
import { createNearestFinder, isPartOfKnownName, nearestPlace } from './nearest-place.ts';
import { findNamed } from './other-names.ts';
import {
  type Country,
  citiesByKey,
  citiesByOtherName,
  countries,
  countriesByRegion,
  countryByKey,
  everydayWords,
  findStateByIso,
  isWithin,
  type KnownCity,
  listCountriesBehindCity,
  listNamesakes,
  longKnownCountries,
  type Metro,
  metroByAlias,
  metroByCore,
  metros,
  type Places,
  placesByRegion,
  readMetroCore,
  type State,
  stateByKey,
  stateByName,
  states,
} from './place-atlas.ts';
import { listSpellings, placeKey, readFlag, withoutNear } from './place-names.ts';

/**
 * The reading of a city: a metro, perhaps narrowed (`LA, CA`); exactly one city (`Miami, FL`); or every city whose
 * folded name contains the folded `text`. `spellings` are the other folded forms in which a known city's name may be
 * stored. A suggestion is the closest known name for an unknown text.
 */
export type PlaceReading =
  | ({ kind: 'metro'; metro: Metro } & Narrowed)
  | ({ kind: 'city'; name: string; spellings: string[] } & Narrowed & AlsoNamed)
  | ({ kind: 'city_contains'; text: string; spellings?: string[]; suggestion?: string } & Narrowed & AlsoNamed)
  | KnownState;

interface Narrowed {
  state?: State;
  country?: Country;
  /** The folded value, if it also matches as part of a stored text: `Austin TX`. */
  asSent?: string;
}

interface AlsoNamed {
  /** The cities that the value names, which match under all their names. */
  cities?: KnownCity[];
  /** Cities that have the value as another name, but were not meant. */
  others?: KnownCity[];
}

/** A state of the US, and the folded text it was read from, which is all that matches abroad; none for `US-CA`. */
interface KnownState {
  kind: 'state';
  state: State;
  text: string;
}
export type StateReading = KnownState | { kind: 'state_text'; text: string; suggestion?: string };
export type CountryReading =
  | { kind: 'country'; country: Country; asSent?: string }
  | { kind: 'country_contains'; text: string; suggestion?: string };

/** No place name is longer; longer values are text and are not looked up. */
const LONGEST_PLACE = 120;

const nearestStateName = createNearestFinder(states.map((state) => state.name));
const nearestCountry = createNearestFinder(countries.map((country) => country.name));

const SHORTEST_BEGINNING = 3;

/** The state that a text misspells, or the only one that begins with it: `Cal`, `Penn`. */
function nearestState(value: string): string | undefined {
  const begun = foldAccents(value.trim().replace(/\.$/, ''));
  const names = states.map(({ name }) => name).filter((name) => foldAccents(name).startsWith(begun));
  return begun.length >= SHORTEST_BEGINNING && names.length === 1 ? names[0] : nearestStateName(value);
}

/** The places of a region that has no bounds of its own, the largest first: `SoCal`, `Orange County, CA`. */
export const listPlacesOfRegion = (value: string): readonly string[] | undefined => find(placesByRegion, value);

/** The names of the countries of a part of the world: `DACH`, `Latin America`. */
export const listCountriesOfRegion = (value: string): readonly string[] | undefined => find(countriesByRegion, value);

/** The country that a value names a province of: `Bavaria`, `NSW`. */
export const findCountryOfProvince = (value: string): string | undefined =>
  countryByKey.has(placeKey(value)) ? undefined : listCountriesBehindCity(value)[0]?.name;

export function listMetros(): readonly Metro[] {
  return metros;
}

const metroById = later(() => new Map(metros.map((metro) => [metro.id, metro])));
const countryNames = later(() => new Map(countries.map(({ code, name }) => [code, name])));
const stateNames = later(() => new Map(states.map(({ code, name }) => [code, name])));

export const findMetroName = (id: string): string | undefined => metroById().get(id)?.name;
export const findCountryName = (code: string): string | undefined => countryNames().get(code);
export const findStateName = (code: string): string | undefined => stateNames().get(code);

/** The metro that an id, a name or an alias names. */
export const findMetroNamed = (text: string): Metro | undefined => metroById().get(text.trim()) ?? findMetro(text);

export function listStates(): readonly State[] {
  return states;
}

export function listCountries(): readonly Country[] {
  return countries;
}

/** Reads a metro's alias or full name, else `City, ST` or `City, Country`, else part of a city's name. */
export function readCity(said: string): PlaceReading {
  const value =
    readMetro(said) || findCities(said) ? said : withoutNear(said, (place) => readKnownCity(place) !== undefined);
  return (
    readMetro(value) ?? readCityInArea(value) ?? readCityBeforeArea(value) ?? readTidied(value) ?? readCityText(value)
  );
}

/** The metro or city that a value names; undefined if it is a part of a name or unknown, which is not looked for. */
export function readKnownCity(value: string): PlaceReading | undefined {
  const metro = readMetro(value);
  if (metro) return metro;
  if (value.includes(',')) {
    const reading = readCityInArea(value);
    return reading?.kind === 'city_contains' && !reading.cities ? undefined : reading;
  }
  const isNamed = findCities(value) !== undefined || find(citiesByOtherName, value) !== undefined;
  return isNamed ? readCityText(value) : (readCityBeforeArea(value) ?? readTidied(value));
}

/** The values of `city_any` in a value that names several places, such as `NYC|LA` or `Paris and London`; else undefined. */
export function findSeveralPlaces(value: string): string[] | undefined {
  if (value.length > LONGEST_SEVERAL) return undefined;
  const text = /^\s*[["“]/.test(value) ? value.replace(/[["“”\]]/g, '') : value;
  if (text.includes('|')) {
    const parts = splitPlaces(text, '|');
    return parts.length > 1 && parts.every((part) => placeKey(part) !== '') ? parts : undefined;
  }
  if (findMetro(text) || findCities(text)) return undefined;
  const apart = splitPlaces(text, BESIDE_COMMAS);
  if (areSeveralPlaces(apart, { mayLieIn: text.includes('/'), mayBelong: false })) return apart;
  const listed = splitPlaces(text, BETWEEN_PLACES);
  const mayBelong = listed.length === 2 && /[,，]/u.test(text);
  return areSeveralPlaces(listed, { mayLieIn: true, mayBelong }) ? listed : undefined;
}

const LONGEST_SEVERAL = 500;
const splitPlaces = (text: string, between: string | RegExp) => text.split(between).map((part) => part.trim());
/** A comma may belong to a place: `Austin, TX; Dallas, TX`. */
const BESIDE_COMMAS = /[;/&+、\n]|\s(?:and|or|und|oder|y|et|ou|e)\s/iu;
const BETWEEN_PLACES = /[,;/&+、，\n]|\s(?:and|or|und|oder|y|et|ou|e)\s/iu;

interface Between {
  /** The second may be the region of the first: `Rosario, Santa Fe`. */
  mayLieIn: boolean;
  /** The first may be a part of the second: `Quezon City, Manila`. */
  mayBelong: boolean;
}

function areSeveralPlaces(parts: readonly string[], { mayLieIn, mayBelong }: Between): boolean {
  if (parts.length < 2) return false;
  // Two cities that are provinces as well lie beside each other: `Berlin, Hamburg`, but not `Madrid, Comunidad de Madrid`.
  const [first = '', ...others] = parts.map(placeKey);
  const areProvinces =
    parts.every((part) => findCountryOfProvince(part) !== undefined) && !others.some((key) => key.includes(first));
  const reading = mayLieIn && !areProvinces ? readCityInArea(parts.join(',')) : undefined;
  if (reading && liesInArea(reading)) return false;
  return parts.every((part, i) => i === 0 || arePlacesApart(parts[i - 1] ?? '', part, mayBelong && !areProvinces));
}

/** A place before a comma or a space that is known in the area after it. */
function liesInArea(reading: PlaceReading): boolean {
  if (reading.kind === 'metro') return reading.metro.members.some(liesIn(reading));
  return reading.kind === 'city' || (reading.kind === 'city_contains' && reading.cities !== undefined);
}

/**
 * Two metros or large cities. Behind a comma, a city of the same country may be the one that the first belongs to, except in the
 * US: `Quezon City, Manila` is one place.
 */
function arePlacesApart(one: string, other: string, mayBelong: boolean): boolean {
  const [first, second] = [one, other].map((name) => findMetro(name) ?? findLargeCity(name) ?? findPlacedCity(name));
  if (!first || !second || first === second) return false;
  const areMetros = 'aliases' in first && 'aliases' in second;
  return !mayBelong || areMetros || first.country !== second.country || first.country === 'US';
}

/** The city of a value that names its state or country: `Boise, ID`. */
function findPlacedCity(value: string): KnownCity | undefined {
  const reading = readKnownCity(value);
  return reading?.kind === 'city' ? reading.cities?.[0] : undefined;
}

const LARGE = 500_000;

function findLargeCity(name: string): KnownCity | undefined {
  return (findCities(name) ?? find(citiesByOtherName, name))?.find(({ population }) => population >= LARGE);
}

/** `North Carolina, USA`, `NY State`. */
const STATE_IN_COUNTRY = /^\s*([^,]+?)(?:,\s*|\s+)(state|usa|us|u\.s\.(?:a\.)?|united states)\s*$/i;

export function readState(value: string): StateReading {
  const exact = findStateByIso(value);
  if (exact) return { kind: 'state', state: exact, text: '' };
  const state = find(stateByKey, value) ?? find(stateByKey, STATE_IN_COUNTRY.exec(value)?.[1] ?? '');
  if (state) return { kind: 'state', state, text: foldAccents(value) };
  return { kind: 'state_text', text: foldAccents(value), ...suggesting(nearestState(value)) };
}

/** Countries that are parts of one: creators there have it as their country. */
const UNITED_KINGDOM: ReadonlySet<string> = new Set(['england', 'scotland', 'wales', 'northern ireland'].map(placeKey));

export function readCountry(value: string): CountryReading {
  const country = find(countryByKey, value) ?? find(countryByKey, readFlag(value));
  const text = foldAccents(value);
  if (country)
    return { kind: 'country', country, ...(longKnownCountries.has(placeKey(value)) ? {} : { asSent: text }) };
  const whole = UNITED_KINGDOM.has(placeKey(value)) ? 'United Kingdom' : undefined;
  const isPartOfName = countries.some(({ name }) => foldAccents(name).includes(text));
  return { kind: 'country_contains', text, ...suggesting(whole ?? (isPartOfName ? undefined : nearestCountry(value))) };
}

/** The place that a whole `q` names; undefined if it is text, as it is with any additional word. */
export function readLocation(q: string): PlaceReading | undefined {
  const metro = findMetro(q);
  if (metro) return { kind: 'metro', metro };
  const state = find(stateByName, q) ?? stateInCapitals(q.trim());
  if (state) return { kind: 'state', state, text: foldAccents(q) };
  return readCityOfLocation(q) ?? readStateInCountry(q);
}

function readCityOfLocation(q: string): PlaceReading | undefined {
  if (!q.includes(',')) {
    return findCities(q) && !everydayWords.has(placeKey(withoutArticle(q))) ? readCityText(q) : undefined;
  }
  const reading = readCityInArea(q);
  return reading?.kind === 'city_contains' && !reading.cities ? undefined : reading;
}

/** `Texas, USA`. A city of that name is meant first, as in `New York USA`, unless the word says otherwise: `Washington State`. */
export function readStateInCountry(q: string): PlaceReading | undefined {
  const [, name, around = ''] = STATE_IN_COUNTRY.exec(q) ?? [];
  if (name === undefined) return undefined;
  const isCity = findCities(name) !== undefined;
  const isSaid = around.toLowerCase() === 'state';
  if (isCity && !isSaid) return readKnownCity(`${name}, ${around}`);
  // `Ohio State` is a university.
  const named = isSaid && !isCity ? undefined : find(stateByKey, name.length > 2 ? name : '');
  const state = named ?? stateInCapitals(name);
  return state && { kind: 'state', state, text: foldAccents(q) };
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

/**
 * Reads a metro's alias or name, or `Dallas area`, `greater SF` and `New York metro`, which still match as part of a stored
 * text, too. A city that is called so comes first.
 */
function readMetro(value: string): PlaceReading | undefined {
  const namedMetro = findMetro(value);
  if (namedMetro) return { kind: 'metro', metro: namedMetro };
  const core = value.length > LONGEST_PLACE || findCities(value) ? undefined : readMetroCore(value);
  const metro = core === undefined ? undefined : (findMetroAround(core) ?? findMetroOfOther(core));
  return metro && { kind: 'metro', metro, asSent: foldAccents(value) };
}

const findMetroAround = (core: string): Metro | undefined => findMetro(core) ?? find(metroByCore, core);

/** The metro around a city under another name: `Philly area`, `München area`. */
function findMetroOfOther(core: string): Metro | undefined {
  const [city] = find(citiesByOtherName, core) ?? [];
  const metro = city && findMetroAround(city.name);
  return metro?.country === city?.country ? metro : undefined;
}

const POSTAL_CODE = /^\p{Nd}{4,6}(?=\s+\p{L})|(?<=\p{L},?\s+)\p{Nd}{5}(?:-\p{Nd}{4})?(?=\s*(?:,|$))/gu;
const US_BEHIND_STATE = /(?<=,\s*\p{L}[\p{L}.]+) (?=u\.?s\.?(?:a\.?)?$|united states$)/iu;
const OTHER_COMMAS = /\s*[/、，;]\s*/gu;

/** Reads a place without its postal code and with commas for other signs: `Miami, FL 33101`, `Rio de Janeiro/RJ`. */
function readTidied(value: string): PlaceReading | undefined {
  if (value.length > LONGEST_PLACE) return undefined;
  const tidiedText = value
    .trim()
    .replace(POSTAL_CODE, '')
    .replace(OTHER_COMMAS, ', ')
    .replace(US_BEHIND_STATE, ', ')
    .trim();
  const reading = tidiedText === value.trim() ? undefined : readKnownCity(tidiedText);
  return reading && reading.kind !== 'state' ? { ...reading, asSent: foldAccents(value) } : undefined;
}

/** `Democratic Republic of the Congo`. */
const MOST_AREA_WORDS = 5;

/** Reads `Austin TX` and `Paris France` like the same with a comma. It still matches as part of a stored text, too. */
function readCityBeforeArea(value: string): PlaceReading | undefined {
  if (value.length > LONGEST_PLACE || value.includes(',') || findCities(value)) return undefined;
  const words = value.trim().split(/\s+/);
  for (let count = 1; count <= MOST_AREA_WORDS && count < words.length; count += 1) {
    const [name, area] = [words.slice(0, -count).join(' '), words.slice(-count).join(' ')];
    const isArea = stateByKey.has(placeKey(area)) || isCountryAfterCity(area);
    const cityAndArea = isArea ? `${name}, ${area}` : `${name}, ${area.replace(/ (?=\S+$)/, ', ')}`;
    if (!isArea && !isStateInCountry(area)) continue;
    const reading = readCityInArea(cityAndArea);
    if (!reading || reading.kind === 'state' || !liesInArea(reading)) continue;
    return { ...reading, asSent: foldAccents(value) };
  }
  return undefined;
}

/** `TX USA` in `Austin TX USA`. */
function isStateInCountry(area: string): boolean {
  const [state = '', country] = area.split(/ (?=\S+$)/);
  return country !== undefined && find(countryByKey, country)?.code === 'US' && find(stateByKey, state) !== undefined;
}

/** The codes of countries are everyday words in small letters. */
const isCountryAfterCity = (text: string): boolean =>
  findCountry(text) !== undefined && (text.length > 2 || text === text.toUpperCase() || text === 'uk');

function stateInCapitals(value: string): State | undefined {
  return /^[A-Z]{2}$/.test(value) ? stateByKey.get(value.toLowerCase()) : undefined;
}

function suggesting(suggestion: string | undefined): { suggestion?: string } {
  return suggestion === undefined ? {} : { suggestion };
}

/** The text as sent, and the common spellings of the names. */
function allSpellings(value: string, cities: readonly KnownCity[]): string[] {
  const names = new Set(cities.map((city) => city.name));
  return [...new Set([foldAccents(value), ...[...names].flatMap(listSpellings)])];
}

/** A known city as a user writes it (`st louis`, `The Bronx`) matches its name in all spellings. */
function readCityText(value: string): PlaceReading {
  const text = foldAccents(value);
  const namesakes = findCities(value) ?? [];
  const [largest] = namesakes;
  if (largest) {
    const parts = [withoutArticle(value), text];
    const part = parts.find((spelling) => namesakes.some((city) => foldAccents(city.name).includes(spelling)));
    const cityText = part ?? foldAccents(largest.name);
    const others = allSpellings(value, namesakes).filter((spelling) => !spelling.includes(cityText));
    const spellings = others.length === 0 ? {} : { spellings: others };
    return { kind: 'city_contains', text: cityText, ...spellings, ...listNamed(placeKey(largest.name)) };
  }
  const namedCities = value.length > LONGEST_PLACE ? {} : listNamed(placeKey(value));
  return { kind: 'city_contains', text, ...namedCities, ...(namedCities.cities ? {} : suggesting(nearestTo(value))) };
}

/** The cities of a name, for a reading. */
function listNamed(key: string, liesThere?: (city: KnownCity) => boolean): AlsoNamed {
  const { meant, others } = findNamed(key, liesThere);
  const cities = meant.filter(({ id }) => id !== 0);
  return { ...(cities.length > 0 ? { cities } : {}), ...(others.length > 0 ? { others } : {}) };
}

function nearestTo(value: string): string | undefined {
  const [first] = listPlacesOfRegion(value) ?? [];
  if (first !== undefined) return first;
  if (find(countriesByRegion, value) ?? find(countryByKey, value) ?? find(stateByKey, value)) return undefined;
  if (isPartOfKnownName(value)) return findPlaceWithin(value);
  const [name = '', ...rest] = value.split(',', 2);
  const nearestName = rest.length === 0 ? nearestPlace(value) : find(citiesByKey, name)?.[0]?.name;
  return nearestName ?? findPlaceWithin(value);
}

const MOST_WORDS = 8;
const LARGE_ENOUGH = 100_000;

/** The longest known place within an unknown value: `LA` in `Downtown LA`, `Chicago` in `Chicago suburbs`. */
function findPlaceWithin(value: string): string | undefined {
  const words = value.split(/[\s,/–—-]+/u).filter((word) => placeKey(word) !== '');
  if (value.length > LONGEST_PLACE || words.length < 2 || words.length > MOST_WORDS) return undefined;
  for (let count = words.length; count > 0; count -= 1) {
    for (let start = 0; start + count <= words.length; start += 1) {
      const run = words.slice(start, start + count).join(' ');
      if (isPlaceAmongWords(run, count)) return run;
    }
  }
  return undefined;
}

function isPlaceAmongWords(text: string, words: number): boolean {
  // Two letters are a word in many languages, such as `la`.
  if (findMetro(text)) return text.length > 2 || text === text.toUpperCase();
  if (words > 1 && readCityBeforeArea(text)) return true;
  const [largest] = findCities(text) ?? find(citiesByOtherName, text) ?? [];
  return largest !== undefined && largest.population >= LARGE_ENOUGH && !everydayWords.has(placeKey(text));
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
  const areaReading = key === '' ? undefined : readArea(key, rest);
  if (!areaReading) return undefined;
  // A province, or a country in another language, may stand in a stored city that has no country.
  const isKnown = areaReading.state !== undefined || longKnownCountries.has(placeKey(rest.at(-1) ?? ''));
  const area = { ...areaReading, ...(isKnown ? {} : { asSent: foldAccents(value) }) };
  const withState = rest.length === 2 ? findMetro(`${name},${rest[0]}`) : undefined;
  if (withState) return { kind: 'metro', metro: withState };
  const metro = citiesByKey.has(key) ? undefined : metroByAlias.get(key);
  if (metro) return { kind: 'metro', metro, ...area };
  const cities = listNamesakes(key).filter(liesIn(area));
  const [city] = cities;
  const namedCities = { ...listNamed(key, liesIn(area)), ...listBeside(rest, area, key) };
  if (city) return { kind: 'city', name: city.name, spellings: allSpellings(name, cities), ...area, ...namedCities };
  const suggestion = namedCities.cities ? undefined : nearestPlace(name, liesIn(area));
  return { kind: 'city_contains', text: foldAccents(name), ...area, ...namedCities, ...suggesting(suggestion) };
}

/** The other city of `Barcelona, Valencia`, whose second part is read as a province. */
function listBeside(rest: readonly string[], { country }: Area, key: string): Pick<AlsoNamed, 'others'> {
  const [province = ''] = rest;
  const provinceKey = placeKey(province);
  if (!country || rest.length > 1 || provinceKey === key || countryByKey.has(provinceKey)) return {};
  const beside = citiesByKey.get(provinceKey)?.find((city) => city.id !== 0 && city.country === country.code);
  return beside ? { others: [beside] } : {};
}

/** Behind a city, a part of a country means the country: `London, England`. */
const findCountry = (text: string): Country | undefined => listCountriesBehindCity(text)[0];

/** All places with a name, as their main or another one. */
const listAllNamed = (key: string): KnownCity[] => [...listNamesakes(key), ...(citiesByOtherName.get(key) ?? [])];

function readArea(key: string, [first = '', second, ...more]: string[]): Area | undefined {
  if (more.length > 0) return undefined;
  const state = stateByKey.get(placeKey(first));
  if (second === undefined) return pickArea(key, state, listCountriesBehindCity(first), findMetro(first));
  const country = findCountry(second);
  const region = findCountry(first);
  if (region && country && region !== country && isWithin(region.code, country.code)) return { country: region };
  if (country?.code === 'US') return state && { state };
  return country && listAllNamed(key).some(liesIn({ country })) ? { country } : undefined;
}

/** The state or country of a city behind which its metro stands: `Brooklyn, NYC`. */
function findAreaInMetro(key: string, metro: Metro | undefined): Area | undefined {
  const member = metro?.members.find(({ city }) => placeKey(city) === key);
  const state = stateByKey.get(placeKey(member?.state ?? ''));
  const country = countryByKey.get(placeKey(member?.country ?? ''));
  return state ? { state } : country && { country };
}

/** `DE` is Delaware and Germany: it means the first area in which the city is known, else the state. */
function pickArea(
  key: string,
  state: State | undefined,
  listedCountries: readonly Country[],
  metro: Metro | undefined,
): Area | undefined {
  const named = [...(state ? [{ state }] : []), ...listedCountries.map((country) => ({ country }))];
  const regions = countries.filter(({ code }) =>
    listedCountries.some((one) => code !== one.code && isWithin(code, one.code)),
  );
  const areas: Area[] = [...named, ...regions.map((country) => ({ country }))];
  const places: Array<Pick<KnownCity, 'state' | 'country'>> = [
    ...listAllNamed(key),
    ...(metroByAlias.get(key)?.members ?? []),
  ];
  const knownArea = areas.find((area) => places.some(liesIn(area)));
  return knownArea ?? findAreaInMetro(key, metro) ?? areas[0];
}
