import { z } from 'zod';
import { sampleDocuments } from '../../../kit/engines/elastic/indices.ts';
import type { Elastic } from '../../../kit/engines/elastic/open.ts';
import { DirectoryCreatorDetail } from '../../search/creator.shapes.ts';
import type { CreatorRow } from '../../search/document.ts';
import { countFilled, type Fill } from './fields.ts';

const TOP = 20;
const PERCENTS = [10, 50, 90];
/** Documents that are sampled for how well fields are filled, if no import counted. */
const SAMPLE = 2_000;

const TOP_FIELDS = { category: 'card.category', country: 'x.country_code', state: 'x.state_code' } as const;
const NUMBERS = { follower_count: 'card.follower_count', engagement_rate: 'card.engagement_rate' } as const;

const Shares = z.record(z.string(), z.number());
const Points = z.record(z.string(), z.number().nullable());

/** The statistics of an index that a comparison is about. */
export const IndexProfile = z.object({
  creators: z.number(),
  /** By field: the share of creators that have a value. */
  fill: Shares,
  /** By field: the most frequent values with their shares; countries and states by their codes. */
  top: z.record(z.string(), Shares),
  percentiles: z.record(z.string(), Points),
  /** The share of creators that live in a metro. */
  inMetro: z.number(),
});
export type IndexProfile = z.infer<typeof IndexProfile>;

const Terms = z.object({ buckets: z.array(z.object({ key: z.string(), doc_count: z.number() })) });
const Percentiles = z.object({ values: Points });
const Answer = z.object({
  hits: z.object({ total: z.object({ value: z.number() }) }),
  aggregations: z.object({
    category: Terms,
    country: Terms,
    state: Terms,
    follower_count: Percentiles,
    engagement_rate: Percentiles,
    metro: z.object({ doc_count: z.number() }),
  }),
});

const Named = DirectoryCreatorDetail.partial().required({ pk: true, username: true });
const Stored = z.object({ card: z.record(z.string(), z.unknown()), x: z.record(z.string(), z.unknown()) });

async function sampleFill(elastic: Elastic, index: string): Promise<Fill> {
  const counter = countFilled();
  for (const { source } of await sampleDocuments(elastic, index, SAMPLE)) {
    const { card, x } = Stored.parse(source);
    const row: CreatorRow = Named.parse({ ...x, ...card });
    counter.add(row);
  }
  return counter.fill();
}

/** Reads the statistics of an index. `fill` is what its import counted, if it did. */
export async function readProfile(elastic: Elastic, index: string, fill: Fill | undefined): Promise<IndexProfile> {
  const aggs = {
    ...Object.fromEntries(Object.entries(TOP_FIELDS).map(([name, field]) => [name, { terms: { field, size: TOP } }])),
    ...Object.fromEntries(
      Object.entries(NUMBERS).map(([name, field]) => [name, { percentiles: { field, percents: PERCENTS } }]),
    ),
    metro: { filter: { exists: { field: 'x.metros' } } },
  };
  const path = `/${index}/_search?allow_partial_search_results=false`;
  const bytes = await elastic.post(path, JSON.stringify({ size: 0, track_total_hits: true, aggs }));
  const { hits, aggregations } = Answer.parse(JSON.parse(bytes.toString('utf8')));
  const creators = hits.total.value;
  const share = (count: number) => (creators === 0 ? 0 : count / creators);
  const toShares = ({ buckets }: z.infer<typeof Terms>) =>
    Object.fromEntries(buckets.map(({ key, doc_count }) => [key, share(doc_count)]));
  const { category, country, state, follower_count, engagement_rate, metro } = aggregations;
  return {
    creators,
    fill: fill ?? (await sampleFill(elastic, index)),
    top: { category: toShares(category), country: toShares(country), state: toShares(state) },
    percentiles: { follower_count: follower_count.values, engagement_rate: engagement_rate.values },
    inMetro: share(metro.doc_count),
  };
}
