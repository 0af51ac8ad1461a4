import { z } from 'zod';
import type { Caller } from '../../kit/access/keys/callers.ts';
import type { Context } from '../../kit/operation/context.ts';
import { act, create, get, list, patch, read, remove } from '../../kit/operation/kit.ts';
import { noun } from '../../kit/operation/noun.ts';
import { nothing } from '../../kit/operation/operation.ts';
import { upload } from '../../kit/operation/upload.ts';
import { createdAt, idField, updatedAt } from '../../kit/values/fields.ts';
import { listSchema, PageQuery, timestamp, toPage, toPagination } from '../../kit/values/page.ts';
import { omitUndefined } from '../../kit/values/patch.ts';
import { toWire } from '../../kit/values/wire.ts';
import { DirectoryCreator } from '../search/creator.shapes.ts';
import { findCards } from '../search/pks.ts';
import { measureLookUp } from '../search/search-work.ts';
import { listOnRoster } from './list-filter.ts';
import {
  addCreators,
  createList,
  creatorLists,
  deleteList,
  findNamed,
  listCreators,
  MAX_AT_ONCE,
  receiveNames,
  removeCreators,
  searchPks,
  updateList,
} from './lists.ts';

const name = z.string().trim().min(1).max(200).describe('Name of the list.').meta({ example: 'Contacted in March' });
const note = z
  .string()
  .trim()
  .max(2_000)
  .nullable()
  .describe('Text about the list; null for none.')
  .meta({ example: 'Wave 1' });
const creatorCount = z.number().int().describe('How many creators the list has.').meta({ example: 420 });

const CreatorList = z
  .object({
    id: idField('lst', 'List id.'),
    name,
    note,
    creators: creatorCount,
    created_at: createdAt,
    updated_at: updatedAt,
  })
  .meta({ id: 'CreatorList' });

const search = z
  .record(z.string().min(1).max(50), z.string().max(5_000))
  .describe(
    'Search parameters, as texts. Every match is put on the list, so pages, `walk` and `preview` are not allowed.',
  )
  .meta({ example: { city: 'Bay Area', follower_max: '20000' } });

const CreatorListCreate = z
  .object({ name, note: note.optional(), search: search.optional() })
  .meta({ id: 'CreatorListCreate' });
const CreatorListPatch = z.object({ name: name.optional(), note: note.optional() }).meta({ id: 'CreatorListPatch' });

const pk = z.number().int().min(0).max(Number.MAX_SAFE_INTEGER);
const pks = z
  .array(pk)
  .max(MAX_AT_ONCE)
  .describe('Creators, by `pk`.')
  .meta({ example: [173_560_420] });
const usernames = z
  .array(z.string().trim().min(1).max(500))
  .max(MAX_AT_ONCE)
  .describe('Usernames, with or without `@`, or addresses of Instagram profiles; case is ignored.')
  .meta({ example: ['gordonramen'] });

const CreatorsToAdd = z
  .object({ pks: pks.default([]), usernames: usernames.default([]) })
  .refine(({ pks: these, usernames: those }) => these.length + those.length > 0, 'must have pks or usernames')
  .refine(
    ({ pks: these, usernames: those }) => these.length + those.length <= MAX_AT_ONCE,
    `must have at most ${MAX_AT_ONCE} creators`,
  )
  .meta({ id: 'CreatorsToAdd' });

const CreatorsToRemove = z
  .object({ pks: pks.min(1).describe('Creators to remove from the list. By `pk`.') })
  .meta({ id: 'CreatorsToRemove' });

const CreatorsAdded = z
  .object({
    id: idField('lst', 'Id of the list to which creators were added.'),
    added: z.number().int().describe('How many creators are new on the list.').meta({ example: 12 }),
    creators: creatorCount,
    not_found: z
      .object({
        pks: z.array(pk).describe('Given `pk`s that the directory lacks.').meta({ example: [] }),
        usernames: z.array(z.string()).describe('Given usernames that the directory lacks.').meta({ example: [] }),
      })
      .describe('Values that the directory does not have, which were ignored. At most 1,000 of each.'),
  })
  .meta({ id: 'CreatorsAdded' });

