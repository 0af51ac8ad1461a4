import { z } from 'zod';
import type { Caller } from '../../kit/access/keys/callers.ts';
import { create, get, patch, read, remove } from '../../kit/operation/kit.ts';
import { answersWhere, type ListCall } from '../../kit/operation/list.ts';
import { noun } from '../../kit/operation/noun.ts';
import { Email } from '../../kit/values/email.ts';
import { notFound } from '../../kit/values/errors.ts';
import { createdAt, idField, updatedAt } from '../../kit/values/fields.ts';
import { type ListWindow, listSchema, UtcListQuery } from '../../kit/values/page.ts';
import { toWire } from '../../kit/values/wire.ts';
import { matchOperations } from './matches.api.ts';
import { matchSavedSearches } from './matches.jobs.ts';
import { alertAboutSavedSearches, forgetSavedSearches } from './saved-searches.jobs.ts';
import { savedSearchMails } from './saved-searches.mails.ts';
import {
  changeSearch,
  findSavedSearch,
  removeSearch,
  savedSearchRows,
  saveSearch,
  startSearch,
  toViewer,
} from './saved-searches.ts';

/** A hundred email addresses are the longest value that a parameter of search takes. */
const MAX_VALUE = 40_000;
const MAX_MAIL = 20;

const name = z.string().trim().min(1).max(100).describe('Name of the search.').meta({ example: 'Ramen in SF' });
const filters = z
  .record(z.string().min(1).max(50), z.string().max(MAX_VALUE))
  .describe('Filters and order of search, as texts. Parameters of one call, such as `page`, are not allowed.')
  .meta({ example: { city: 'San Francisco, CA', q: 'ramen' } });
const shared = z
  .boolean()
  .describe('Whether the whole brand and its keys may run it. Searches saved with a key always are.')
  .meta({ example: true });

const every = z
  .enum(['import', 'day', 'week'])
  .describe('How often: after each import of the directory, each UTC day, or each week from Monday.')
  .meta({ example: 'day' });
const mail = z
  .array(Email)
  .min(1)
  .max(MAX_MAIL)
  .describe("Addresses of the brand's people.")
  .meta({ example: ['robin@acme.example'] });
const alert = z
  .object({ every, mail })
  .nullable()
  .describe('One email a period that had new matches, with their number; null for none.');

export const SavedSearch = z
  .object({
    id: idField('ssr', 'Saved search id.'),
    name,
    filters,
    shared,
    by: z
      .string()
      .nullable()
      .describe('Person who saved it; null if a key did.')
      .meta({ example: 'robin@acme.example' }),
    tracked: z
      .boolean()
      .describe('Whether new matches are found. False with `similar_to`, or if over 500,000 creators matched.')
      .meta({ example: true }),
    matches: z.number().int().describe('Creators who began to match since it was saved.').meta({ example: 12 }),
    unseen: z
      .number()
      .int()
      .describe('Matches since the person last looked in the web app; for a key, all of them.')
      .meta({ example: 3 }),
    seen_after: z
      .string()
      .describe('Position of the first unseen match: send it as `after` to list the unseen matches.')
      .meta({ example: '9' }),
    problem: z
      .string()
      .nullable()
      .describe('Why it cannot be run, such as a deleted list; null if it can.')
      .meta({ example: null }),
    alert,
    created_at: createdAt,
    updated_at: updatedAt,
  })
  .meta({ id: 'SavedSearch' });

export const SavedSearchCreate = z
  .object({ name, filters, shared: shared.optional(), alert: alert.optional() })
  .meta({ id: 'SavedSearchCreate' });
export type SavedSearchCreate = z.output<typeof SavedSearchCreate>;

export const SavedSearchPatch = z
  .object({
    name: name.optional(),
    filters: filters.optional(),
    shared: shared.optional(),
    alert: alert.optional(),
  })
  .meta({ id: 'SavedSearchPatch' });
export type SavedSearchPatch = z.output<typeof SavedSearchPatch>;

const SavedSearchFilter = z.object({ ...UtcListQuery });

const tag = 'Saved searches';
const path = '/v1/saved-searches';
const one = { path: '/v1/saved-searches/{id}', tag, item: SavedSearch } as const;
const byId = z.object({ id: z.string().max(100).describe('Saved search id.') });

type Row = Awaited<ReturnType<typeof savedSearchRows.get>>;

function toItem(row: Row, caller: Caller) {
  const { alertEvery, alertMail, looks, ...rest } = row;
  const look = caller.kind === 'session' ? looks[caller.person.id] : undefined;
  const { number = 0, unseen = row.matches } = look ?? {};
  const alert = alertEvery === null ? null : { every: alertEvery, mail: alertMail };
  return { ...toWire(rest), unseen, seen_after: String(number), alert };
}

/** The list as a caller sees it. */
function listFor(caller: Caller) {
  const toWhere = (_context: unknown, { query }: ListCall<ListWindow>) => ({ ...query, ...toViewer(caller) });
  return answersWhere(savedSearchRows, toWhere, SavedSearch, (row: Row) => toItem(row, caller));
}

const savedSearchOperations = [
  read({
    id: 'list_saved_searches',
    path,
    tag,
    summary: 'List saved searches',
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
    apply: async (work, { caller, body }, tracking) => {
      const id = await saveSearch(work, caller, body, tracking);
      return toItem(await savedSearchRows.get(work.db, work.brandId, id), caller);
    },
  }),
  get({
    ...one,
    id: 'get_saved_search',
    summary: 'Get a saved search',
    description: 'Includes the number of its matches.',
    // list_saved_searches does the same.
    forAgents: { isListed: false },
    find: async ({ postgres }, { caller, params: { id } }) => {
      if (!(await findSavedSearch(postgres.db, toViewer(caller), id))) throw notFound('saved search');
      return toItem(await savedSearchRows.get(postgres.db, caller.brandId, id), caller);
    },
  }),
  patch({
    ...one,
    id: 'update_saved_search',
    summary: 'Change a saved search',
    description: 'A value changes a field; null ends the alert. With new filters, it starts again without new matches.',
    forAgents: { isListed: false },
    directory: true,
    forViewers: true,
    body: SavedSearchPatch,
    errors: ['NOT_FOUND', 'CONFLICT', 'SUBSCRIPTION_REQUIRED'],
    lookUp: async (context, { caller, body: { filters } }) =>
      filters ? await startSearch(context, caller.brandId, filters) : undefined,
    apply: async (work, { caller, params: { id }, body }, tracking) => {
      await changeSearch(work, caller, { id, body, started: tracking });
      return toItem(await savedSearchRows.get(work.db, work.brandId, id), caller);
    },
  }),
  remove({
    id: 'delete_saved_search',
    path: one.path,
    tag,
    summary: 'Delete a saved search',
    description: 'Also deletes its matches and its alert.',
    forAgents: { isListed: false },
    forViewers: true,
    params: byId,
    item: SavedSearch,
    errors: ['NOT_FOUND'],
    apply: async (work, { caller, params: { id } }) => {
      const row = await savedSearchRows.find(work.db, work.brandId, id);
      await removeSearch(work, caller, id);
      if (!row) throw notFound('saved search');
      return toItem(row, caller);
    },
  }),
] as const;

export const savedSearches = noun({
  name: 'saved-searches',
  tag: { name: 'Saved searches', about: 'Searches of the directory, saved under a name, and who began to match them.' },
  ids: { 'saved-searches': 'ssr' },
  operations: [...savedSearchOperations, ...matchOperations],
  jobs: [matchSavedSearches, alertAboutSavedSearches, forgetSavedSearches],
  mails: savedSearchMails,
});
