import { LRUCache } from 'lru-cache';
import { z } from 'zod';
import type { Elastic } from '../../kit/engines/elastic/open.ts';
import { listValues, Percentiles, readCuts, splitPercents } from './cuts.ts';
import { getOrder, getSortValue, type Sort } from './order.ts';
import { CountAnswer, type Filter, toElasticQuery } from './query.ts';
import {
  cutByPks,
  cutByValues,
  getTotal,
  type Level,
  nextUp,
  type RegionBounds,
  toLevel,
  valuesWithin,
} from './regions.ts';
import { serializeBody } from './request-body.ts';

/** Counting in this many regions costs hardly more than in a few. In 1,000 it costs 50% more, and a response of 110 kB. */
const REGIONS = 128;
/** Without a filter, Elasticsearch counts ranges of more than 5,000 creators without looking at each. */
const REGIONS_OF_ALL = 32;
const FINER_REGIONS = 64;

const Buckets = z.object({ buckets: z.array(z.object({ doc_count: z.number() })).default([]) });
const SpreadAnswer = z.object({
  aggregations: z.object({
    least: z.object({ value: z.number().nullable() }),
    most: z.object({ value: z.number().nullable() }),
    values: Percentiles,
    pks: Percentiles,
  }),
});
const LevelAnswer = CountAnswer.extend({ aggregations: z.object({ values: Buckets }) });
const LEVEL_FIELDS = '&filter_path=hits.total.value,aggregations.values.buckets.doc_count';

/** Scores of several shards compare only if each counts words over all of them. */
export const getScoringParameter = (sort: Sort) => (sort === 'relevance' ? '&search_type=dfs_query_then_fetch' : '');

/** One version of the directory, as of one refresh. Prefixes every cache key. */
export interface Snapshot {
  index: string;
  generation: number;
}

/** At most this many of the cuts, evenly chosen. */
function thinCuts(cuts: readonly number[], most: number): number[] {
  const step = Math.ceil((cuts.length + 1) / most);
  return cuts.filter((_, i) => (i + 1) % step === 0);
}

