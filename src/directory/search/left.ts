import type { Caller } from '../../kit/access/keys/callers.ts';
import type { Context } from '../../kit/operation/context.ts';
import { listChangedPks, listGonePks } from '../changes/changed-pks.ts';
import { readSince, type Since } from '../changes/changes.ts';
import type { Snapshot } from './counts.ts';
import { listFilterFields } from './filter-fields.ts';
import { findForcedQuery, readForcedClauses } from './forced-filters.ts';
import { findMatchingPks, findPksOfKept } from './pks.ts';
import { type Clause, type Filter, toElasticQuery } from './query.ts';
import { type CreatorSearchQuery, isLookUp, pageOfQuery } from './search.shapes.ts';

/** The most pks that one page names. */
const NAMED = 1_000;
/** With more candidates, every changed creator is one, whichever field changed. */
const MOST_CANDIDATES = 50_000;
const NO_RANGES = { followers: {}, engagement: {} };

interface Question {
  caller: Pick<Caller, 'brandId' | 'limits'>;
  query: CreatorSearchQuery;
  snapshot: Snapshot;
  /** The filters of the search and of the key, without those of time. */
  filter: Filter;
}

async function findSince({ postgres, config }: Context, query: CreatorSearchQuery): Promise<Since | undefined> {
  const { changed_since: value } = query;
  if (value === undefined || isLookUp(query) || query.similar_to) return undefined;
  return await readSince(postgres.db, config.directoryAlias, 'changed_since', value);
}

/** Creators whose data changed in a field that the filters read, and which are in the directory. */
async function toCandidates(context: Context, since: Since, fields: readonly string[]): Promise<Clause> {
  const pks = await listChangedPks(context, since.seq, fields, MOST_CANDIDATES);
  return pks ? { terms: { 'card.pk': pks } } : { range: { 'x.changed_at': { gte: since.changedFrom } } };
}

/**
 * The changed creators that the filters do not match now, ascending. Whether one matched before is not recorded, so some may
 * never have. A caller with forced filters is told only of those whom a kept version shows within them.
 */
async function listLeft(context: Context, question: Question, since: Since): Promise<number[]> {
  const { directory } = context;
  const { caller, query, snapshot, filter } = question;
  const forcedQuery = findForcedQuery(caller);
  const fields = [...listFilterFields(query), ...(forcedQuery ? listFilterFields(forcedQuery) : [])];
  if (fields.length === 0) return [];
  const candidates = await toCandidates(context, since, fields);
  const without = { bool: { must_not: [toElasticQuery(filter, 'followers')] } };
  const bound = await readForcedClauses(directory, caller);
  const find = async (clauses: Clause[]) => {
    const matches = await findMatchingPks(
      directory,
      snapshot,
      { clauses, ranges: NO_RANGES },
      Number.POSITIVE_INFINITY,
    );
    return matches.pks;
  };
  const leftPks = await find([candidates, without, ...bound]);
  if (bound.length === 0) return leftPks;
  const outside = await find([candidates, { bool: { must_not: bound } }]);
  return [...new Set([...leftPks, ...(await findPksOfKept(directory, outside, bound))])].sort((a, b) => a - b);
}

/** `meta.left` of a page or preview; nothing without `changed_since`. Nobody leaves a search without filters. */
export async function readLeft(
  context: Context,
  question: Question,
): Promise<{ left?: number[]; left_total?: number }> {
  const { query, caller } = question;
  const since = await findSince(context, query);
  const isFiltered = listFilterFields(query).length > 0 || findForcedQuery(caller) !== undefined;
  if (!since) return {};
  if (!isFiltered) return { left: [], left_total: 0 };
  const pks = await listLeft(context, question, since);
  const { page } = pageOfQuery(query);
  return { left: pks.slice((page - 1) * NAMED, page * NAMED), left_total: pks.length };
}

/** The creators that a copy of the search has to delete: those that no longer match, and those that are gone. */
export async function listToDelete(context: Context, question: Question): Promise<number[]> {
  const since = await findSince(context, question.query);
  if (!since) return [];
  const gonePks = await listGonePks(context, since.seq);
  const bound = await readForcedClauses(context.directory, question.caller);
  const visible = bound.length === 0 ? gonePks : await findPksOfKept(context.directory, gonePks, bound);
  return [...new Set([...(await listLeft(context, question, since)), ...visible])].sort((a, b) => a - b);
}