const CreatorsRemoved = z
  .object({
    id: idField('lst', 'Id of the list from which creators were removed.'),
    removed: z.number().int().describe('How many creators were removed from the list.').meta({ example: 3 }),
    creators: creatorCount,
  })
  .meta({ id: 'CreatorsRemoved' });

const ListedCreator = z
  .object({
    pk: z.number().int().describe('The creator on the list.').meta({ example: 173_560_420 }),
    added_at: timestamp.describe('When the creator was put on the list.').meta({ example: '2026-03-02T09:30:00.000Z' }),
    by: z
      .string()
      .nullable()
      .describe('Person or API key that put the creator on the list; null if unknown.')
      .meta({ example: 'robin@acme.example' }),
    creator: DirectoryCreator.nullable().describe('The card of search; null if the directory no longer has it.'),
    on_roster: z
      .boolean()
      .describe("Whether the creator is on the brand's roster, by username or email address.")
      .meta({ example: false }),
  })
  .meta({ id: 'ListedCreator' });
const ListedCreatorFilter = z.object({ ...PageQuery });
const ListedCreators = listSchema(ListedCreator).meta({ id: 'ListedCreators' });

const tag = 'Lists';
const all = { path: '/v1/lists', tag, item: CreatorList } as const;
const one = { path: '/v1/lists/{id}', tag, item: CreatorList } as const;
const creators = { path: '/v1/lists/{id}/creators', tag } as const;
const byId = z.object({ id: z.string().max(100).describe('List id.') });

/** Searches on this process see a change at once. */
const afterwards = async ({ directory }: Context, { caller, params }: { caller: Caller; params: { id: string } }) =>
  directory.lists.changed(caller.brandId, params.id);

const hints = { readOnly: false, idempotent: true, destructive: false };

