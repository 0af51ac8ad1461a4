import { z } from 'zod';
import { clampedParameter, timestamp } from '../../../kit/values/page.ts';
import { fromOutside } from '../../../kit/values/untrusted.ts';

const AFTER = /^\d{1,15}$/;
const position = z.string().regex(AFTER, 'must be the `next_after` of an earlier answer');

const MOST_MATCHES = 1_000;
export const MatchFilter = z.object({
  after: position.optional().describe('Only later matches: `next_after` of an earlier answer.').meta({ example: '12' }),
  limit: clampedParameter(MOST_MATCHES)
    .default(100)
    .describe('Most matches in one answer; larger values are clamped to 1,000.'),
});
export type MatchFilter = z.output<typeof MatchFilter>;

const SavedSearchMatch = z
  .object({
    pk: z.number().int().describe('Key of the creator who began to match.').meta({ example: 173560420 }),
    username: fromOutside(
      z.string().describe('Username of the creator who began to match.').meta({ example: 'gordonramen' }),
    ),
    first_matched_at: timestamp
      .describe('When the match was found. A creator who leaves and comes back keeps the first time.')
      .meta({ example: '2026-11-20T06:00:05.000Z' }),
  })
  .meta({ id: 'SavedSearchMatch' });

export const SavedSearchMatches = z
  .object({
    data: z.array(SavedSearchMatch).describe('Matches in the order in which they were found.'),
    has_more: z.boolean().describe('Whether there are later matches.').meta({ example: false }),
    next_after: z
      .string()
      .describe('Position after the last match of this answer: send it as `after` in the next call.')
      .meta({ example: '12' }),
  })
  .meta({ id: 'SavedSearchMatches' });

export const SavedSearchSeen = z.object({
  after: position.describe('Position up to which the person has looked, `next_after` of the matches.'),
});
