import { distance } from 'fastest-levenshtein';
import type { Caller } from '../../kit/access/keys/callers.ts';
import type { Context } from '../../kit/operation/context.ts';
import { fold } from '../../kit/values/fold.ts';
import { parseHandleAddress } from '../../kit/values/handle-address.ts';
import type { Snapshot } from './counts.ts';
import { readForcedClauses } from './forced-filters.ts';
import type { Interpretation } from './interpretation.ts';
import { toLatinLetters } from './latin-letters.ts';
import { nearestPlace } from './nearest-place.ts';
import { findPlaceInText, listTextsInRegion } from './place-in-text.ts';
import {
  findCountryOfProvince,
  findSeveralPlaces,
  listCountriesOfRegion,
  listPlacesOfRegion,
  readCity,
  readCountry,
  readKnownCity,
  readState,
} from './places.ts';
import { listPostalPlaces } from './postal-codes.ts';
import type { CreatorSearchQuery, Suggestion } from './search.shapes.ts';
import { countMatches, settlePlan } from './settle-plan.ts';
import { findTypos } from './typos.ts';

type Searcher = Pick<Caller, 'brandId' | 'limits'>;

const MOST_SUGGESTIONS = 3;
const MOST_COUNTS = 4;

interface Candidate extends Omit<Suggestion, 'total'> {
  query: CreatorSearchQuery;
}

/** Filters by text, the likeliest mistakes first. */
const TEXTS = ['q', 'city', 'state', 'country', 'niche', 'category', 'gender'] as const;
const FILTERS = [
  ...(['follower_min', 'follower_max', 'engagement_min', 'has_email', 'is_verified', 'has_url'] as const),
  ...(['age_min', 'age_max', 'posts_min', 'fresh_within_days'] as const),
];

/** The text with the nearest word of the caller's creators for each word that they lack. */
async function correctWords(
  { directory }: Context,
  caller: Searcher,
  snapshot: Snapshot,
  q: string,
): Promise<string | undefined> {
  let correctedText = q.toLowerCase();
  const bound = await readForcedClauses(directory, caller);
  for (const { word, matched } of await findTypos(directory.counts, snapshot, q, bound, 'missing')) {
    const [nearest] = matched;
    if (nearest) correctedText = correctedText.replace(word, nearest);
  }
  return correctedText === q.toLowerCase() ? undefined : correctedText;
}

const SHORTEST_PLACE = 5;

/** The text with the nearest known place for its last word: `skincare Denvr`. */
function correctPlace(q: string): string | undefined {
  const [, text, word = ''] = /^(.*\S)\s+(\S+)$/s.exec(q.trim()) ?? [];
  const place = [...word].length < SHORTEST_PLACE ? undefined : nearestPlace(word);
  return place === undefined || text === undefined ? undefined : `${text} ${place}`;
}

const GENDERS: Readonly<Record<string, string>> = {
  f: 'female',
  w: 'female',
  woman: 'female',
  women: 'female',
  girl: 'female',
  m: 'male',
  man: 'male',
  men: 'male',
  boy: 'male',
};

/** The values of a facet in the directory, the most frequent first; of niches also their words. */
async function listWords(
  { directory }: Context,
  caller: Searcher,
  snapshot: Snapshot,
  facet: 'category' | 'niche' | 'gender',
) {
  const bound = await readForcedClauses(directory, caller);
  const values = (await directory.facets.list(snapshot, facet, bound)).map(({ value }) => value);
  return facet === 'niche' ? [...values, ...new Set(values.flatMap((value) => value.split(' ')))] : values;
}

const SHORT_WORD = 5;

/** Two letters beside each other have changed places: `fodo` for `food`. */
function isTransposed(one: string, other: string): boolean {
  const first = [...one].findIndex((letter, i) => letter !== other[i]);
  const swapped = `${one.slice(0, first)}${one[first + 1] ?? ''}${one[first] ?? ''}${one.slice(first + 2)}`;
  return first >= 0 && swapped === other;
}

