import {
  explainTextInPlace,
  type Interpretation,
  type ReadPlaces,
  readPlaces,
  toInterpretation,
} from './interpretation.ts';
import type { PlaceInText } from './place-in-text.ts';
import { buildPlainClauses, toPlainInterpretation, withoutPlaces } from './plain-search.ts';
import { buildFilter, type Filter, locationClauses } from './query.ts';
import { type CreatorSearchQuery, sortOfQuery } from './search.shapes.ts';

/** Everything that depends only on the parameters of a search. */
export interface Plan {
  filter: Filter;
  interpretation: Interpretation;
  /** `meta` of the response as JSON, UTF-8 bytes held as latin1 text. */
  meta: string;
}

const plans = new WeakMap<CreatorSearchQuery, Plan>();

/** Places and gender match as places (current interface) or as plain text (older interface). */
export type Matching = 'places' | 'plain';

/** The parameters that `meta.interpretation.filters` repeats as read; places have their own field. */
export const REPEATED = [
  'is_verified',
  'has_url',
  'age_min',
  'age_max',
  'posts_min',
  'posts_max',
  'following_max',
  'engagement_max',
  'changed_since',
  'fresh_within_days',
  'pks',
  'usernames',
  'emails',
  'similar_to',
  'category_any',
  'niche_any',
  'gender_any',
  'niche_is',
  'metro',
  'not_category',
  'not_niche',
  'in_list',
  'not_in_list',
  'exclude_pks',
  'exclude_roster',
  'saved',
] as const;

function listReadFilters(query: CreatorSearchQuery): NonNullable<Interpretation['filters']> {
  const entries = REPEATED.flatMap((name) => {
    const value = query[name];
    return value === undefined ? [] : [[name, value] as const];
  });
  const sort = sortOfQuery(query);
  return { ...Object.fromEntries(entries), ...(sort in EARLIER_SORTS ? {} : { sort }) };
}

const EARLIER_SORTS = { followers: true, engagement: true };

/** The first of the parameters that need a field of the newest mapping. */
export function neededField(query: CreatorSearchQuery): string | undefined {
  const names = [
    'is_verified',
    'has_url',
    'age_min',
    'age_max',
    'posts_min',
    'posts_max',
    'following_max',
    'changed_since',
    'fresh_within_days',
    'emails',
  ] as const;
  const facet = query.facets?.find((name) => name === 'age' || name === 'posts' || name === 'is_verified');
  if (query.with) return `with=${query.with}`;
  const isSorted = query.sort === 'posts' || query.sort === 'recent' || query.sort === 'relevance';
  const parameter = names.find((name) => query[name] !== undefined) ?? (facet && `facets=${facet}`);
  const rosterParameter = query.exclude_roster ? 'exclude_roster' : undefined;
  return parameter ?? (isSorted ? `sort=${query.sort}` : rosterParameter);
}

/** The older interface reads the address of a profile as text. */
const withoutAddresses = (understood: ReadPlaces, q: string | undefined): ReadPlaces =>
  understood.q?.kind === 'username' && q !== undefined ? { ...understood, q: { kind: 'text', text: q } } : understood;

function buildPlan(query: CreatorSearchQuery, ignored: readonly string[], matching: Matching) {
  if (matching === 'places') {
    const understood = readPlaces(query);
    return {
      filter: buildFilter(query, understood),
      interpretation: toInterpretation(query, understood, ignored, listReadFilters(query)),
    };
  }
  const rest = withoutPlaces(query);
  const understood = withoutAddresses(readPlaces(rest), rest.q);
  const { clauses, ranges } = buildFilter(rest, understood);
  return {
    filter: { clauses: [...clauses, ...buildPlainClauses(query)], ranges },
    interpretation: toPlainInterpretation(query, toInterpretation(rest, understood, ignored)),
  };
}

/** The plan of a `q` whose text finds nobody: its other words in the place. */
export function planInPlace(query: CreatorSearchQuery, ignored: readonly string[], placed: PlaceInText): Plan {
  const understood = readPlaces({ ...query, q: placed.text, q_as: 'text' });
  const filter = buildFilter(query, understood);
  const interpretation = {
    ...toInterpretation(query, readPlaces(query), ignored, listReadFilters(query)),
    q: explainTextInPlace(query.q ?? '', placed),
  };
  const narrowedFilter = { ...filter, clauses: [...filter.clauses, ...locationClauses(placed.reading)] };
  return { filter: narrowedFilter, interpretation, meta: toMeta(interpretation) };
}

export const toMeta = (interpretation: Interpretation): string =>
  Buffer.from(JSON.stringify({ interpretation })).toString('latin1');

/** The plan of a query, built once per prepared request. */
export function getPlan(query: CreatorSearchQuery, ignored: readonly string[], matching: Matching): Plan {
  const cachedPlan = plans.get(query);
  if (cachedPlan) return cachedPlan;
  const { filter, interpretation } = buildPlan(query, ignored, matching);
  const plan = { filter, interpretation, meta: toMeta(interpretation) };
  plans.set(query, plan);
  return plan;
}
