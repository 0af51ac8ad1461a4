import type { Context } from '../../kit/operation/context.ts';
import { DAY_MS, HOUR_MS } from '../../kit/values/duration.ts';
import { readRemoved } from '../changes/changes.api.ts';
import { readSince } from '../changes/changes.ts';
import type { Filter } from './query.ts';
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

export async function applyTimeFilters(
  context: Context,
  query: CreatorSearchQuery,
  filter: Filter,
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
    gone: async () => (since && pageOfQuery(query).offset === 0 ? await readRemoved(context, since.seq) : {}),
  };
}
