import { z } from 'zod';
import { listForms } from '../../kit/values/email.ts';
import { fold, foldAccents } from '../../kit/values/fold.ts';
import type { ReadPlaces } from './interpretation.ts';
import { toUsername } from './look-up.shapes.ts';
import { FIELD, getOrder, type Ranged, type Sort, withinScores } from './order.ts';
import type { CountryReading, PlaceReading } from './places.ts';
import { nextUp, type RegionBounds } from './regions.ts';
import type { CreatorSearchQuery } from './search.shapes.ts';
import { expandWord, hasLetterOrDigit } from './search-words.ts';

/** An Elasticsearch query clause. */
export type Clause = Record<string, unknown>;

/** The fields that creators are looked up by. */
export const LOOK_UP_FIELDS = { pks: 'card.pk', usernames: 'card.username', emails: 'card.extracted_email' } as const;
interface Range {
  gte?: number;
  lt?: number;
}

/** Creators that a search includes or excludes. */
export interface ListClauses {
  clauses: Clause[];
  /** How many creators they name. */
  creators: number;
  /** Represents them in the keys of caches: lists with their versions, not thousands of creators. */
  toJSON(): unknown;
}

/** The filter of a search. Ranges of the two sortable fields are separate, so that a region narrows them in one clause. */
export interface Filter {
  clauses: Clause[];
  ranges: Record<Ranged, Range>;
  listed?: ListClauses;
  /** Clauses that score a match if the search is ordered by relevance. */
  scoring?: Clause[];
}

const term = (field: string, value: string | boolean): Clause => ({ term: { [field]: value } });
const any = (...should: Clause[]): Clause => ({ bool: { should, minimum_should_match: 1 } });
const all = ([only, ...more]: Clause[]): Clause =>
  only && more.length === 0 ? only : { bool: { filter: only ? [only, ...more] : [] } };
const none = (must_not: Clause[]): Clause[] => (must_not.length === 0 ? [] : [{ bool: { must_not } }]);
const matchAny = (should: Clause[]): Clause[] => (should.length === 0 ? [] : [any(...should)]);

/** Substring of a keyword with few distinct values; the field's normalizer folds the pattern too. */
export function contains(field: string, text: string): Clause {
  return { wildcard: { [field]: { value: `*${text.trim().replace(/[*?\\]/g, '\\$&')}*` } } };
}

/**
 * The same for several folded texts. All but the first match only at the start of a word, because a short form is part
 * of other words. It is one pattern, because each is compared with every distinct value.
 */
function containsAny(field: string, text: string, others: readonly string[]): Clause {
  const [part = '', ...words] = [text, ...others].map((one) => one.replace(/[^\p{L}\p{N} ]/gu, '\\$&'));
  return { regexp: { [field]: { value: `.*${part}.*|(.* )?(${words.join('|')}).*`, flags: 'NONE' } } };
}

function countryClause(reading: ReadPlaces['country']): Clause[] {
  if (!reading) return [];
  if (reading.kind === 'country_contains') return [contains('card.country', reading.text)];
  const byCode = term('x.country_code', reading.country.code);
  return [reading.asSent === undefined ? byCode : any(byCode, contains('card.country', reading.asSent))];
}

/** US states are indexed by code, so code and name match alike. A state abroad matches only as sent: `CA` is Cagliari too. */
function stateClause(reading: ReadPlaces['state']): Clause[] {
  if (!reading) return [];
  if (reading.kind === 'state_text') return [term('card.state', reading.text)];
  const isCode = term('x.state_code', reading.state.code);
  return [reading.text === '' ? isCode : any(isCode, term('card.state', reading.text))];
}

function placeClauses(reading: ReadPlaces['city']): Clause[] {
  if (!reading) return [];
  if (reading.kind === 'state') return stateClause(reading);
  const state = reading.state ? [term('x.state_code', reading.state.code)] : [];
  const country = reading.country ? [term('x.country_code', reading.country.code)] : [];
  switch (reading.kind) {
    case 'metro':
      return orAsSent([term('x.metros', reading.metro.id), ...state, ...country], reading);
    case 'city': {
      const byName = any(...reading.spellings.map((name) => term('card.city', name)));
      return orAsSent(orAnyCity([byName, ...state, ...country], reading.cities), reading);
    }
    case 'city_contains': {
      const { text, spellings } = reading;
      const byName = spellings ? containsAny('card.city', text, spellings) : contains('card.city', text);
      return orAsSent(orAnyCity([byName, ...state, ...country], reading.cities), reading);
    }
  }
}

/** The clauses of a place that is a part of `q`. */
export const locationClauses = (reading: PlaceReading | CountryReading): Clause[] =>
  reading.kind === 'country' || reading.kind === 'country_contains' ? countryClause(reading) : placeClauses(reading);

