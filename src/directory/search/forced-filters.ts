import type { Caller } from '../../kit/access/keys/callers.ts';
import type { Db } from '../../kit/engines/postgres/open.ts';
import type { Problem } from '../../kit/values/errors.ts';
import { omitUndefined } from '../../kit/values/patch.ts';
import { toProblems } from '../../kit/values/problems.ts';
import { findVersions } from '../lists/list-filter.ts';
import type { Directory } from './directory.ts';
import { getPlan, neededField, type Plan, REPEATED, toMeta } from './plan.ts';
import { type Clause, type ListClauses, toElasticQuery } from './query.ts';
import { CreatorSearchQuery } from './search.shapes.ts';

/** The parameters that a key can be bound to: filters, but no order, page or look-up. */
const FILTERS: ReadonlySet<string> = new Set([
  ...['q', 'q_as', 'follower_min', 'follower_max', 'engagement_min', 'category', 'niche', 'has_email'],
  ...['country', 'city', 'state', 'gender'],
  ...['country_any', 'state_any', 'city_any', 'not_country', 'not_city'],
  ...REPEATED.filter(
    (name) =>
      !['changed_since', 'fresh_within_days', 'pks', 'usernames', 'emails', 'similar_to', 'saved'].includes(name),
  ),
]);

type Forced = Readonly<Record<string, string>>;

/** The problems with filters to which a key of the brand shall be bound. */
export async function listForcedProblems(db: Db, brandId: string, field: string, forced: Forced): Promise<Problem[]> {
  const parsed = CreatorSearchQuery.safeParse(forced, { reportInput: true });
  const { in_list = [], not_in_list = [], ...read } = parsed.data ?? {};
  const ids = [...in_list, ...not_in_list];
  const lists = ids.length === 0 ? [] : await findVersions(db, brandId, ids);
  const listIds = new Set(lists.map(({ id }) => id));
  const filledNames = new Set(Object.keys(omitUndefined(read)));
  const findProblem = (name: string): Omit<Problem, 'field'> | undefined => {
    if (!FILTERS.has(name)) return { code: 'invalid', message: 'is not a filter of search.' };
    if (!parsed.success) return undefined;
    if (name !== 'in_list' && name !== 'not_in_list') {
      // Search ignores a blank value, which would bind the key to nothing.
      return filledNames.has(name) ? undefined : { code: 'invalid', message: 'must not be blank.' };
    }
    const missing = parsed.data[name]?.filter((id) => !listIds.has(id)) ?? [];
    if (missing.length === 0) return undefined;
    return { code: 'not_found', message: `names ${missing.join(', ')}, which is not a list of this brand.` };
  };
  const problems = Object.keys(forced).flatMap((name): Problem[] => {
    const problem = findProblem(name);
    return problem ? [{ field: name, ...problem }] : [];
  });
  return [...problems, ...toProblems(parsed)].map((problem) => ({ ...problem, field: `${field}.${problem.field}` }));
}

interface Bound {
  query: CreatorSearchQuery;
  clause: Clause;
}

const bounds = new WeakMap<Forced, Bound>();

/** The filters of a key as a query and a clause, read once. */
function bindForced(forced: Forced): Bound {
  const cachedBound = bounds.get(forced);
  if (cachedBound) return cachedBound;
  const query = CreatorSearchQuery.parse(forced);
  const bound = { query, clause: toElasticQuery(getPlan(query, [], 'places').filter, 'followers') };
  bounds.set(forced, bound);
  return bound;
}

type Bindable = Pick<Caller, 'brandId' | 'limits'>;

/** The key's filters as a search. */
export const findForcedQuery = ({ limits }: Pick<Bindable, 'limits'>): CreatorSearchQuery | undefined =>
  limits?.forced_filters ? bindForced(limits.forced_filters).query : undefined;

/** The first of the key's filters that needs a field of the newest mapping. */
export function findNeededField({ limits }: Bindable): string | undefined {
  const forcedFilters = limits?.forced_filters;
  return forcedFilters ? neededField(bindForced(forcedFilters).query) : undefined;
}

/** The filter on everything that the key finds. */
export async function readForcedClauses({ lists }: Directory, { brandId, limits }: Bindable): Promise<Clause[]> {
  const forcedFilters = limits?.forced_filters;
  if (!forcedFilters) return [];
  const { query, clause } = bindForced(forcedFilters);
  return [clause, ...((await lists.read(brandId, query))?.clauses ?? [])];
}

function joinLists(one: ListClauses | undefined, other: ListClauses | undefined): ListClauses | undefined {
  if (!one || !other) return one ?? other;
  return {
    clauses: [...one.clauses, ...other.clauses],
    creators: one.creators + other.creators,
    toJSON: () => [one, other],
  };
}

/**
 * The plan with the brand's lists that the query names, and narrowed to the filters of the key. Throws VALIDATION_ERROR
 * if the brand has no such list.
 */
export async function narrowPlan(
  { lists }: Directory,
  { brandId, limits }: Bindable,
  query: CreatorSearchQuery,
  plan: Plan,
): Promise<Plan> {
  const forcedFilters = limits?.forced_filters;
  const bound = forcedFilters ? bindForced(forcedFilters) : undefined;
  const listFilter = joinLists(await lists.read(brandId, query), bound && (await lists.read(brandId, bound.query)));
  const filter = {
    ...plan.filter,
    ...(bound ? { clauses: [...plan.filter.clauses, bound.clause] } : {}),
    ...(listFilter ? { listed: listFilter } : {}),
  };
  if (!forcedFilters) return listFilter ? { ...plan, filter } : plan;
  const interpretation = { ...plan.interpretation, forced: forcedFilters };
  return { filter, interpretation, meta: toMeta(interpretation) };
}
