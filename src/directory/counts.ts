import { LRUCache } from 'lru-cache';
import { z } from 'zod';
import type { Elastic } from '../engines/elastic/open.ts';
import { orderOf, type Sort, sortedBy } from './order.ts';
import { CountAnswer, type Filter, queryOf } from './query.ts';
import { type Bounds, cutByPks, cutByValues, type Level, levelOf, nextUp, totalOf } from './regions.ts';

/** Regions of the first cut: about 2,000 creators per region at a million creators. */
const CUTS = 512;
const FINER_CUTS = 64;
const PERCENTS = (cuts: number) => Array.from({ length: cuts - 1 }, (_, i) => ((i + 1) * 100) / cuts);

const Percentiles = z.object({ values: z.record(z.string(), z.number().nullable()) });
const Buckets = z.object({ buckets: z.array(z.object({ doc_count: z.number() })) });
const CutsAnswer = z.object({ aggregations: z.object({ values: Percentiles, pks: Percentiles.optional() }) });
const SpreadAnswer = z.object({
  aggregations: z.object({
    least: z.object({ value: z.number().nullable() }),
    most: z.object({ value: z.number().nullable() }),
    values: Percentiles,
    pks: Percentiles,
  }),
});
const LevelAnswer = z.object({
  aggregations: z.object({ values: Buckets.optional(), missing: z.object({ doc_count: z.number() }).optional() }),
});

/** Scores of several shards compare only if each counts words over all of them. */
export const scoredAlike = (sort: Sort) => (sort === 'relevance' ? '&search_type=dfs_query_then_fetch' : '');

/** One version of the directory, as of one refresh. Prefixes every cache key. */
export interface Snapshot {
  index: string;
  generation: number;
}

const known = (found: z.infer<typeof Percentiles>) => Object.values(found.values).filter((value) => value !== null);

