import { readLocation } from './places.ts';
import { type Clause, contains } from './query.ts';
import type { CreatorSearchQuery } from './search-schema.ts';
import type { Interpretation } from './understand.ts';

/**
 * How the older interface matches places and gender: a city and a state are parts of the stored text, whatever place they
 * name, and a gender is exactly what is stored. An index of before its raw keyword was mapped has the folded one alone.
 */
export function plainClauses({ q, q_as, city, state, gender }: CreatorSearchQuery): Clause[] {
  const isPlace = q !== undefined && q_as !== 'text' && readLocation(q) !== undefined;
  const place = isPlace ? [either(contains('card.city', q), contains('card.state', q))] : [];
  return [
    ...place,
    ...(city === undefined ? [] : [contains('card.city', city)]),
    ...(state === undefined ? [] : [contains('card.state', state)]),
    ...(gender === undefined ? [] : [exactGender(gender)]),
  ];
}

const either = (...should: Clause[]): Clause => ({ bool: { should, minimum_should_match: 1 } });

function exactGender(gender: string): Clause {
  const raw = 'x.gender.raw';
  const unmapped = { bool: { filter: [{ term: { 'x.gender': gender } }], must_not: [{ exists: { field: raw } }] } };
  return either({ term: { [raw]: gender } }, unmapped);
}

/** What is left for the usual reading once places and gender are read plainly. */
export function withoutPlaces({ city: _city, state: _state, gender: _gender, ...query }: CreatorSearchQuery) {
  const isPlace = query.q !== undefined && query.q_as !== 'text' && readLocation(query.q) !== undefined;
  return { ...query, q: isPlace ? undefined : query.q };
}

const asSent = (value: string | undefined, read_as: 'city_contains' | 'state_text') =>
  value === undefined ? null : { value, read_as, name: null, state: null, country: null, did_you_mean: null };

/** What the answer says of a plain reading. */
export function plainInterpretation(query: CreatorSearchQuery, usual: Interpretation): Interpretation {
  const { q } = withoutPlaces(query);
  return {
    ...usual,
    q: q === query.q ? usual.q : asSent(query.q, 'city_contains'),
    city: asSent(query.city, 'city_contains'),
    state: asSent(query.state, 'state_text'),
    matching: 'legacy',
  };
}
