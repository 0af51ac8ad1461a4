import { LRUCache } from 'lru-cache';
import { z } from 'zod';
import type { Counts, Snapshot } from './counts.ts';
import { CountAnswer, type Filter, queryOf } from './query.ts';

/**
 * More values than any facet has, so that each shard returns all of its values and the sums over several shards are exact.
 */
const MAX_VALUES = 10_000;

const termsOf = (field: string, size: number) => ({ terms: { field, size, shard_size: MAX_VALUES } });

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

const PreviewAnswer = CountAnswer.extend({
  aggregations: z.object({
    category: Terms,
    niche: Terms,
    country: Terms,
    state: Terms,
    metro: Terms,
    gender: Terms,
  }),
});
const TermsAnswer = z.object({ aggregations: z.object({ values: Terms }) });

export interface FacetValue {
  value: string;
  count: number;
}

const valuesOf = ({ buckets }: z.infer<typeof Terms>): FacetValue[] =>
  buckets.map((bucket) => ({ value: bucket.key, count: bucket.doc_count }));

/** The most frequent values of each facet in the results of a search, cached until the next refresh. */
export function openFacets(counts: Counts) {
  const previews = new LRUCache<string, { total: number; facets: Record<FacetName, FacetValue[]> }>({ max: 1_000 });
  const lists = new LRUCache<string, FacetValue[]>({ max: 50 });

  return {
    preview: async (snapshot: Snapshot, filter: Filter, size: number) => {
      const key = `${snapshot.index}/${snapshot.generation}/${size}/${JSON.stringify(filter)}`;
      const cached = previews.get(key);
      if (cached) return cached;
      const aggs = Object.fromEntries(
        Object.entries(FACET_FIELDS).map(([name, field]) => [name, termsOf(field, size)]),
      );
      const query = queryOf(filter, 'followers');
      const answer = await counts.ask(snapshot.index, PreviewAnswer, { size: 0, track_total_hits: true, query, aggs });
      const { category, niche, country, state, metro, gender } = answer.aggregations;
      const found = {
        total: answer.hits.total.value,
        facets: {
          category: valuesOf(category),
          niche: valuesOf(niche),
          country: valuesOf(country),
          state: valuesOf(state),
          metro: valuesOf(metro),
          gender: valuesOf(gender),
        },
      };
      previews.set(key, found);
      return found;
    },
    /** All values of one facet over the whole directory, most frequent first. */
    list: async (snapshot: Snapshot, name: FacetName): Promise<FacetValue[]> => {
      const key = `${snapshot.index}/${snapshot.generation}/${name}`;
      const cached = lists.get(key);
      if (cached) return cached;
      const aggs = { values: termsOf(FACET_FIELDS[name], MAX_VALUES) };
      const answer = await counts.ask(snapshot.index, TermsAnswer, { size: 0, track_total_hits: false, aggs });
      const values = valuesOf(answer.aggregations.values);
      lists.set(key, values);
      return values;
    },
  };
}

export type Facets = ReturnType<typeof openFacets>;
