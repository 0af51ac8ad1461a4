import { z } from 'zod';
import { pksOf } from './look-up-schema.ts';
import { DirectoryCreator } from './schema.ts';

/** Creators that a search may be similar to. */
const SEEDS_AT_MOST = 10;
/** Further ones have too little in common to be worth a page. */
export const SIMILAR_AT_MOST = 1_000;

// Without an example: the docs page would send it with all other parameters.
export const similarTo = pksOf(SEEDS_AT_MOST).describe(
  'Creators similar to these: up to 10 keys, separated by commas. The 1,000 most similar, best first.',
);

export const Similarity = z
  .array(
    z.object({
      pk: DirectoryCreator.shape.pk.describe('Key of a creator of the page.'),
      score: z
        .number()
        .describe('How similar the creator is: 1 for the most similar one of the search, and less for the others.')
        .meta({ example: 0.82 }),
      shared: z
        .array(z.string())
        .describe('What the creator has in common with one of `similar_to`, as a kind and a value.')
        .meta({ example: ['niche:trail running', 'metro:bay-area'] }),
    }),
  )
  .meta({ id: 'CreatorSimilarity' });
export type Similarity = z.infer<typeof Similarity>;
