import { LRUCache } from 'lru-cache';
import { z } from 'zod';
import type { Elastic } from '../../kit/engines/elastic/open.ts';
import { foldAccents } from '../../kit/values/fold.ts';
import type { Counts, Snapshot } from './counts.ts';
import { toFacetFilter, toFacetLabel, toRangeFilter } from './facet-filters.ts';
import { FIELD, type Ranged } from './order.ts';
import type { Preview } from './preview.shapes.ts';
import { type Clause, CountAnswer, type Filter, toElasticQuery } from './query.ts';
import { countValued } from './regions.ts';
import { type CreatorSearchQuery, type Facet, SIMILAR_AT_MOST } from './search.shapes.ts';
import { fetchPage } from './search.ts';

/**
 * More values than any facet has, so that each shard returns all of its values and the sums over several shards are exact.
 */
const MAX_VALUES = 10_000;

const toTermsAggregation = (field: string, size: number, beginning = '') => {
  const escapedBeginning = beginning.replace(/[^\p{L}\p{N} ]/gu, '\\$&');
  return {
    terms: { field, size, shard_size: MAX_VALUES, ...(beginning === '' ? {} : { include: `${escapedBeginning}.*` }) },
  };
};

/** Codes of states and countries are in capitals, ids of metros have hyphens, other values are folded. */
function beginningIn(name: string, text: string): string {
  const foldedText = foldAccents(text);
  if (name === 'state' || name === 'country') return foldedText.toUpperCase();
  return name === 'metro' ? foldedText.replaceAll(' ', '-') : foldedText;
}

/** Ranges of ascending cuts, open at both ends. */
const toRangeAggregation = (field: string, cuts: readonly number[]) => ({
  range: {
    field,
    ranges: [undefined, ...cuts].map((from, i) => ({
      ...(from === undefined ? {} : { from }),
      ...(cuts[i] === undefined ? {} : { to: cuts[i] }),
    })),
  },
});

const Terms = z.object({ buckets: z.array(z.object({ key: z.string(), doc_count: z.number() })) });

const FACET_FIELDS = {
  category: 'card.category',
  niche: 'x.niches',
  country: 'x.country_code',
  state: 'x.state_code',
  metro: 'x.metros',
  gender: 'x.gender',
} as const;
export type FacetName = keyof typeof FACET_FIELDS;
const TERMS = ['category', 'niche', 'country', 'state', 'metro', 'gender'] as const;

const RANGES = {
  followers: { field: FIELD.followers, cuts: [1_000, 5_000, 10_000, 50_000, 100_000, 500_000, 1_000_000] },
  engagement: { field: FIELD.engagement, cuts: [1, 2, 3, 5, 10] },
  age: { field: 'x.age', cuts: [18, 25, 35, 45, 55, 65] },
  posts: { field: 'x.media_count', cuts: [10, 50, 100, 500, 1_000, 5_000] },
} as const;
const RANGED = ['followers', 'engagement', 'age', 'posts'] as const;

const TRUTHS = { is_verified: 'card.is_verified', has_email: 'x.has_email' } as const;
const KNOWN = ['is_verified', 'has_email'] as const;

const Ranges = z.object({
  buckets: z.array(z.object({ from: z.number().optional(), to: z.number().optional(), doc_count: z.number() })),
});
const Truths = z.object({ buckets: z.array(z.object({ key: z.number(), doc_count: z.number() })) });
const Mean = z.object({ value: z.number().nullable() });

const PreviewAnswer = CountAnswer.extend({
  aggregations: z
    .object({
      category: Terms,
      niche: Terms,
      country: Terms,
      state: Terms,
      metro: Terms,
      gender: Terms,
      followers: Ranges,
      engagement: Ranges,
      age: Ranges,
      posts: Ranges,
      is_verified: Truths,
      has_email: Truths,
      mean_followers: Mean,
      mean_engagement: Mean,
    })
    .partial()
    .default({}),
});
const TermsAnswer = z.object({ aggregations: z.object({ values: Terms }) });

export interface FacetValue {
  value: string;
  count: number;
}

const toFacetValues = (terms: z.infer<typeof Terms> | undefined): FacetValue[] =>
  (terms?.buckets ?? []).map((bucket) => ({ value: bucket.key, count: bucket.doc_count }));

const toTermsFacet = (name: FacetName, terms: z.infer<typeof Terms> | undefined) =>
  toFacetValues(terms).map(({ value, count }) => ({
    value,
    count,
    label: toFacetLabel(name, value),
    filter: toFacetFilter(name, value),
  }));

const FACET_SIZE = 50;
const MEANS = [
  ['mean_followers', { avg: { field: FIELD.followers } }],
  ['mean_engagement', { avg: { field: FIELD.engagement } }],
] as const;
const Values = z.object({
  follower_count: z.number().nullish(),
  engagement_rate: z.number().nullish(),
});

/** Each request repeats the lists. Those of a few together would take Elasticsearch from other brands. */
const LISTED_IN_TURN = 1_000;

/** Reads at once, or, over large lists, one after the other. */
async function readEach<T>({ listed }: Filter, reads: readonly (() => Promise<T>)[]): Promise<T[]> {
  if ((listed?.creators ?? 0) < LISTED_IN_TURN) return await Promise.all(reads.map((read) => read()));
  const answers: T[] = [];
  for (const read of reads) answers.push(await read());
  return answers;
}

