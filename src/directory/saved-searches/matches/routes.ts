import { z } from 'zod';
import { requirePerson } from '../../../kit/access/keys/rules.ts';
import { act, read } from '../../../kit/operation/kit.ts';
import { notFound } from '../../../kit/values/errors.ts';
import { filterOf } from '../../search/forced.ts';
import { findUsernames } from '../../search/pks.ts';
import { viewerOf } from '../actions.ts';
import { findSavedSearch } from '../queries.ts';
import { listMatches, putLook } from './queries.ts';
import { MatchFilter, SavedSearchMatches, SavedSearchSeen } from './schema.ts';

const tag = 'Saved searches';
const byId = z.object({ id: z.string().max(100).describe('Id of a saved search.') });

export const matchOperations = [
  read({
    id: 'list_saved_search_matches',
    path: '/v1/saved-searches/{id}/matches',
    tag,
    summary: 'What is new for a saved search',
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
      if (!(await findSavedSearch(postgres.db, viewerOf(caller), id))) throw notFound('saved search');
      const rows = await listMatches(postgres.db, id, Number(after), limit + 1);
      const page = rows.slice(0, limit);
      const pks = page.map(({ pk }) => pk);
      const usernames = await findUsernames(directory, pks, await filterOf(directory, caller));
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
      if (!(await findSavedSearch(db, viewerOf(caller), id))) throw notFound('saved search');
      await putLook(db, id, requirePerson(caller).id, Number(after));
      return { id };
    },
  }),
] as const;
