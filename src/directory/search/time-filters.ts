import type { Context } from '../../kit/operation/context.ts';
import { DAY_MS, HOUR_MS } from '../../kit/values/duration.ts';
import { listRemoved, MOST_REMOVED, readRemoved } from '../changes/changes.api.ts';
import { readSince } from '../changes/changes.ts';
import { findPksOfKept } from './pks.ts';
import type { Clause, Filter } from './query.ts';
import { type CreatorSearchQuery, pageOfQuery } from './search.shapes.ts';

/** The filters of a search that depend on the time of the call, and what its first page says besides creators. */
export interface TimeFilters {
  filter: Filter;
  /** For `meta`. */
  gone(): Promise<{ removed?: number[]; removed_total?: number }>;
}

const atLeast = (field: string, time: number) => ({ range: { [field]: { gte: time } } });

/** A search of `fresh_within_days` keeps its result for an hour, so that its pages fit together. */
const sinceHour = (now: Date, days: number) => Math.floor(now.getTime() / HOUR_MS) * HOUR_MS - days * DAY_MS;

/** A caller with forced filters is told only of creators whom a kept version of the directory shows within them. */
async function readGone(context: Context, seq: number, bound: readonly Clause[]) {
  if (bound.length === 0) return await readRemoved(context, seq);
  const visible = await findPksOfKept(context.directory, await listRemoved(context, seq), bound);
  return { removed: visible.slice(0, MOST_REMOVED), removed_total: visible.length };
}

export async function applyTimeFilters(
  context: Context,
  query: CreatorSearchQuery,
  filter: Filter,
  bound: readonly Clause[],
): Promise<TimeFilters> {
  const { changed_since, fresh_within_days } = query;
  if (changed_since === undefined && fresh_within_days === undefined) return { filter, gone: async () => ({}) };
  const { postgres, config, clock } = context;
  const since =
    changed_since === undefined
      ? undefined
      : await readSince(postgres.db, config.directoryAlias, 'changed_since', changed_since);
  const clauses = [
    ...filter.clauses,
    ...(since ? [atLeast('x.changed_at', since.changedFrom)] : []),
    ...(fresh_within_days === undefined ? [] : [atLeast('x.data_as_of', sinceHour(clock.now(), fresh_within_days))]),
  ];
  return {
    filter: { ...filter, clauses },
    gone: async () => (since && pageOfQuery(query).offset === 0 ? await readGone(context, since.seq, bound) : {}),
  };
}
