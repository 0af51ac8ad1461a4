import { z } from 'zod';
import type { Snapshot } from './counts.ts';
import { DirectoryCreator, DirectoryCreatorDetail } from './creator.shapes.ts';
import type { Directory } from './directory.ts';
import { type CreatorFreshness, StoredFreshness } from './freshness.ts';
import type { Clause } from './query.ts';

const { following_count, media_count, gender, age } = DirectoryCreatorDetail.shape;
/** Documents omit unknown fields. */
const absent = <T extends z.ZodType>(shape: T) => shape.optional().transform((value) => value ?? null);
const Hits = z.object({
  hits: z.object({
    hits: z.array(
      z.object({
        _source: z.object({
          card: DirectoryCreator,
          x: z.object({
            following_count: absent(following_count),
            media_count: absent(media_count),
            gender: absent(gender),
            age: absent(age),
            ...StoredFreshness.shape,
          }),
        }),
      }),
    ),
  }),
});

export async function findCreator(
  directory: Directory,
  snapshot: Snapshot,
  pk: number,
  filter: readonly Clause[] = [],
): Promise<{ data: DirectoryCreatorDetail; meta: z.infer<typeof CreatorFreshness> } | undefined> {
  const query: Clause = { bool: { filter: [{ term: { 'card.pk': pk } }, ...filter] } };
  const { hits } = await directory.counts.ask(snapshot.index, Hits, { size: 1, query });
  const source = hits.hits[0]?._source;
  if (!source) return undefined;
  const { following_count, media_count, gender, age, ...meta } = source.x;
  return { data: { ...source.card, following_count, media_count, gender, age }, meta };
}