/** Exact totals and the counts by region that let any page be reached, cached until the next refresh. */
export function openCounts(elastic: Elastic) {
  const totals = new LRUCache<string, number>({ max: 50_000 });
  const levels = new LRUCache<string, Level>({ max: 5_000 });
  const cuts = new LRUCache<string, Promise<Bounds[]>>({ max: 8 });

  const texts = new WeakMap<Filter, string>();

  /** A filter as text, built once per filter. */
  function textOf(filter: Filter): string {
    const known = texts.get(filter);
    if (known !== undefined) return known;
    const text = JSON.stringify(filter);
    texts.set(filter, text);
    return text;
  }

  const keyOf = (snapshot: Snapshot, filter: Filter, sort = '') =>
    `${snapshot.index}/${snapshot.generation}/${sort}/${textOf(filter)}`;

  async function ask<T>(index: string, answer: z.ZodType<T>, body: unknown, sort: Sort = 'followers'): Promise<T> {
    const path = `/${index}/_search?allow_partial_search_results=false${scoredAlike(sort)}`;
    const bytes = await elastic.post(path, JSON.stringify(body));
    return answer.parse(JSON.parse(bytes.toString('utf8')));
  }

  /** The index's own cuts for a sort: percentiles of the value over all creators. */
  function cutsOf(index: string, sort: Sort): Promise<Bounds[]> {
    const key = `${index}/${sort}`;
    const cached = cuts.get(key);
    if (cached) return cached;
    const body = {
      size: 0,
      track_total_hits: false,
      aggs: { values: { percentiles: { ...sortedBy(sort), percents: PERCENTS(CUTS) } } },
    };
    const reading = ask(index, CutsAnswer, body).then(({ aggregations }): Bounds[] => [
      ...inOrder(sort, cutByValues(known(aggregations.values))),
      { missing: true },
    ]);
    reading.catch(() => cuts.delete(key));
    cuts.set(key, reading);
    return reading;
  }

  /** Regions of values are cut highest first. */
  const inOrder = <T>(sort: Sort, cut: T[]): T[] => (orderOf(sort).isAscending ? cut.reverse() : cut);

  /** The number of matches in each region. At most one region may be for missing values. */
  async function countValues(
    index: string,
    filter: Filter,
    sort: Sort,
    regions: Bounds[],
    within?: Bounds,
  ): Promise<Level> {
    const ranges = regions
      .filter((region) => !region.missing)
      .map(({ gte, lt }) => ({ ...(gte === undefined ? {} : { from: gte }), ...(lt === undefined ? {} : { to: lt }) }));
    const { field } = orderOf(sort);
    const body = {
      size: 0,
      track_total_hits: false,
      query: queryOf(filter, sort, within && [within]),
      aggs: {
        // Buckets come lowest first.
        values: { range: { ...sortedBy(sort), ranges: inOrder(sort, ranges).reverse() } },
        ...(field === undefined ? {} : { missing: { missing: { field } } }),
      },
    };
    const { aggregations } = await ask(index, LevelAnswer, body, sort);
    const buckets = (aggregations.values?.buckets ?? []).map((bucket) => bucket.doc_count);
    const counts = inOrder(sort, buckets.reverse());
    if (regions.at(-1)?.missing) counts.push(aggregations.missing?.doc_count ?? 0);
    return levelOf(regions, counts);
  }

  async function countPks(
    index: string,
    filter: Filter,
    sort: Sort,
    regions: Bounds[],
    within: Bounds,
  ): Promise<Level> {
    const ranges = regions.map(({ pkGte, pkLt }) => ({
      ...(pkGte === undefined ? {} : { from: pkGte }),
      ...(pkLt === undefined ? {} : { to: pkLt }),
    }));
    const query = queryOf(filter, sort, [within]);
    const aggs = { values: { range: { field: 'card.pk', ranges } } };
    const { aggregations } = await ask(index, LevelAnswer, { size: 0, track_total_hits: false, query, aggs }, sort);
    return levelOf(
      regions,
      (aggregations.values?.buckets ?? []).map((bucket) => bucket.doc_count),
    );
  }

  /** Cuts one region further: by value while it holds several, else by pk. Always makes progress. */
  async function refine(index: string, filter: Filter, sort: Sort, region: Bounds): Promise<Level> {
    const percents = PERCENTS(FINER_CUTS);
    const aggs = {
      least: { min: sortedBy(sort) },
      most: { max: sortedBy(sort) },
      values: { percentiles: { ...sortedBy(sort), percents } },
      pks: { percentiles: { field: 'card.pk', percents } },
    };
    const query = queryOf(filter, sort, [region]);
    const { aggregations } = await ask(index, SpreadAnswer, { size: 0, track_total_hits: false, query, aggs }, sort);
    const { least, most, values, pks } = aggregations;
    if (least.value !== null && most.value !== null && least.value < most.value) {
      const regions = inOrder(sort, cutByValues([...known(values), nextUp(least.value)], region));
      return await countValues(index, filter, sort, regions, region);
    }
    return await countPks(index, filter, sort, cutByPks(known(pks), region), region);
  }

  return {
    /** The total, if it was counted since the last refresh. */
    known: (snapshot: Snapshot, filter: Filter): number | undefined => totals.get(keyOf(snapshot, filter)),
    /** Caches a total that another request returned. */
    keep: (snapshot: Snapshot, filter: Filter, total: number): void => void totals.set(keyOf(snapshot, filter), total),
    total: async (snapshot: Snapshot, filter: Filter): Promise<number> => {
      const key = keyOf(snapshot, filter);
      const cached = totals.get(key);
      if (cached !== undefined) return cached;
      const body = { size: 0, track_total_hits: true, query: queryOf(filter, 'followers') };
      const total = (await ask(snapshot.index, CountAnswer, body)).hits.total.value;
      totals.set(key, total);
      return total;
    },
    level: async (snapshot: Snapshot, filter: Filter, sort: Sort): Promise<Level> => {
      const key = keyOf(snapshot, filter, sort);
      const cached = levels.get(key);
      if (cached) return cached;
      // Scores depend on the filter, so the index has no cuts of its own for them.
      const level =
        sort === 'relevance'
          ? await refine(snapshot.index, filter, sort, {})
          : await countValues(snapshot.index, filter, sort, await cutsOf(snapshot.index, sort));
      levels.set(key, level);
      totals.set(keyOf(snapshot, filter), totalOf(level));
      return level;
    },
    refine: (snapshot: Snapshot, filter: Filter, sort: Sort, region: Bounds) =>
      refine(snapshot.index, filter, sort, region),
    ask,
  };
}

export type Counts = ReturnType<typeof openCounts>;