/** The word that a misspelt value most likely means: within one edit, or two if it has more than five letters. */
function findNearestWord(parameter: string, value: string, words: readonly string[]): string | undefined {
  const foldedWord = fold(value);
  const meantGender = parameter === 'gender' ? GENDERS[foldedWord] : undefined;
  if (meantGender !== undefined && words.includes(meantGender)) return meantGender;
  let most = foldedWord.length <= SHORT_WORD ? 1 : 2;
  let nearest: string | undefined;
  for (const word of words) {
    if (word === foldedWord || word.length < 2 || Math.abs(word.length - foldedWord.length) > most) continue;
    const edits = isTransposed(word, foldedWord) ? 1 : distance(word, foldedWord);
    if (edits > most) continue;
    nearest = word;
    most = edits - 1;
  }
  return nearest;
}

type Text = (typeof TEXTS)[number];
type Several = 'city_any' | 'state_any' | 'country_any' | 'category_any' | 'niche_any' | 'gender_any';

/** A value that may have been meant, and the parameter that takes it if that is another one. */
interface Meant {
  instead: string;
  instead_parameter?: Text | Several;
}

const toMeant = (insteads: ReadonlyArray<string | null | undefined>): Meant[] =>
  insteads.flatMap((instead) => (typeof instead === 'string' ? [{ instead }] : []));

/** The same value where its kind of place is asked for: `state=NYC`, `country=California`. */
function listOtherPlaces(parameter: Text, value: string): Meant[] {
  const placesByParameter = {
    city: readKnownCity(value) !== undefined,
    state: readState(value).kind === 'state',
    country: readCountry(value).kind === 'country',
  };
  const otherKinds = (['city', 'state', 'country'] as const)
    .filter((other) => other !== parameter && placesByParameter[other])
    .map((other): Meant => ({ instead: value, instead_parameter: other }));
  const countries = listCountriesOfRegion(value);
  if (countries) otherKinds.push({ instead: countries.join('|'), instead_parameter: 'country_any' });
  const country = parameter === 'country' ? undefined : findCountryOfProvince(value);
  if (country !== undefined) otherKinds.push({ instead: country, instead_parameter: 'country' });
  return otherKinds;
}

const BETWEEN_VALUES = /[|;,/&]|\s(?:and|or)\s/i;
const MOST_VALUES = 20;
const SHORTEST_NAME = 4;

/** True of a city with what it lies in: `Cambridge, ON` is one place, whose parts mean others. */
function isOnePlace(parameter: Text, value: string): boolean {
  if (parameter === 'state' || parameter === 'country') return readKnownCity(value)?.kind === 'city';
  if (parameter !== 'city' || findSeveralPlaces(value)) return false;
  const { state, country }: { state?: unknown; country?: unknown } = readCity(value);
  return state !== undefined || country !== undefined || readKnownCity(value) !== undefined;
}

/** The values of a text that may be several, for the parameter that takes any of them: `CA, NY`. */
function listSeveral(parameter: Text, value: string): Meant[] {
  if (isOnePlace(parameter, value)) return [];
  const values = value.split(BETWEEN_VALUES).map((one) => one.trim());
  // Two or three letters behind a place are what it lies in, also where they are not known.
  const isShort = (one: string) => [...one].length < SHORTEST_NAME && readKnownCity(one) === undefined;
  if (parameter === 'city' && values.slice(1).some(isShort)) return [];
  const isList = values.length > 1 && values.length <= MOST_VALUES && values.every((one) => fold(one) !== '');
  return isList && parameter !== 'q' ? [{ instead: values.join('|'), instead_parameter: `${parameter}_any` }] : [];
}

/** The nearest word, else the same value where the other kind of word is asked for: `category=skincare`. */
async function listOtherWords(
  context: Context,
  caller: Searcher,
  snapshot: Snapshot,
  { parameter, value }: { parameter: 'category' | 'niche' | 'gender'; value: string },
): Promise<Meant[]> {
  const nearest = findNearestWord(parameter, value, await listWords(context, caller, snapshot, parameter));
  if (nearest !== undefined || parameter === 'gender') return toMeant([nearest]);
  const other = parameter === 'category' ? 'niche' : 'category';
  const foldedValue = fold(value);
  const words = await listWords(context, caller, snapshot, other);
  return words.includes(foldedValue) ? [{ instead: foldedValue, instead_parameter: other }] : [];
}

