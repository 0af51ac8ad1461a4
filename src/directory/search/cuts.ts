import { z } from 'zod';
import { addMeta, getMeta } from '../../kit/engines/elastic/indices.ts';
import type { Elastic } from '../../kit/engines/elastic/open.ts';
import { getOrder, SORTS } from './order.ts';

/** About 2,000 creators lie between two cuts at a million creators. */
const PARTS = 512;
/** An import may wait longer than a search. */
const PATIENCE_MS = 300_000;
/** Significant digits of a cut: its exact place does not matter, and the cluster's state holds every cut. */
const DIGITS = 8;

export const splitPercents = (parts: number) => Array.from({ length: parts - 1 }, (_, i) => ((i + 1) * 100) / parts);

export const Percentiles = z.object({ values: z.record(z.string(), z.number().nullable()) });
export const listValues = (percentiles: z.infer<typeof Percentiles>) =>
  Object.values(percentiles.values).filter((value) => value !== null);

/** Values that divide the creators who have one into parts of about the same size, lowest first. */
const Cuts = z.array(z.number());
const Answer = z.object({ aggregations: z.object({ values: Percentiles }) });
const Meta = z.object({ cuts: z.record(z.string(), Cuts) });

const FIELDS = new Set(SORTS.flatMap((sort) => getOrder(sort).field ?? []));

async function measureCuts(elastic: Elastic, index: string, field: string, options = {}): Promise<number[]> {
  const aggs = { values: { percentiles: { field, percents: splitPercents(PARTS) } } };
  const path = `/${index}/_search?allow_partial_search_results=false`;
  const bytes = await elastic.post(path, JSON.stringify({ size: 0, track_total_hits: false, aggs }), options);
  const { aggregations } = Answer.parse(JSON.parse(bytes.toString('utf8')));
  const cuts = listValues(aggregations.values).map((value) => Number(value.toPrecision(DIGITS)));
  return [...new Set(cuts)].sort((a, b) => a - b);
}

/** Stores the cuts of every sort field in the mapping of a new index, so that no search has to measure them. */
export async function storeCuts(elastic: Elastic, index: string): Promise<void> {
  const cuts: Record<string, number[]> = {};
  for (const field of FIELDS) cuts[field] = await measureCuts(elastic, index, field, { timeoutMs: PATIENCE_MS });
  await addMeta(elastic, index, { cuts });
}

/** The stored cuts of a field; measured if the index was built before cuts were stored. */
export async function readCuts(elastic: Elastic, index: string, field: string): Promise<number[]> {
  const storedCuts = Meta.safeParse(await getMeta(elastic, index)).data?.cuts[field];
  return storedCuts ?? (await measureCuts(elastic, index, field));
}