/** The same, or a city that the value names: an import has compared its state and country. */
const orAnyCity = (clauses: Clause[], cities: readonly { id: number }[] | undefined): Clause[] =>
  cities ? [any(all(clauses), { terms: { 'x.cities': cities.map(({ id }) => String(id)) } })] : clauses;

const orAsSent = (clauses: Clause[], { asSent }: { asSent?: string }): Clause[] =>
  asSent === undefined ? clauses : [any(all(clauses), contains('card.city', asSent))];

/** The prefix lengths of usernames that the mapping indexes as terms. */
const INDEXED_BEGINNING = /^[\x21-\x7e]{1,8}$/;

/** Folded. Few usernames start with a longer text, so they are found just as fast without terms for it. */
export function usernameStartsWith(beginning: string): Clause {
  return INDEXED_BEGINNING.test(beginning)
    ? { match: { 'card.username.prefix': { query: beginning, operator: 'and' } } }
    : { prefix: { 'card.username': { value: beginning } } };
}

const splitWords = (text: string) => [...new Set(text.split(/\s+/u).filter(hasLetterOrDigit))];

/** One edit for words of 4 to 7 letters, two from 8; the first two letters must be right. */
const EDITS = { fuzziness: 'AUTO:4,8', prefix_length: 2, fuzzy_rewrite: 'constant_score' };

const wordIn = (field: string, word: string, more: object = {}): Clause => ({
  match: { [field]: { query: word, operator: 'and', ...more } },
});

/** Every word must match in one of the five fields, in any of its spellings; the username also by prefix. */
function textClauses(text: string, typos: boolean): Clause[] {
  return splitWords(text).map((word) =>
    any(
      ...[word, ...expandWord(word)].map((spelling) => wordIn('q_all', spelling)),
      ...usernamePrefixes(word),
      ...(typos ? [wordIn('q_all', word, EDITS)] : []),
    ),
  );
}

function qClauses(q: ReadPlaces['q'], typos: boolean): Clause[] {
  if (q?.kind === 'text') return textClauses(q.text, typos);
  return q?.kind === 'username' ? [term('card.username', q.username)] : placeClauses(q);
}

/** A styled word begins no username, but its plain letters do. */
function usernamePrefixes(word: string): Clause[] {
  const foldedWord = fold(word);
  return (foldedWord === foldAccents(word) ? [word] : [word, foldedWord]).map(usernameStartsWith);
}

/** BM25 over all five fields; the words of the full name and the start of the username weigh more. Every match scores above 0. */
function toScoring(text: string, typos: boolean): Clause[] {
  return splitWords(text).flatMap((word) => [
    ...[word, ...expandWord(word)].flatMap((spelling) => [
      wordIn('q_all', spelling),
      wordIn('q_name', spelling, { boost: 2 }),
    ]),
    ...usernamePrefixes(word).map((filter) => ({ constant_score: { filter, boost: 4 } })),
    ...(typos ? [{ constant_score: { filter: wordIn('q_all', word, EDITS), boost: 0.1 } }] : []),
  ]);
}

type Numbers = Partial<Record<'gte' | 'lte', number | undefined>>;

/** Inclusive; a creator without the value does not match. */
function numberClauses(field: string, { gte, lte }: Numbers): Clause[] {
  if (gte === undefined && lte === undefined) return [];
  return [{ range: { [field]: { ...(gte === undefined ? {} : { gte }), ...(lte === undefined ? {} : { lte }) } } }];
}

/** Parameters with several values: a creator must match any of them, or none. */
function severalClauses(query: CreatorSearchQuery, understood: ReadPlaces): Clause[] {
  const { category_any = [], niche_any = [], gender_any = [], not_category = [], not_niche = [] } = query;
  const { city_any, state_any, country_any, not_city, not_country } = understood;
  return [
    ...matchAny(category_any.map((value) => term('card.category', value))),
    ...matchAny(niche_any.map((value) => contains('x.niches', value))),
    ...matchAny(gender_any.map((value) => term('x.gender', value))),
    ...matchAny(city_any.map((reading) => all(placeClauses(reading)))),
    ...matchAny(state_any.map((reading) => all(stateClause(reading)))),
    ...matchAny(country_any.map((reading) => all(countryClause(reading)))),
    ...none([
      ...not_category.map((value) => term('card.category', value)),
      ...not_niche.map((value) => contains('x.niches', value)),
      ...not_city.map((reading) => all(placeClauses(reading))),
      ...not_country.map((reading) => all(countryClause(reading))),
    ]),
  ];
}

/** The creators that are looked up. */
function soughtClauses({ pks = [], usernames = [], emails = [] }: CreatorSearchQuery): Clause[] {
  return matchAny([
    ...(pks.length === 0 ? [] : [{ terms: { [LOOK_UP_FIELDS.pks]: pks } }]),
    ...(usernames.length === 0 ? [] : [{ terms: { [LOOK_UP_FIELDS.usernames]: usernames.map(toUsername) } }]),
    ...(emails.length === 0 ? [] : [{ terms: { [LOOK_UP_FIELDS.emails]: emails.flatMap(listForms) } }]),
  ]);
}

