import { readFile } from 'node:fs/promises';
import { z } from 'zod';
import type { Elastic } from '../../../kit/engines/elastic/open.ts';
import { getPlan } from '../../search/plan.ts';
import { CountAnswer, toElasticQuery } from '../../search/query.ts';
import { CreatorSearchQuery } from '../../search/search.shapes.ts';

/** A search that must keep finding what it finds now. */
export const Canary = z
  .object({
    query: z.record(z.string(), z.union([z.string(), z.number(), z.boolean()])),
    min_total: z.number().int().min(0).default(0),
    must_contain: z.array(z.number().int().min(0)).max(1_000).default([]),
  })
  .strict();
export type Canary = z.infer<typeof Canary>;

function toQuery({ query }: Canary): CreatorSearchQuery {
  const texts = Object.fromEntries(Object.entries(query).map(([name, value]) => [name, String(value)]));
  const unknown = Object.keys(texts).find((name) => !(name in CreatorSearchQuery.shape));
  if (unknown !== undefined) throw new Error(`${unknown} is not a parameter of search.`);
  return CreatorSearchQuery.parse(texts);
}

/** Reads a file of canaries, a JSON object a line; the error names the line. */
export async function readCanaries(file: string): Promise<Canary[]> {
  const lines = (await readFile(file, 'utf8')).split('\n');
  return lines.flatMap((line, i) => {
    if (line.trim() === '') return [];
    try {
      const canary = Canary.parse(JSON.parse(line));
      toQuery(canary);
      return [canary];
    } catch (error) {
      const why = error instanceof z.ZodError ? z.prettifyError(error) : error instanceof Error ? error.message : error;
      throw new Error(`Line ${i + 1} of ${file} is not a canary: ${why}`);
    }
  });
}

const Found = CountAnswer.extend({
  hits: CountAnswer.shape.hits.extend({ hits: z.array(z.object({ _id: z.string() })).default([]) }),
});

/** Counts the creators who match, and returns the pks of the first `size`. */
async function find(elastic: Elastic, index: string, filter: object[], size: number) {
  const path = `/${index}/_search?allow_partial_search_results=false`;
  const body = { size, track_total_hits: true, _source: false, query: { bool: { filter } } };
  const bytes = await elastic.post(path, JSON.stringify(body));
  const { total, hits } = Found.parse(JSON.parse(bytes.toString('utf8'))).hits;
  return { total: total.value, pks: new Set(hits.map(({ _id }) => Number(_id))) };
}

/** One sentence for each canary that no longer finds a creator in an index. */
export async function listFailingCanaries(
  elastic: Elastic,
  index: string,
  canaries: readonly Canary[],
): Promise<string[]> {
  const failures: string[] = [];
  for (const canary of canaries) {
    const { min_total, must_contain } = canary;
    const filter = toElasticQuery(getPlan(toQuery(canary), [], 'places').filter, 'followers');
    const name = `The canary ${JSON.stringify(canary.query)}`;
    const { total } = await find(elastic, index, [filter], 0);
    if (total < min_total) failures.push(`${name} finds ${total} creators; it must find at least ${min_total}.`);
    if (must_contain.length === 0) continue;
    const mustContain = { terms: { 'card.pk': must_contain } };
    const { pks } = await find(elastic, index, [filter, mustContain], must_contain.length);
    for (const pk of must_contain) if (!pks.has(pk)) failures.push(`${name} does not find the creator ${pk}.`);
  }
  return failures;
}
