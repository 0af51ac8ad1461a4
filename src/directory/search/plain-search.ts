import type { Interpretation } from './interpretation.ts';
import { readLocation } from './places.ts';
import { type Clause, contains } from './query.ts';
import type { CreatorSearchQuery } from './search.shapes.ts';

/**
 * Matches places and gender as the older interface does: city and state as substrings of the stored text, gender
 * exactly. Indices from before the raw gender keyword only have the folded one.
 */
export function buildPlainClauses({ q, q_as, city, state, gender }: CreatorSearchQuery): Clause[] {
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
  const byMappedGender = {
    bool: { filter: [{ term: { 'x.gender': gender } }], must_not: [{ exists: { field: raw } }] },
  };
  return either({ term: { [raw]: gender } }, byMappedGender);
}

/** The parameters left for the usual reading after places and gender. */
export function withoutPlaces({ city: _city, state: _state, gender: _gender, ...query }: CreatorSearchQuery) {
  const isPlace = query.q !== undefined && query.q_as !== 'text' && readLocation(query.q) !== undefined;
  return { ...query, q: isPlace ? undefined : query.q };
}

const asSent = (value: string | undefined, read_as: 'city_contains' | 'state_text') =>
  value === undefined ? null : { value, read_as, name: null, state: null, country: null, did_you_mean: null };

/** The interpretation of a plain reading. */
export function toPlainInterpretation(query: CreatorSearchQuery, usual: Interpretation): Interpretation {
  const { q } = withoutPlaces(query);
  return {
    ...usual,
    q: q === query.q ? usual.q : asSent(query.q, 'city_contains'),
    city: asSent(query.city, 'city_contains'),
    state: asSent(query.state, 'state_text'),
    matching: 'legacy',
  };
}