const listOperations = [
  list({
    ...all,
    id: 'list_lists',
    summary: 'List lists of creators',
    description: 'Newest first.',
    rows: creatorLists,
    itemOf: (row) => toWire(row),
  }),
  create({
    ...all,
    id: 'create_list',
    summary: 'Create a list of creators',
    description:
      'Creates an empty list, or one with every match of a `search`. A brand can have 200 lists of up to 100,000 creators.',
    forAgents: {
      description: 'Empty, or with every match of a `search`.',
      example: { name: 'Contacted', search: { city: 'LA' } },
      omits: ['note'],
    },
    directory: true,
    body: CreatorListCreate,
    errors: ['SUBSCRIPTION_REQUIRED', 'LIST_LIMIT_REACHED', 'LIST_FULL', 'CONFLICT'],
    lookUp: (context, { caller, body: { search } }) =>
      search ? searchPks(context, caller, search) : Promise.resolve([]),
    apply: async (work, { caller, body }, pks) => toWire(await createList(work, body, { pks, by: caller.keyId })),
  }),
  get({
    ...one,
    id: 'get_list',
    summary: 'Get a list',
    description: 'Includes the number of its creators.',
    // list_lists does the same.
    forAgents: { isListed: false },
    find: async ({ postgres }, { caller, params }) =>
      toWire(await creatorLists.get(postgres.db, caller.brandId, params.id)),
  }),
  patch({
    ...one,
    id: 'update_list',
    summary: 'Rename a list',
    description: 'A value changes a field; null clears the note.',
    forAgents: { isListed: false },
    body: CreatorListPatch,
    errors: ['NOT_FOUND'],
    apply: async ({ db, now, brandId, audit }, { params: { id }, body }) => {
      const old = await creatorLists.lock(db, brandId, id);
      const row = await updateList(db, brandId, id, { ...omitUndefined(body), updatedAt: now });
      audit({ resourceId: id, old, new: row });
      return toWire(row);
    },
  }),
  remove({
    id: 'delete_list',
    path: '/v1/lists/{id}',
    tag,
    summary: 'Delete a list',
    description: 'Searches that name the list are then refused.',
    forAgents: { isListed: false },
    item: CreatorList,
    errors: ['NOT_FOUND'],
    hints: { ...hints, destructive: true },
    afterwards,
    apply: async ({ db, brandId, audit }, { params: { id } }) => {
      const row = await creatorLists.lock(db, brandId, id);
      await deleteList(db, brandId, id);
      audit({ resourceId: id, old: row, new: null });
      return toWire(row);
    },
  }),
  read({
    ...creators,
    id: 'list_listed_creators',
    summary: 'List the creators on a list',
    description:
      'Last added first, with the same fields as in a search. To filter or sort them, search with `in_list`.',
    // search_creators with in_list does the same.
    forAgents: { isListed: false },
    directory: true,
    query: ListedCreatorFilter,
    response: ListedCreators,
    errors: ['NOT_FOUND', 'SUBSCRIPTION_REQUIRED'],
    handler: async ({ postgres, directory }, { caller, params, query }) => {
      const { creators: total } = await creatorLists.get(postgres.db, caller.brandId, params.id);
      const page = toPage(query);
      const rows = await listCreators(postgres.db, caller.brandId, params.id, page);
      const pks = rows.map(({ pk }) => pk);
      const cards = await directory.work.run(caller.brandId, measureLookUp({ pks }), () => findCards(directory, pks));
      const onRoster = await listOnRoster(postgres.db, caller.brandId, cards);
      return {
        data: rows.map((row) => ({
          ...toWire(row),
          creator: cards.get(row.pk) ?? null,
          on_roster: onRoster.has(row.pk),
        })),
        pagination: toPagination(page, total),
      };
    },
  }),
  act({
    ...creators,
    id: 'add_to_list',
    summary: 'Add creators to a list',
    description: 'Adds up to 1,000 creators of the directory, by `pk` or username. Adding them again changes nothing.',
    forAgents: { description: 'Up to 1,000.', example: { id: 'lst_…', pks: [2_566_083] } },
    directory: true,
    body: CreatorsToAdd,
    item: CreatorsAdded,
    errors: ['NOT_FOUND', 'SUBSCRIPTION_REQUIRED', 'LIST_FULL'],
    hints,
    lookUp: (context, { caller, body }) => findNamed(context, caller.brandId, body),
    afterwards,
    apply: async (work, { caller, params }, matches) => await addCreators(work, params.id, caller.keyId, matches),
  }),
  upload({
    id: 'add_file_to_list',
    method: 'POST',
    path: '/v1/lists/{id}/creators/csv',
    tag,
    summary: 'Add creators to a list from a CSV',
    description:
      'Send multipart/form-data with the file as `file`: up to 20 MB, with a header row and a column `pk` or `username`.',
    forAgents: { isListed: false },
    callers: ['brand'],
    directory: true,
    params: byId,
    query: nothing,
    body: nothing,
    response: z.object({ data: CreatorsAdded }),
    errors: ['NOT_FOUND', 'SUBSCRIPTION_REQUIRED', 'LIST_FULL', 'PAYLOAD_TOO_LARGE', 'UNSUPPORTED_MEDIA_TYPE'],
    hints,
    receive: receiveNames,
    release: async () => undefined,
    apply: async (work, { caller, params }, matches) => await addCreators(work, params.id, caller.keyId, matches),
    answer: (_context, data) => ({ data }),
  }),
  remove({
    ...creators,
    id: 'remove_from_list',
    summary: 'Remove creators from a list',
    description: 'Takes up to 1,000 creators in the body. Those that are not on the list are ignored.',
    forAgents: { isListed: false },
    body: CreatorsToRemove,
    item: CreatorsRemoved,
    errors: ['NOT_FOUND'],
    hints: { ...hints, destructive: true },
    afterwards,
    apply: async (work, { params, body }) => await removeCreators(work, params.id, body.pks),
  }),
] as const;

export const lists = noun({
  name: 'lists',
  tag: {
    name: 'Lists',
    about: 'Creators of the directory that the brand collects, and that a search can include or exclude.',
  },
  ids: { lists: 'lst' },
  operations: listOperations,
});