async function listMeant(
  context: Context,
  caller: Searcher,
  snapshot: Snapshot,
  { parameter, value }: { parameter: Text; value: string },
  interpretation: Interpretation,
): Promise<Meant[]> {
  if (parameter === 'city' || parameter === 'state' || parameter === 'country') {
    const region = parameter === 'country' ? undefined : listPlacesOfRegion(value);
    if (region)
      return region.map((instead) => (parameter === 'city' ? { instead } : { instead, instead_parameter: 'city' }));
    const namesakes = interpretation[parameter]?.others?.map((other) => other.value) ?? [];
    return [
      ...toMeant([interpretation[parameter]?.did_you_mean, ...namesakes]),
      ...listOtherPlaces(parameter, value),
      ...listPostalPlaces(value).map(
        ({ parameter: other, value: instead }): Meant =>
          other === parameter ? { instead } : { instead, instead_parameter: other },
      ),
    ];
  }
  if (parameter !== 'q') return await listOtherWords(context, caller, snapshot, { parameter, value });
  const isText = interpretation.q?.read_as === 'text';
  if (isText) {
    if (readCountry(value).kind === 'country') return [{ instead: value, instead_parameter: 'country' }];
    const region = listPlacesOfRegion(value);
    if (region) return toMeant(region);
    // A whole text that is another name of a city stays text, but its main name is read as the place.
    const place = readKnownCity(value);
    const city = place?.kind === 'city_contains' ? place.cities?.[0] : undefined;
    if (city && fold(city.name) !== fold(value)) return toMeant([city.name]);
  }
  const latin = toLatinLetters(fold(value));
  if (latin !== undefined) return toMeant([latin]);
  const address = parseHandleAddress(value);
  if (address) return toMeant([address.handle]);
  const inRegion = isText ? listTextsInRegion(value) : [];
  if (inRegion.length > 0) return toMeant(inRegion);
  const { text, place } = interpretation.q ?? {};
  // Of words in a place only the words are corrected.
  const correctedText = await correctWords(context, caller, snapshot, text ?? value);
  if (correctedText === undefined) return toMeant([isText ? correctPlace(value) : undefined]);
  return toMeant([text === undefined ? (isText ? correctedText : undefined) : `${correctedText} ${place}`]);
}

/** The place alone of words in a place that find nobody: `Texas` of `creators in Texas`. */
function listPlaceAlone({ q }: Interpretation): Meant[] {
  if (q?.place === undefined) return [];
  const inPlace = findPlaceInText(q.value);
  return inPlace === undefined ? [] : [{ instead: inPlace.place, instead_parameter: inPlace.parameter }];
}

async function* listCandidates(
  context: Context,
  caller: Searcher,
  snapshot: Snapshot,
  query: CreatorSearchQuery,
  interpretation: Interpretation,
): AsyncGenerator<Candidate> {
  for (const parameter of TEXTS) {
    const value = query[parameter];
    if (value === undefined) continue;
    const meantValues = await listMeant(context, caller, snapshot, { parameter, value }, interpretation);
    const placeAlone = parameter === 'q' ? listPlaceAlone(interpretation) : [];
    for (const meant of [...meantValues, ...placeAlone, ...listSeveral(parameter, value)]) {
      const other = meant.instead_parameter ?? parameter;
      // A filter that is there already keeps its value.
      if (other !== parameter && query[other] !== undefined) continue;
      const instead = other.endsWith('_any') ? meant.instead.split('|') : meant.instead;
      yield { parameter, value, ...meant, query: { ...query, [parameter]: undefined, [other]: instead } };
    }
  }
  const sentParameters = [...TEXTS, ...FILTERS].filter((parameter) => query[parameter] !== undefined);
  // The search without its only filter is the whole directory.
  if (sentParameters.length < 2) return;
  for (const parameter of sentParameters) {
    yield { parameter, value: String(query[parameter]), instead: null, query: { ...query, [parameter]: undefined } };
  }
}

/** Searches near one that finds nobody, each counted. */
export async function suggest(
  context: Context,
  caller: Searcher,
  query: CreatorSearchQuery,
  { snapshot, interpretation }: { snapshot: Snapshot; interpretation: Interpretation },
): Promise<Suggestion[]> {
  const suggestions: Suggestion[] = [];
  let countsMade = 0;
  for await (const { query: other, ...candidate } of listCandidates(context, caller, snapshot, query, interpretation)) {
    if (countsMade >= MOST_COUNTS || suggestions.length >= MOST_SUGGESTIONS) break;
    const { filter } = await settlePlan(context, caller, other, { snapshot });
    const total = await countMatches(context.directory, snapshot, filter);
    countsMade += 1;
    if (total > 0) suggestions.push({ ...candidate, total });
  }
  return suggestions;
}
