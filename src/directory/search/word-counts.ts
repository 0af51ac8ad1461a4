import { z } from 'zod';
import type { Counts, Snapshot } from './counts.ts';
import { type Clause, CountAnswer } from './query.ts';

const Answer = CountAnswer.extend({
  aggregations: z.object({ words: z.object({ buckets: z.array(z.object({ doc_count: z.number() })) }) }),
});

/** How many of the creators within `bound` have each word of the text fields, and how many there are. */
export async function countWords(
  counts: Counts,
  { index }: Snapshot,
  words: ReadonlySet<string>,
  bound: readonly Clause[],
): Promise<{ total: number; creators: ReadonlyMap<string, number> }> {
  if (words.size === 0) return { total: 0, creators: new Map() };
  const filters = [...words].map((word) => ({ term: { q_all: word } }));
  const { hits, aggregations } = await counts.ask(index, Answer, {
    size: 0,
    track_total_hits: true,
    query: { bool: { filter: bound } },
    aggs: { words: { filters: { filters } } },
  });
  const countsByWord = [...words].map((word, i) => [word, aggregations.words.buckets[i]?.doc_count ?? 0] as const);
  return { total: hits.total.value, creators: new Map(countsByWord) };
}
