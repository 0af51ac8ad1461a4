import { z } from 'zod';
import type { Counts, Snapshot } from './counts.ts';
import type { Interpretation } from './interpretation.ts';

const SHOWN = 10;

const Words = z.array(z.object({ text: z.string(), options: z.array(z.object({ text: z.string() })) }));
const Answer = z.object({
  suggest: z.object({ one: Words, two: Words }),
});

/** `missing` leaves out words that the directory has. */
type SuggestMode = 'always' | 'missing';

const near = (max_edits: number, min_word_length: number, suggest_mode: SuggestMode) => ({
  term: {
    field: 'q_all',
    suggest_mode,
    sort: 'frequency',
    max_edits,
    min_word_length,
    prefix_length: 2,
    size: SHOWN,
    shard_size: 1_000,
    accuracy: 0,
  },
});

/** For each word of a text the most frequent other words that a search with typing errors matches too. */
export async function findTypos(
  counts: Counts,
  snapshot: Snapshot,
  text: string,
  mode: SuggestMode = 'always',
): Promise<NonNullable<Interpretation['typos']>> {
  const body = { size: 0, track_total_hits: false, suggest: { text, one: near(1, 4, mode), two: near(2, 8, mode) } };
  const { one, two } = (await counts.ask(snapshot.index, Answer, body)).suggest;
  return one.map(({ text: word, options }, i) => {
    const found = [...word].length < 8 ? options : (two[i]?.options ?? []);
    return { word, matched: found.map((option) => option.text) };
  });
}
