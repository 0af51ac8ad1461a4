import { z } from 'zod';
import { requirePerson } from '../../kit/access/keys/identify.ts';
import { act, read } from '../../kit/operation/kit.ts';
import { notFound } from '../../kit/values/errors.ts';
import { clampedParameter, timestamp } from '../../kit/values/page.ts';
import { fromOutside } from '../../kit/values/untrusted.ts';
import { readForcedClauses } from '../search/forced-filters.ts';
import { findUsernames } from '../search/pks.ts';
import { measureLookUp } from '../search/search-work.ts';
import { listMatches, putLook } from './matches.ts';
import { findSavedSearch, toViewer } from './saved-searches.ts';

const AFTER = /^\d{1,15}$/;
const position = z.string().regex(AFTER, 'must be the `next_after` of an earlier answer');

const MOST_MATCHES = 1_000;
const MatchFilter = z.object({
  after: position.optional().describe('Only later matches: `next_after` of an earlier answer.').meta({ example: '12' }),
  limit: clampedParameter(MOST_MATCHES)
    .default(100)
    .describe('Most matches in one answer; larger values are clamped to 1,000.'),
});

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

const SavedSearchMatches = z
  .object({
    data: z.array(SavedSearchMatch).describe('Matches in the order in which they were found.'),
    has_more: z.boolean().describe('Whether there are later matches.').meta({ example: false }),
    next_after: z
      .string()
      .describe('Position after the last match of this answer: send it as `after` in the next call.')
      .meta({ example: '12' }),
  })
  .meta({ id: 'SavedSearchMatches' });

const SavedSearchSeen = z.object({
  after: position.describe('Position up to which the person has looked, `next_after` of the matches.'),
});

const tag = 'Saved searches';
const byId = z.object({ id: z.string().max(100).describe('Id of a saved search.') });

export const matchOperations = [
  read({
    id: 'list_saved_search_matches',
    path: '/v1/saved-searches/{id}/matches',
    tag,
    summary: 'List new matches of a saved search',
    description:
      'Creators who began to match since it was saved, each once, in the order in which they were found. Free. Send ' +
      '`next_after` as `after` to continue. Creators whom the directory no longer has are left out.',
    forAgents: {
      description: 'Creators who began to match since it was saved.',
      example: { id: 'ssr_…' },
      omits: ['limit'],
    },
    directory: true,
    query: MatchFilter,
    response: SavedSearchMatches,
    errors: ['NOT_FOUND', 'SUBSCRIPTION_REQUIRED'],
    handler: async ({ postgres, directory }, { caller, params: { id }, query: { after = '0', limit } }) => {
      if (!(await findSavedSearch(postgres.db, toViewer(caller), id))) throw notFound('saved search');
      const rows = await listMatches(postgres.db, id, Number(after), limit + 1);
      const page = rows.slice(0, limit);
      const pks = page.map(({ pk }) => pk);
      const bound = await readForcedClauses(directory, caller);
      const usernames = await directory.work.run(caller.brandId, measureLookUp({ pks }), () =>
        findUsernames(directory, pks, bound),
      );
      return {
        data: page.flatMap(({ pk, firstMatchedAt }) => {
          const username = usernames.get(pk);
          return username === undefined ? [] : [{ pk, username, first_matched_at: firstMatchedAt.toISOString() }];
        }),
        has_more: rows.length > limit,
        next_after: String(page.at(-1)?.number ?? after),
      };
    },
  }),
  act({
    id: 'mark_saved_search_seen',
    path: '/v1/saved-searches/{id}/seen',
    tag,
    summary: 'Mark matches as seen',
    description: 'Up to a position; `unseen` counts only later ones from then on.',
    callers: ['session'],
    forViewers: true,
    body: SavedSearchSeen,
    item: z.object({ id: byId.shape.id }),
    errors: ['NOT_FOUND'],
    hints: { idempotent: true },
    apply: async ({ db }, { caller, params: { id }, body: { after } }) => {
      if (!(await findSavedSearch(db, toViewer(caller), id))) throw notFound('saved search');
      await putLook(db, id, requirePerson(caller).id, Number(after));
      return { id };
    },
  }),
] as const;
