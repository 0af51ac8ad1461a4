import { z } from 'zod';
import type { Counts, Snapshot } from './counts.ts';
import type { Interpretation } from './interpretation.ts';
import type { Clause } from './query.ts';
import { countWords } from './word-counts.ts';

const SHOWN = 10;
/** A word that fewer creators have may be the name of one of them, which only a charged result tells. */
const SHARED_BY = 5;
/** Candidates of a word: those of a part of the directory may be rare in the whole of it. */
const CANDIDATES = 50;
const CANDIDATES_OF_PART = 1_000;
const MOST_CANDIDATES = 4_000;

const Words = z.array(z.object({ text: z.string(), options: z.array(z.object({ text: z.string() })) }));
const Answer = z.object({
  suggest: z.object({ one: Words, two: Words }),
});

/** `missing` leaves out words that the creators have. */
type SuggestMode = 'always' | 'missing';

const near = (max_edits: number, min_word_length: number, size: number) => ({
  term: {
    field: 'q_all',
    suggest_mode: 'always',
    sort: 'frequency',
    max_edits,
    min_word_length,
    prefix_length: 2,
    size,
    shard_size: CANDIDATES_OF_PART,
    // Any word, however frequent.
    max_term_freq: 2_000_000_000,
    accuracy: 0,
  },
});

/**
 * For each word of a text the most frequent other words that a search with typing errors matches too. The suggester knows
 * the words of the whole index; only those that several creators within `bound` have are returned.
 */
export async function findTypos(
  counts: Counts,
  snapshot: Snapshot,
  text: string,
  bound: readonly Clause[],
  mode: SuggestMode = 'always',
): Promise<NonNullable<Interpretation['typos']>> {
  const most = bound.length === 0 ? CANDIDATES : CANDIDATES_OF_PART;
  const size = Math.min(most, Math.floor(MOST_CANDIDATES / Math.max(1, text.split(/\s+/u).length)));
  const body = { size: 0, track_total_hits: false, suggest: { text, one: near(1, 4, size), two: near(2, 8, size) } };
  const { one, two } = (await counts.ask(snapshot.index, Answer, body)).suggest;
  const candidates = one.map(({ text: word, options }, i) => ({
    word,
    others: ([...word].length < 8 ? options : (two[i]?.options ?? [])).map((option) => option.text),
  }));
  const words = new Set(candidates.flatMap(({ word, others }) => [word, ...others]));
  const { creators } = await countWords(counts, snapshot, words, bound);
  const getCount = (word: string) => creators.get(word) ?? 0;
  return candidates.map(({ word, others }) => {
    if (mode === 'missing' && getCount(word) > 0) return { word, matched: [] };
    const sharedWords = others.filter((other) => getCount(other) >= SHARED_BY);
    const orderedWords = sharedWords.sort((a, b) => getCount(b) - getCount(a) || (a < b ? -1 : 1));
    return { word, matched: orderedWords.slice(0, SHOWN) };
  });
}
