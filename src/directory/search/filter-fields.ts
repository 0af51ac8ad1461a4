import type { CreatorField } from '../imports/indexing/fields.ts';
import type { CreatorSearchQuery } from './search.shapes.ts';

const PLACE: readonly CreatorField[] = ['city', 'state', 'country'];
const TEXT: readonly CreatorField[] = ['username', 'full_name', 'category', 'biography', 'niches'];

/** The fields of a creator that decide whether a filter matches. Others, such as lists, do not depend on the creator's data. */
const FIELDS: Partial<Record<keyof CreatorSearchQuery, readonly CreatorField[]>> = {
  q: [...TEXT, ...PLACE],
  follower_min: ['follower_count'],
  follower_max: ['follower_count'],
  engagement_min: ['engagement_rate'],
  engagement_max: ['engagement_rate'],
  category: ['category'],
  category_any: ['category'],
  not_category: ['category'],
  niche: ['niches'],
  niche_is: ['niches'],
  niche_any: ['niches'],
  not_niche: ['niches'],
  has_email: ['extracted_email'],
  country: PLACE,
  country_any: PLACE,
  not_country: PLACE,
  city: PLACE,
  city_any: PLACE,
  not_city: PLACE,
  metro: PLACE,
  state: PLACE,
  state_any: PLACE,
  gender: ['gender'],
  gender_any: ['gender'],
  is_verified: ['is_verified'],
  has_url: ['external_url'],
  age_min: ['age'],
  age_max: ['age'],
  posts_min: ['media_count'],
  posts_max: ['media_count'],
  following_max: ['following_count'],
  exclude_roster: ['username', 'extracted_email'],
};

/** The fields of creators on which the filters of a search depend. */
export function listFilterFields(query: CreatorSearchQuery): CreatorField[] {
  const names = Object.entries(FIELDS).flatMap(([name, fields]) => (isSent(query, name) ? fields : []));
  return [...new Set(names)];
}

const isSent = (query: CreatorSearchQuery, name: string): boolean =>
  Object.entries(query).some(([sentName, value]) => sentName === name && value !== undefined);
