import { z } from 'zod';
import { answersOf } from '../../../operation/list.ts';
import { change, noLookUp, nothing, operation } from '../../../operation/operation.ts';
import { toWire } from '../../../values/wire.ts';
import { createFolder, patchFolder, removeFolder } from './actions.ts';
import { folders } from './queries.ts';
import { Folder, FolderCreate, FolderFilter, FolderList, FolderPatch } from './schema.ts';

const tag = 'Assets';
const byId = z.object({ id: z.string().max(100) });

const listFolders = operation({
  id: 'list_asset_folders',
  method: 'GET',
  path: '/v1/assets/folders',
  tag,
  summary: 'The folders of the content library',
  description: 'All of them, whatever they are in, newest first; `parent_id` for those of one.',
  callers: ['brand'],
  params: nothing,
  query: FolderFilter,
  body: nothing,
  response: FolderList,
  hints: { readOnly: true, idempotent: true, destructive: false },
  ...answersOf(folders, Folder, toWire),
});

const createFolderOperation = change({
  id: 'create_asset_folder',
  method: 'POST',
  path: '/v1/assets/folders',
  tag,
  summary: 'Make a folder',
  description: 'A name is unique within its parent, in any case; a folder is at most ten levels deep.',
  callers: ['brand'],
  params: nothing,
  query: nothing,
  body: FolderCreate,
  response: z.object({ data: Folder }),
  status: 201,
  errors: ['CONFLICT'],
  hints: { readOnly: false, idempotent: false, destructive: false },
  lookUp: noLookUp,
  apply: async (work, { body }) => ({ data: Folder.parse(toWire(await createFolder(work, body))) }),
});

const updateFolderOperation = change({
  id: 'update_asset_folder',
  method: 'PATCH',
  path: '/v1/assets/folders/{id}',
  tag,
  summary: 'Rename or move a folder',
  description: 'Set changes, omit keeps; `parent_id: null` moves it to the root.',
  callers: ['brand'],
  params: byId,
  query: nothing,
  body: FolderPatch,
  response: z.object({ data: Folder }),
  errors: ['NOT_FOUND', 'CONFLICT'],
  hints: { readOnly: false, idempotent: true, destructive: false },
  lookUp: noLookUp,
  apply: async (work, { params, body }) => ({ data: Folder.parse(toWire(await patchFolder(work, params.id, body))) }),
});

const deleteFolderOperation = change({
  id: 'delete_asset_folder',
  method: 'DELETE',
  path: '/v1/assets/folders/{id}',
  tag,
  summary: 'Delete an empty folder',
  description: 'One with assets or folders in it is 409.',
  callers: ['brand'],
  params: byId,
  query: nothing,
  body: nothing,
  response: z.object({ data: z.object({ id: z.string(), deleted: z.literal(true) }) }),
  errors: ['NOT_FOUND', 'CONFLICT'],
  hints: { readOnly: false, idempotent: true, destructive: true },
  lookUp: noLookUp,
  apply: async (work, { params }) => {
    await removeFolder(work, params.id);
    return { data: { id: params.id, deleted: true as const } };
  },
});

export const folderOperations = [
  listFolders,
  createFolderOperation,
  updateFolderOperation,
  deleteFolderOperation,
] as const;
