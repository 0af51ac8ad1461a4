import { z } from 'zod';

const count = (meaning: string, example: number) => z.number().int().describe(meaning).meta({ example });
const ms = (meaning: string, example: number) => z.number().nullable().describe(meaning).meta({ example });

export const SearchUsageFilter = z.object({
  from: z.iso.date().describe('First UTC day of the searches; by default 13 days before `to`.').optional(),
  to: z.iso.date().describe('Last UTC day of the searches, inclusive; today by default.').optional(),
  key: z.string().max(100).describe('Only searches with the key of this id.').optional(),
});
export type SearchUsageFilter = z.output<typeof SearchUsageFilter>;

export const SearchUsage = z
  .object({
    pages: count('Pages of creators that searches answered, look-ups included.', 420),
    walks: count('Walks that began.', 3),
    previews: count('Previews, which are free.', 96),
    empty: count('Pages and walks that found no creator.', 12),
    credits: count('Credits that these searches cost.', 4_230),
    previewed: count('Different searches that were previewed.', 40),
    previewed_then_searched: count('Of those, how many were searched or walked after their first preview.', 18),
    p50_ms: ms('Half of the pages took at most this many milliseconds; null without pages.', 9.2),
    p95_ms: ms('95% of the pages took at most this many milliseconds; null without pages.', 31.5),
    filters: z
      .array(
        z.object({
          filter: z.string().describe('Parameter of search.').meta({ example: 'city' }),
          searches: count('Pages, walks and previews that used it.', 300),
          empty: count('Of those, how many found no creator.', 4),
        }),
      )
      .describe('Filters that were used, most often first.'),
  })
  .meta({ id: 'SearchUsage' });
export type SearchUsage = z.input<typeof SearchUsage>;
