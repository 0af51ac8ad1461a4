import { foldAccents } from '../../kit/values/fold.ts';
import { countryByKey, everydayWords } from './place-atlas.ts';
import { placeKey, readFlag } from './place-names.ts';
import {
  type CountryReading,
  listPlacesOfRegion,
  type PlaceReading,
  readCountry,
  readKnownCity,
  readLocation,
  readStateInCountry,
} from './places.ts';

/** A text that ends or begins with a place. */
export interface PlaceInText {
  /** The other words. */
  text: string;
  /** The words of the place, as a value of the parameter. */
  place: string;
  parameter: 'city' | 'state' | 'country';
  reading: PlaceReading | CountryReading;
}

const MOST_WORDS = 4;
const LARGE = 100_000;
const BEFORE_PLACE =
  /(?:(?:\s+|^)(?:who (?:are|lives?)|that (?:are|live)|based|located|living|lives?|in|from|near|around|at|the)|[\s,;:|@(–—-]+)$/i;
const AT_BEGINNING = /^(?:based|living|in|from|near|around)\s+/i;
const AFTER_PLACE = /^(?:based\s+|[\s,;:|)–—-]+)/i;
/** Signs and pictures around a place. */
const AROUND_PLACE = /^[^\p{L}\p{N}]+|[^\p{L}\p{M}\p{N}.]+$/gu;
/** Codes of states that people write in capitals as words, too. */
const WORDS_IN_CAPITALS: ReadonlySet<string> = new Set(['IN', 'OR', 'ME', 'OK', 'HI', 'OH', 'PA', 'MA', 'AL', 'DE']);

/** Other codes of countries are words, too: IT, NO, SO. */
const SHORT_COUNTRIES: ReadonlySet<string> = new Set(['UK', 'uk', 'US', 'USA', 'usa', 'UAE', 'uae']);

function readPlace(place: string, isFlag: boolean): Omit<PlaceInText, 'text'> | undefined {
  if (isFlag) return { place, parameter: 'country', reading: readCountry(place) };
  const [name = '', ...area] = place.split(',');
  // An unknown name before a comma would be compared with all known ones.
  if (WORDS_IN_CAPITALS.has(place)) return undefined;
  const reading = area.length > 0 && !readKnownCity(name) ? readStateInCountry(place) : readLocation(place);
  if (reading?.kind === 'state') return { place, parameter: 'state', reading };
  const city = readKnownCity(place);
  if (city?.kind === 'metro' || city?.kind === 'city') return { place, parameter: 'city', reading: city };
  if (isCountry(place)) return { place, parameter: 'country', reading: readCountry(place) };
  return city && isLargeCity(place, city) ? { place, parameter: 'city', reading: city } : undefined;
}

const isCountry = (place: string): boolean =>
  countryByKey.has(placeKey(place)) && (place.length > 3 || SHORT_COUNTRIES.has(place));

/** Only a city of 100,000 people whose name is no everyday word is a place beside other words. */
function isLargeCity(place: string, reading: PlaceReading): boolean {
  if (reading.kind !== 'city_contains' || everydayWords.has(placeKey(place))) return false;
  return reading.cities?.some(({ population }) => population >= LARGE) ?? false;
}

/** Removes the words between a text and its place until none is left: `based in`. */
function strip(text: string, pattern: RegExp): string {
  for (let rest = text.trim(); ; ) {
    const next = rest.replace(pattern, '').trim();
    if (next === rest) return rest;
    rest = next;
  }
}

/** The known place at the end of a text, or at its beginning; the longest one. */
export function findPlaceInText(q: string): PlaceInText | undefined {
  for (const isAtEnd of [true, false]) {
    const words = (isAtEnd ? q.trim() : strip(q, AT_BEGINNING)).split(/\s+/u);
    for (let count = Math.min(MOST_WORDS, words.length - 1); count > 0; count -= 1) {
      const written = (isAtEnd ? words.slice(-count) : words.slice(0, count)).join(' ');
      // A flag is the sign of a country, and all other signs are none.
      const isFlag = count === 1 && readFlag(written) !== written && readCountry(written).kind === 'country';
      const place = isFlag ? written : written.replace(AROUND_PLACE, '');
      // A region without bounds is no place: `Southern California` is not California.
      if (listPlacesOfRegion(place)) return undefined;
      const rest = (isAtEnd ? words.slice(0, -count) : words.slice(count)).join(' ');
      const text = strip(rest, isAtEnd ? BEFORE_PLACE : AFTER_PLACE);
      const reading = /[\p{L}\p{N}]/u.test(foldAccents(text)) ? readPlace(place, isFlag) : undefined;
      if (reading) return { text, ...reading };
    }
  }
  return undefined;
}

/** The searches that a text with a region at its end may mean: `skincare SoCal` for `skincare LA`. */
export function listTextsInRegion(q: string): string[] {
  const words = q.trim().split(/\s+/u);
  for (let count = Math.min(MOST_WORDS, words.length - 1); count > 0; count -= 1) {
    const places = listPlacesOfRegion(words.slice(-count).join(' ').replace(AROUND_PLACE, ''));
    const text = strip(words.slice(0, -count).join(' '), BEFORE_PLACE);
    if (places && text !== '') return places.map((place) => `${text} ${place}`);
  }
  return [];
}
