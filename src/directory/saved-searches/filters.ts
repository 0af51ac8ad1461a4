import { sql } from 'kysely';
import type { Caller } from '../../kit/access/keys/callers.ts';
import type { Db } from '../../kit/engines/postgres/open.ts';
import { type Problem, validationError } from '../../kit/values/errors.ts';
import { omitUndefined } from '../../kit/values/patch.ts';
import { isDeclared, toProblems } from '../../kit/values/problems.ts';
import { CreatorSearchQuery, Settled } from '../search/search.shapes.ts';

/** The filters of a saved search that a person, or without one a key, may run. */
async function findFilters(
  db: Db,
  brandId: string,
  id: string,
  personId: string | undefined,
): Promise<Record<string, string> | undefined> {
  const row = await db
    .selectFrom('savedSearches')
    .select('filters')
    .where('brandId', '=', brandId)
    .where('id', '=', id)
    .where(({ or, eb }) => or([eb('shared', '=', true), eb('personId', '=', personId ?? '')]))
    .executeTakeFirst();
  return row?.filters;
}

/** Opt-outs wait for those who record what they read of the directory, and so remove it. Held until the commit. */
export const OPT_OUTS = sql`hashtext('saved_search_opt_outs')`;

/** Parameters of one call, which are not part of what a search finds. */
const OF_A_CALL: ReadonlySet<string> = new Set([
  ...['saved', 'page', 'limit', 'offset', 'walk', 'cursor', 'max_credits', 'directory_version', 'with'],
  ...['preview', 'facets', 'stats', 'facet_size', 'facet_q'],
]);

export type SavedFilters = Readonly<Record<string, string>>;

/** Leaves out blank values, because search ignores them too. */
function parse(filters: SavedFilters) {
  const filledFilters = Object.fromEntries(Object.entries(filters).filter(([, value]) => value.trim() !== ''));
  return CreatorSearchQuery.safeParse(filledFilters, { reportInput: true });
}

/**
 * Filters of a body as a search. A filter may hold what its parameter may hold; `also` names parameters of a call that are
 * allowed. Throws VALIDATION_ERROR.
 */
export function readFilters(field: string, filters: SavedFilters, also: readonly string[] = []): CreatorSearchQuery {
  const problems: Problem[] = Object.keys(filters)
    .filter((name) => !isDeclared(CreatorSearchQuery, name) || (OF_A_CALL.has(name) && !also.includes(name)))
    .map((name) => ({ field: `${field}.${name}`, code: 'invalid', message: 'is not a filter or order of search.' }));
  const parsed = parse(filters);
  problems.push(
    ...toProblems(parsed).map((one) => ({ ...one, field: `${field}.${one.field.split('./filter', 1)[0]}` })),
  );
  if (parsed.success && problems.length === 0) return parsed.data;
  throw validationError(problems);
}

const parseSaved = (filters: SavedFilters) =>
  parse(Object.fromEntries(Object.entries(filters).filter(([name]) => !OF_A_CALL.has(name))));

/** Saved filters as a search. Throws VALIDATION_ERROR if an earlier release accepted what search does not. */
export function readSaved(field: string, filters: SavedFilters): CreatorSearchQuery {
  const parsed = parseSaved(filters);
  if (parsed.success) return parsed.data;
  throw validationError(toProblems(parsed).map((problem) => ({ ...problem, field: `${field}.${problem.field}` })));
}

/** The same; undefined where `readSaved` throws. */
export const findReadable = (filters: SavedFilters): CreatorSearchQuery | undefined => parseSaved(filters).data;

/** The caller who runs a saved search: a brand, or one of its people. */
export type Runner = Pick<Caller, 'brandId'> & Partial<Pick<Extract<Caller, { kind: 'session' }>, 'person'>>;

/** The names of the parameters that narrow or order; `q_as` always has a value. */
const listOwnParameters = (query: CreatorSearchQuery): string[] =>
  Object.keys(omitUndefined(query)).filter((name) => name !== 'q_as' && !OF_A_CALL.has(name));

/**
 * The query with the filters of the saved search that it names; its own narrow further. Throws VALIDATION_ERROR if the
 * caller has no such search, or if a parameter contradicts it.
 */
export async function withSaved(
  db: Db,
  { brandId, person }: Runner,
  query: CreatorSearchQuery,
): Promise<CreatorSearchQuery> {
  const { saved: id } = query;
  if (id === undefined) return query;
  const filters = await findFilters(db, brandId, id, person?.id);
  if (!filters) {
    const message = `${JSON.stringify(id)} is not a saved search that this caller may run.`;
    throw validationError([{ field: 'saved', code: 'not_found', message }]);
  }
  const savedQuery = readSaved('saved', filters);
  const savedNames = new Set(listOwnParameters(savedQuery));
  const twice = listOwnParameters(query).filter((name) => savedNames.has(name));
  if (twice.length > 0) {
    const message = 'must not be combined with saved: the saved search has it too.';
    throw validationError(twice.map((field) => ({ field, code: 'contradiction', message })));
  }
  const q_as = savedQuery.q_as === 'text' ? savedQuery.q_as : query.q_as;
  const whole: CreatorSearchQuery = { ...query, ...omitUndefined(savedQuery), q_as };
  const parsed = Settled.safeParse(whole, { reportInput: true });
  if (!parsed.success) throw validationError(toProblems(parsed));
  return whole;
}