/** Exact totals and the counts by region that let any page be reached, cached until the next refresh. */
export function openCounts(elastic: Elastic) {
  const totals = new LRUCache<string, number>({ max: 50_000 });
  const levels = new LRUCache<string, Promise<Level>>({ max: 5_000 });
  const cuts = new LRUCache<string, Promise<number[]>>({ max: 16 });

  const texts = new WeakMap<Filter, string>();

  /** A filter as text, built once per filter. */
  function serializeFilter(filter: Filter): string {
    const cachedText = texts.get(filter);
    if (cachedText !== undefined) return cachedText;
    const text = JSON.stringify(filter);
    texts.set(filter, text);
    return text;
  }

  const cacheKey = (snapshot: Snapshot, filter: Filter, sort = '') =>
    `${snapshot.index}/${snapshot.generation}/${sort}/${serializeFilter(filter)}`;

  async function ask<T>(
    index: string,
    answer: z.ZodType<T>,
    body: unknown,
    sort: Sort = 'followers',
    fields = '',
  ): Promise<T> {
    const path = `/${index}/_search?allow_partial_search_results=false${fields}${getScoringParameter(sort)}`;
    const bytes = await elastic.post(path, serializeBody(body));
    return answer.parse(JSON.parse(bytes.toString('utf8')));
  }

  /** The value of a key: read once for all callers that wait for it, and again after a failure. */
  function once<T extends object>(cache: LRUCache<string, Promise<T>>, key: string, read: () => Promise<T>) {
    const cached = cache.get(key);
    if (cached) return cached;
    const reading = read();
    reading.catch(() => cache.delete(key));
    cache.set(key, reading);
    return reading;
  }

  /** The index's own cuts of a sort within a range. Scores depend on the filter, so the index has none for them. */
  async function cutsWithin(index: string, sort: Sort, range: RegionBounds): Promise<number[]> {
    const { field } = getOrder(sort);
    if (field === undefined) return [];
    return valuesWithin(await once(cuts, `${index}/${field}`, () => readCuts(elastic, index, field)), range);
  }

  /** Regions of values are cut highest first. */
  const inOrder = <T>(sort: Sort, cut: T[]): T[] => (getOrder(sort).isAscending ? cut.reverse() : cut);

  /** The number of matches in each region. At most one region may be for missing values. */
  async function countValues(
    index: string,
    filter: Filter,
    sort: Sort,
    regions: RegionBounds[],
    within?: RegionBounds,
  ): Promise<Level> {
    const ranges = regions
      .filter((region) => !region.missing)
      .map(({ gte, lt }) => ({ ...(gte === undefined ? {} : { from: gte }), ...(lt === undefined ? {} : { to: lt }) }));
    const body = {
      size: 0,
      track_total_hits: true,
      query: toElasticQuery(filter, sort, within && [within]),
      // Buckets come lowest first.
      aggs: { values: { range: { ...getSortValue(sort), ranges: inOrder(sort, ranges).reverse() } } },
    };
    const { hits, aggregations } = await ask(index, LevelAnswer, body, sort, LEVEL_FIELDS);
    const buckets = aggregations.values.buckets.map((bucket) => bucket.doc_count);
    const counts = inOrder(sort, buckets.reverse());
    const valuedCount = counts.reduce((sum, count) => sum + count, 0);
    return toLevel(regions, regions.at(-1)?.missing ? [...counts, hits.total.value - valuedCount] : counts);
  }

  /** All matches, in few regions. */
  async function countAll(index: string, filter: Filter, sort: Sort): Promise<Level> {
    if (sort === 'relevance') return await refine(index, filter, sort, {});
    const { ranged } = getOrder(sort);
    const own = await cutsWithin(index, sort, ranged ? filter.ranges[ranged] : {});
    const values = thinCuts(own, filter.clauses.length === 0 ? REGIONS_OF_ALL : REGIONS);
    return await countValues(index, filter, sort, [...inOrder(sort, cutByValues(values)), { missing: true }]);
  }

  async function countPks(
    index: string,
    filter: Filter,
    sort: Sort,
    regions: RegionBounds[],
    within: RegionBounds,
  ): Promise<Level> {
    const ranges = regions.map(({ pkGte, pkLt }) => ({
      ...(pkGte === undefined ? {} : { from: pkGte }),
      ...(pkLt === undefined ? {} : { to: pkLt }),
    }));
    const query = toElasticQuery(filter, sort, [within]);
    const aggs = { values: { range: { field: 'card.pk', ranges } } };
    const body = { size: 0, track_total_hits: true, query, aggs };
    const { aggregations } = await ask(index, LevelAnswer, body, sort, LEVEL_FIELDS);
    return toLevel(
      regions,
      aggregations.values.buckets.map((bucket) => bucket.doc_count),
    );
  }

  /**
   * Splits one region: at the index's own cuts while it contains some, then by the value of its matches while they have
   * several, then by pk. Always makes progress.
   */
  async function refine(index: string, filter: Filter, sort: Sort, region: RegionBounds): Promise<Level> {
    const own = region.missing ? [] : await cutsWithin(index, sort, region);
    if (own.length > 0) {
      const regions = inOrder(sort, cutByValues(thinCuts(own, FINER_REGIONS), region));
      return await countValues(index, filter, sort, regions, region);
    }
    const percents = splitPercents(FINER_REGIONS);
    const aggs = {
      least: { min: getSortValue(sort) },
      most: { max: getSortValue(sort) },
      values: { percentiles: { ...getSortValue(sort), percents } },
      pks: { percentiles: { field: 'card.pk', percents } },
    };
    const query = toElasticQuery(filter, sort, [region]);
    const { aggregations } = await ask(index, SpreadAnswer, { size: 0, track_total_hits: false, query, aggs }, sort);
    const { least, most, values, pks } = aggregations;
    if (least.value !== null && most.value !== null && least.value < most.value) {
      const regions = inOrder(sort, cutByValues([...listValues(values), nextUp(least.value)], region));
      return await countValues(index, filter, sort, regions, region);
    }
    return await countPks(index, filter, sort, cutByPks(listValues(pks), region), region);
  }

  return {
    /** The total, if it was counted since the last refresh. */
    known: (snapshot: Snapshot, filter: Filter): number | undefined => totals.get(cacheKey(snapshot, filter)),
    /** Caches a total that another request returned. */
    keep: (snapshot: Snapshot, filter: Filter, total: number): void =>
      void totals.set(cacheKey(snapshot, filter), total),
    level: async (snapshot: Snapshot, filter: Filter, sort: Sort): Promise<Level> => {
      const count = () => countAll(snapshot.index, filter, sort);
      const level = await once(levels, cacheKey(snapshot, filter, sort), count);
      totals.set(cacheKey(snapshot, filter), getTotal(level));
      return level;
    },
    refine: (snapshot: Snapshot, filter: Filter, sort: Sort, region: RegionBounds) =>
      refine(snapshot.index, filter, sort, region),
    ask,
  };
}

export type Counts = ReturnType<typeof openCounts>;
