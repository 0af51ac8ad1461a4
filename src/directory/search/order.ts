import type { Clause } from './query.ts';
import type { RegionBounds } from './regions.ts';

export const SORTS = [
  'followers',
  'engagement',
  'followers_asc',
  'engagement_asc',
  'posts',
  'recent',
  'relevance',
] as const;
export type Sort = (typeof SORTS)[number];

/** The fields whose range in a filter joins the range of a region. */
export type Ranged = 'followers' | 'engagement';

interface Order {
  /** The field that results are sorted by; undefined if they are sorted by score. */
  field: string | undefined;
  ranged: Ranged | undefined;
  isAscending: boolean;
}

export const FIELD: Record<Ranged, string> = { followers: 'card.follower_count', engagement: 'card.engagement_rate' };

const ORDERS: Record<Sort, Order> = {
  followers: { field: FIELD.followers, ranged: 'followers', isAscending: false },
  engagement: { field: FIELD.engagement, ranged: 'engagement', isAscending: false },
  followers_asc: { field: FIELD.followers, ranged: 'followers', isAscending: true },
  engagement_asc: { field: FIELD.engagement, ranged: 'engagement', isAscending: true },
  posts: { field: 'x.media_count', ranged: undefined, isAscending: false },
  recent: { field: 'x.data_as_of', ranged: undefined, isAscending: false },
  relevance: { field: undefined, ranged: undefined, isAscending: false },
};

export const getOrder = (sort: Sort): Order => ORDERS[sort];

/** Tells an aggregation where it reads the value that results are sorted by. */
export function getSortValue(sort: Sort): { field: string } | { script: { source: string } } {
  const { field } = ORDERS[sort];
  return field === undefined ? { script: { source: '_score' } } : { field };
}

/** The value, missing ones last, then pk: the index's own sort for followers. */
export function toSort(sort: Sort): Clause[] {
  const { field, isAscending } = ORDERS[sort];
  const first =
    field === undefined ? { _score: 'desc' } : { [field]: { order: isAscending ? 'asc' : 'desc', missing: '_last' } };
  return [first, { 'card.pk': 'asc' }];
}

/** No score and no pk is as large; JSON has no infinity. */
const LARGEST = 1e300;

/** Keeps the matches whose score and pk lie in one of the regions. Scores of matches are above 0. */
export function withinScores(query: Clause, regions: readonly RegionBounds[]): Clause {
  const params = {
    from: regions.map(({ gte }) => gte ?? 0),
    to: regions.map(({ lt }) => lt ?? LARGEST),
    pkFrom: regions.map(({ pkGte }) => pkGte ?? 0),
    pkTo: regions.map(({ pkLt }) => pkLt ?? LARGEST),
  };
  const source =
    "double s = _score; double pk = doc['card.pk'].value; for (int i = 0; i < params.from.length; i++) { " +
    'if (s >= params.from[i] && s < params.to[i] && pk >= params.pkFrom[i] && pk < params.pkTo[i]) { return s; } } return 0;';
  return { script_score: { query, script: { source, params }, min_score: 1e-30 } };
}
