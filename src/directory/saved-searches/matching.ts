import { z } from 'zod';
import { getMappingVersion } from '../../kit/engines/elastic/indices.ts';
import type { Context } from '../../kit/operation/context.ts';
import { MINUTE_MS } from '../../kit/values/duration.ts';
import { findLast, findUnderWay, hasRollback } from '../changes/changes.ts';
import { MAPPING_VERSION } from '../search/document.ts';
import { eachPage, findMatchingPks } from '../search/pks.ts';
import { neededField } from '../search/plan.ts';
import { type Clause, type Filter, toElasticQuery } from '../search/query.ts';
import type { CreatorSearchQuery } from '../search/search.shapes.ts';
import { settlePlan } from '../search/settle-plan.ts';

/** Creators that a tracked search may match when it is saved: as numbers in memory, 4 MB. */
const KNOWN_AT_MOST = 500_000;
/** The clocks of writers may be apart by this much. */
const CLOCKS_DIFFER_MS = MINUTE_MS;

/** The directory at a batch of its changes. */
export interface Moment {
  seq: number;
  /** The time at which the batch was reported; null before the first. */
  at: Date | null;
  index: string;
  /** True if its documents say when they changed. */
  hasTimes: boolean;
}

/**
 * The directory as of its last batch of changes. The batch names the index that has it, so that an index that is cached
 * as the live one cannot lack the changes.
 */
export async function findMoment({ directory, postgres, config }: Context): Promise<Moment> {
  const last = await findLast(postgres.db, config.directoryAlias);
  const index = last?.version ?? (await directory.snapshot()).index;
  const hasTimes = (await getMappingVersion(directory.elastic, index)) >= MAPPING_VERSION;
  return { seq: last?.seq ?? 0, at: last?.at ?? null, index, hasTimes };
}

const toSnapshot = ({ index }: Moment) => ({ index, generation: 0 });

async function settleFilter(
  context: Context,
  brandId: string,
  query: CreatorSearchQuery,
  { index }: Moment,
): Promise<Filter> {
  return (await settlePlan(context, { brandId }, query, { snapshot: { index } })).filter;
}

/**
 * The creators who match at a moment; undefined if new ones are not looked for later, because the search ranks its
 * matches or has too many.
 */
export async function readKnown(
  context: Context,
  brandId: string,
  query: CreatorSearchQuery,
  moment: Moment,
): Promise<number[] | undefined> {
  await context.directory.assertServes(toSnapshot(moment), neededField(query));
  const filter = await settleFilter(context, brandId, query, moment);
  if (query.similar_to) return undefined;
  const { total, pks } = await findMatchingPks(context.directory, toSnapshot(moment), filter, KNOWN_AT_MOST);
  return total > KNOWN_AT_MOST ? undefined : pks;
}

/** A saved search after its filters were parsed. */
export interface Search {
  id: string;
  brandId: string;
  query: CreatorSearchQuery;
}

/** The changes between a search's last look and a moment. */
export interface Span {
  from: { seq: number; at: Date | null };
  to: Moment;
}

/**
 * Returns the `changed_at` from which documents may match newly; undefined for all of them. A rollback brings back documents
 * with their earlier times.
 */
async function findChangedFrom({ postgres, config }: Context, { from, to }: Span): Promise<number | undefined> {
  const alias = config.directoryAlias;
  if (!to.hasTimes || from.at === null) return undefined;
  if (await hasRollback(postgres.db, alias, from.seq, to.seq)) return undefined;
  const since = (await findUnderWay(postgres.db, alias, from.at)) ?? from.at;
  return since.getTime() - CLOCKS_DIFFER_MS;
}

const changedSince = (since: number): Clause => ({ range: { 'x.changed_at': { gte: since } } });

/** The age of data changes without the creator. */
const isAboutAge = (query: CreatorSearchQuery) => query.fresh_within_days !== undefined;

/** Pages of creators, by `pk`, who match at the end of a span and may have changed within it. */
export async function* readChanged(context: Context, { brandId, query }: Search, span: Span): AsyncGenerator<number[]> {
  const { directory } = context;
  const snapshot = toSnapshot(span.to);
  await directory.assertServes(snapshot, neededField(query));
  const filter = await settleFilter(context, brandId, query, span.to);
  const since = isAboutAge(query) ? undefined : await findChangedFrom(context, span);
  const clauses = since === undefined ? filter.clauses : [...filter.clauses, changedSince(since)];
  yield* eachPage(directory, snapshot, { ...filter, clauses });
}

const Counts = z.object({
  aggregations: z.object({
    searches: z.object({ buckets: z.record(z.string(), z.object({ doc_count: z.number() })) }),
  }),
});

/**
 * The ids of those searches that nobody who changed within the span matches, found in one request. Most changes of the
 * directory concern few searches.
 */
export async function findUnaffected(context: Context, searches: readonly Search[], span: Span): Promise<string[]> {
  const { directory } = context;
  const since = await findChangedFrom(context, span);
  if (since === undefined) return [];
  const filters: Record<string, Clause> = {};
  for (const { id, brandId, query } of searches) {
    // Lists are too large to be sent together.
    if (isAboutAge(query) || (await directory.lists.read(brandId, query))) continue;
    filters[id] = toElasticQuery(await settleFilter(context, brandId, query, span.to), 'followers');
  }
  if (Object.keys(filters).length === 0) return [];
  const body = {
    size: 0,
    track_total_hits: false,
    query: { bool: { filter: [changedSince(since)] } },
    aggs: { searches: { filters: { filters } } },
  };
  const { aggregations } = await directory.counts.ask(span.to.index, Counts, body);
  return Object.entries(aggregations.searches.buckets).flatMap(([id, { doc_count }]) => (doc_count === 0 ? [id] : []));
}
