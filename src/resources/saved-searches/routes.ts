import { z } from 'zod';
import type { Caller } from '../../access/keys/queries.ts';
import { personOf } from '../../access/keys/rules.ts';
import { read } from '../../operation/kit.ts';
import { answersWhere, type ListCall } from '../../operation/list.ts';
import { change, noLookUp, nothing } from '../../operation/operation.ts';
import { notFound } from '../../values/errors.ts';
import { newId } from '../../values/ids.ts';
import type { ListWindow } from '../../values/page.ts';
import { toWire } from '../../values/wire.ts';
import { deleteSavedSearch, lockSavedSearchNamed, putSavedSearch, savedSearches } from './queries.ts';
import { SavedSearch, SavedSearchAnswer, SavedSearchCreate, SavedSearchFilter, SavedSearchList } from './schema.ts';

const tag = 'Directory';
// Viewers save searches too, so these count as reads of the brand.
const ofOneself = { readOnly: true, idempotent: true, destructive: false };
const whose = (caller: Caller) => ({ brandId: caller.brandId, personId: personOf(caller).id });

const listSavedSearches = read({
  id: 'list_saved_searches',
  path: '/v1/saved-searches',
  tag,
  summary: 'Your saved searches of the directory',
  description: 'Newest first.',
  callers: ['session'],
  query: SavedSearchFilter,
  response: SavedSearchList,
  hints: ofOneself,
  handler: answersWhere(
    savedSearches,
    (_context, { caller, query }: ListCall<ListWindow>) => ({ ...query, ...whose(caller) }),
    SavedSearch,
    (row) => toWire(row),
  ).handler,
});

const saveSearch = change({
  id: 'save_search',
  method: 'POST',
  path: '/v1/saved-searches',
  tag,
  summary: 'Save a search of the directory',
  description: 'Replaces your saved search of the same name, ignoring case.',
  callers: ['session'],
  params: nothing,
  query: nothing,
  body: SavedSearchCreate,
  response: SavedSearchAnswer,
  status: 201,
  hints: ofOneself,
  lookUp: noLookUp,
  apply: async ({ db, now, audit }, { caller, body }) => {
    const old = await lockSavedSearchNamed(db, whose(caller), body.name);
    const row = await putSavedSearch(db, { ...whose(caller), ...body, id: newId('ssr', now.getTime()), now });
    audit({ resourceId: row.id, old: old ?? null, new: row });
    return { data: toWire(row) };
  },
});

const deleteSearch = change({
  id: 'delete_saved_search',
  method: 'DELETE',
  path: '/v1/saved-searches/{id}',
  tag,
  summary: 'Delete a saved search',
  description: 'Only your own searches can be deleted.',
  callers: ['session'],
  params: z.object({ id: z.string().max(100).describe('Saved search id.') }),
  query: nothing,
  body: nothing,
  response: SavedSearchAnswer,
  errors: ['NOT_FOUND'],
  hints: { ...ofOneself, destructive: true },
  lookUp: noLookUp,
  apply: async ({ db, audit }, { caller, params: { id } }) => {
    const row = await deleteSavedSearch(db, whose(caller), id);
    if (!row) throw notFound('saved search');
    audit({ resourceId: id, old: row, new: null });
    return { data: toWire(row) };
  },
});

export const savedSearchOperations = [listSavedSearches, saveSearch, deleteSearch] as const;
