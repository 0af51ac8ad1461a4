import { z } from 'zod';
import type { Caller } from '../../kit/access/keys/queries.ts';
import { create, get, patch, read, remove } from '../../kit/operation/kit.ts';
import { answersWhere, type ListCall } from '../../kit/operation/list.ts';
import { notFound } from '../../kit/values/errors.ts';
import { type ListWindow, listSchema } from '../../kit/values/page.ts';
import { toWire } from '../../kit/values/wire.ts';
import { changeSearch, removeSearch, saveSearch, startSearch, viewerOf } from './actions.ts';
import { findSavedSearch, savedSearches } from './queries.ts';
import { SavedSearch, SavedSearchCreate, SavedSearchFilter, SavedSearchPatch } from './schema.ts';

const tag = 'Saved searches';
const path = '/v1/saved-searches';
const one = { path: '/v1/saved-searches/{id}', tag, item: SavedSearch } as const;
const byId = z.object({ id: z.string().max(100).describe('Saved search id.') });

type Row = Awaited<ReturnType<typeof savedSearches.get>>;

function itemOf(row: Row, caller: Caller) {
  const { alertEvery, alertMail, looks, ...rest } = row;
  const look = caller.kind === 'session' ? looks[caller.person.id] : undefined;
  const { number = 0, unseen = row.matches } = look ?? {};
  const alert = alertEvery === null ? null : { every: alertEvery, mail: alertMail };
  return { ...toWire(rest), unseen, seen_after: String(number), alert };
}

/** The list as a caller sees it. */
function listFor(caller: Caller) {
  const whereOf = (_context: unknown, { query }: ListCall<ListWindow>) => ({ ...query, ...viewerOf(caller) });
  return answersWhere(savedSearches, whereOf, SavedSearch, (row: Row) => itemOf(row, caller));
}

export const savedSearchOperations = [
  read({
    id: 'list_saved_searches',
    path,
    tag,
    summary: 'Saved searches of the directory',
    description: 'Newest first: shared searches, and for a person also their own.',
    forAgents: { description: 'To run one, search with `saved`.', omits: ['page', 'limit'] },
    query: SavedSearchFilter,
    response: listSchema(SavedSearch),
    handler: async (context, call) => await listFor(call.caller).handler(context, call),
    csv: {
      item: SavedSearch,
      rows: (context, call) => listFor(call.caller).csv.rows(context, call),
    },
  }),
  create({
    id: 'save_search',
    path,
    tag,
    item: SavedSearch,
    summary: 'Save a search of the directory',
    description:
      'Replaces the saved search of the same name, ignoring case. Creators who match now are never new. A brand can have 200 saved searches.',
    forAgents: {
      description: 'Replaces that of the same name.',
      example: { name: 'LA', filters: { city: 'LA' } },
      omits: ['shared', 'alert'],
    },
    directory: true,
    forViewers: true,
    body: SavedSearchCreate,
    errors: ['SUBSCRIPTION_REQUIRED', 'SAVED_SEARCH_LIMIT_REACHED'],
    lookUp: (context, { caller, body }) => startSearch(context, caller.brandId, body.filters),
    apply: async (work, { caller, body }, started) => {
      const id = await saveSearch(work, caller, body, started);
      return itemOf(await savedSearches.get(work.db, work.brandId, id), caller);
    },
  }),
  get({
    ...one,
    id: 'get_saved_search',
    summary: 'One saved search',
    description: 'Includes the number of its matches.',
    // list_saved_searches does the same.
    forAgents: false,
    find: async ({ postgres }, { caller, params: { id } }) => {
      if (!(await findSavedSearch(postgres.db, viewerOf(caller), id))) throw notFound('saved search');
      return itemOf(await savedSearches.get(postgres.db, caller.brandId, id), caller);
    },
  }),
  patch({
    ...one,
    id: 'update_saved_search',
    summary: 'Change a saved search',
    description: 'A value changes a field; null ends the alert. With new filters, it starts again without new matches.',
    forAgents: false,
    directory: true,
    forViewers: true,
    body: SavedSearchPatch,
    errors: ['NOT_FOUND', 'CONFLICT', 'SUBSCRIPTION_REQUIRED'],
    lookUp: async (context, { caller, body: { filters } }) =>
      filters ? await startSearch(context, caller.brandId, filters) : undefined,
    apply: async (work, { caller, params: { id }, body }, started) => {
      await changeSearch(work, caller, { id, body, started });
      return itemOf(await savedSearches.get(work.db, work.brandId, id), caller);
    },
  }),
  remove({
    id: 'delete_saved_search',
    path: one.path,
    tag,
    summary: 'Delete a saved search',
    description: 'Also deletes its matches and its alert.',
    forAgents: false,
    forViewers: true,
    params: byId,
    item: SavedSearch,
    errors: ['NOT_FOUND'],
    apply: async (work, { caller, params: { id } }) => {
      const row = await savedSearches.find(work.db, work.brandId, id);
      await removeSearch(work, caller, id);
      if (!row) throw notFound('saved search');
      return itemOf(row, caller);
    },
  }),
] as const;