/** No creator is older than 150, and the field holds no number beyond 32 bits. */
const BEYOND_AGES = 151;
const atMost = (most: number, value: number | undefined) => (value === undefined ? undefined : Math.min(value, most));

export function buildFilter(query: CreatorSearchQuery, understood: ReadPlaces): Filter {
  const { category, niche, gender, has_email, follower_min, follower_max, engagement_min, engagement_max } = query;
  const { is_verified, has_url, age_min, age_max, posts_min, posts_max, following_max, typos = false } = query;
  const { niche_is, metro } = query;
  const { q } = understood;
  const clauses = [
    ...(category === undefined ? [] : [term('card.category', category)]),
    ...(niche === undefined ? [] : [contains('x.niches', niche)]),
    ...(niche_is === undefined ? [] : [term('x.niches', niche_is)]),
    ...(metro === undefined ? [] : [term('x.metros', metro)]),
    ...(gender === undefined ? [] : [term('x.gender', gender)]),
    ...(has_email === undefined ? [] : [term('x.has_email', has_email)]),
    ...(is_verified === undefined ? [] : [term('card.is_verified', is_verified)]),
    ...(has_url === undefined ? [] : [term('x.has_url', has_url)]),
    ...numberClauses('x.age', { gte: atMost(BEYOND_AGES, age_min), lte: atMost(BEYOND_AGES, age_max) }),
    ...numberClauses('x.media_count', { gte: posts_min, lte: posts_max }),
    ...numberClauses('x.following_count', { lte: following_max }),
    ...countryClause(understood.country),
    ...stateClause(understood.state),
    ...placeClauses(understood.city),
    ...qClauses(q, typos),
    ...severalClauses(query, understood),
    ...soughtClauses(query),
  ];
  return {
    clauses,
    ranges: {
      followers: {
        ...(follower_min === undefined ? {} : { gte: follower_min }),
        ...(follower_max === undefined ? {} : { lt: follower_max + 1 }),
      },
      engagement: {
        ...(engagement_min === undefined ? {} : { gte: engagement_min }),
        ...(engagement_max === undefined ? {} : { lt: nextUp(engagement_max) }),
      },
    },
    ...(query.sort === 'relevance' && q?.kind === 'text' ? { scoring: toScoring(q.text, typos) } : {}),
  };
}

function narrow(range: Range, region: RegionBounds): Range {
  const gte = Math.max(range.gte ?? Number.NEGATIVE_INFINITY, region.gte ?? Number.NEGATIVE_INFINITY);
  const lt = Math.min(range.lt ?? Number.POSITIVE_INFINITY, region.lt ?? Number.POSITIVE_INFINITY);
  return { ...(Number.isFinite(gte) ? { gte } : {}), ...(Number.isFinite(lt) ? { lt } : {}) };
}

function regionClauses(sort: Sort, range: Range, region: RegionBounds): Clause[] {
  const { field = '' } = getOrder(sort);
  const { pkGte, pkLt } = region;
  const pks = { ...(pkGte === undefined ? {} : { gte: pkGte }), ...(pkLt === undefined ? {} : { lt: pkLt }) };
  return [
    ...(region.missing ? [{ bool: { must_not: { exists: { field } } } }] : rangeClauses(field, narrow(range, region))),
    ...rangeClauses('card.pk', pks),
  ];
}

function rangeClauses(field: string, range: Range): Clause[] {
  return range.gte === undefined && range.lt === undefined ? [] : [{ range: { [field]: range } }];
}

/**
 * The filter as one query, narrowed to regions of the sort order if given. A filter's own range and the region's become
 * one clause, because a one-sided range over much of the index costs 15 ms and a bounded one 1 ms (measured).
 */
export function toElasticQuery(filter: Filter, sort: Sort, regions?: readonly RegionBounds[]): Clause {
  const { ranged } = getOrder(sort);
  const others = (['followers', 'engagement'] as const).filter((name) => name !== ranged);
  const clauses = [
    ...filter.clauses,
    ...(filter.listed?.clauses ?? []),
    ...others.flatMap((name) => rangeClauses(FIELD[name], filter.ranges[name])),
  ];
  if (sort === 'relevance') {
    const scoredQuery = { bool: { filter: clauses, should: filter.scoring ?? [] } };
    return regions ? withinScores(scoredQuery, regions) : scoredQuery;
  }
  const range = ranged ? filter.ranges[ranged] : {};
  const [only, ...more] = (regions ?? [{}]).map((region) => regionClauses(sort, range, region));
  const sortClauses =
    more.length === 0 ? (only ?? []) : [any(...[only ?? [], ...more].map((every) => ({ bool: { filter: every } })))];
  return { bool: { filter: [...clauses, ...sortClauses] } };
}

export const CountAnswer = z.object({ hits: z.object({ total: z.object({ value: z.number() }) }) });