type PreviewQuery = Pick<CreatorSearchQuery, 'facets' | 'facet_size' | 'facet_q' | 'stats' | 'similar_to'>;
type Previewed = { total: number } & Pick<Preview, 'facets' | 'stats'>;

/** The most frequent values of each facet in the results of a search, cached until the next refresh. */
export function openFacets(counts: Counts) {
  const previews = new LRUCache<string, Previewed>({ max: 1_000 });
  const lists = new LRUCache<string, FacetValue[]>({ max: 50 });

  /** The value of the match at an offset, read from its card. */
  async function valueAt(elastic: Elastic, snapshot: Snapshot, filter: Filter, sort: Ranged, offset: number) {
    const page = { page: offset + 1, limit: 1, offset };
    const { cards } = await fetchPage(elastic, counts, snapshot, filter, sort, page);
    const text = Buffer.from(cards, 'latin1').toString('utf8');
    const card = Values.parse(JSON.parse(text === '' ? '{}' : text));
    return (sort === 'followers' ? card.follower_count : card.engagement_rate) ?? null;
  }

  /** Exact percentiles by the nearest rank, over the matches that have the value. Matches without it come last. */
  async function spread(elastic: Elastic, snapshot: Snapshot, filter: Filter, sort: Ranged, average: number | null) {
    const having = countValued(await counts.level(snapshot, filter, sort));
    const at = (share: number) => async () =>
      having === 0 ? null : await valueAt(elastic, snapshot, filter, sort, having - Math.ceil(share * having));
    const [p10 = null, p50 = null, p90 = null] = await readEach(filter, [at(0.1), at(0.5), at(0.9)]);
    return { p10, p50, p90, mean: average === null ? null : Math.round(average * 10_000) / 10_000 };
  }

  return {
    preview: async (elastic: Elastic, snapshot: Snapshot, filter: Filter, query: PreviewQuery): Promise<Previewed> => {
      const { facets: wanted = TERMS, facet_size: size = FACET_SIZE, facet_q = '', stats = false } = query;
      const isRanked = query.similar_to !== undefined;
      const options = JSON.stringify([wanted, size, facet_q, stats, isRanked]);
      const key = `${snapshot.index}/${snapshot.generation}/${options}/${JSON.stringify(filter)}`;
      const cached = previews.get(key);
      if (cached) return cached;
      const selectWanted = <T extends Facet>(names: readonly T[]) =>
        names.filter((name) => wanted.some((one) => one === name));
      const aggs = Object.fromEntries([
        ...selectWanted(TERMS).map(
          (name) => [name, toTermsAggregation(FACET_FIELDS[name], size, beginningIn(name, facet_q))] as const,
        ),
        ...selectWanted(RANGED).map(
          (name) => [name, toRangeAggregation(RANGES[name].field, RANGES[name].cuts)] as const,
        ),
        ...selectWanted(KNOWN).map((name) => [name, { terms: { field: TRUTHS[name] } }] as const),
        ...(stats ? MEANS : []),
      ]);
      const body = { size: 0, track_total_hits: true, query: toElasticQuery(filter, 'followers'), aggs };
      const answer = await counts.ask(snapshot.index, PreviewAnswer, body);
      const { mean_followers, mean_engagement, ...found } = answer.aggregations;
      const total = answer.hits.total.value;
      // With a filter, the most similar are others than those of them that have the value.
      const ifExact = <T>(filter: T): T | null => (isRanked && total >= SIMILAR_AT_MOST ? null : filter);
      const facets: Preview['facets'] = {};
      for (const name of selectWanted(TERMS)) {
        facets[name] = toTermsFacet(name, found[name]).map((one) => ({ ...one, filter: ifExact(one.filter) }));
      }
      for (const name of selectWanted(RANGED)) {
        facets[name] = (found[name]?.buckets ?? []).map(({ from = null, to = null, doc_count }) => {
          return { from, to, count: doc_count, filter: ifExact(toRangeFilter(name, { from, to })) };
        });
      }
      for (const name of selectWanted(KNOWN)) {
        facets[name] = (found[name]?.buckets ?? []).map(({ key, doc_count }) => {
          return { value: key === 1, count: doc_count, filter: ifExact({ [name]: key === 1 }) };
        });
      }
      if (stats) counts.keep(snapshot, filter, total);
      const toSpread = (sort: Ranged, average: { value: number | null } | undefined) => () =>
        spread(elastic, snapshot, filter, sort, average?.value ?? null);
      const [followers, engagement] = stats
        ? await readEach(filter, [toSpread('followers', mean_followers), toSpread('engagement', mean_engagement)])
        : [];
      const preview = { total, facets, ...(followers && engagement ? { stats: { followers, engagement } } : {}) };
      previews.set(key, preview);
      return preview;
    },
    /** All values of one facet over the creators within `bound`, most frequent first. */
    list: async (snapshot: Snapshot, name: FacetName, bound: readonly Clause[]): Promise<FacetValue[]> => {
      const key = `${snapshot.index}/${snapshot.generation}/${name}/${JSON.stringify(bound)}`;
      const cached = lists.get(key);
      if (cached) return cached;
      const aggs = { values: toTermsAggregation(FACET_FIELDS[name], MAX_VALUES) };
      const answer = await counts.ask(snapshot.index, TermsAnswer, {
        size: 0,
        track_total_hits: false,
        query: { bool: { filter: bound } },
        aggs,
      });
      const values = toFacetValues(answer.aggregations.values);
      lists.set(key, values);
      return values;
    },
  };
}

export type Facets = ReturnType<typeof openFacets>;
