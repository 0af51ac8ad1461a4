import { z } from 'zod';
import { create, list, patch } from '../../../operation/kit.ts';
import { change, noLookUp, nothing } from '../../../operation/operation.ts';
import { toWire } from '../../../values/wire.ts';
import { createFolder, patchFolder, removeFolder } from './actions.ts';
import { folders } from './queries.ts';
import { Folder, FolderCreate, FolderFilter, FolderPatch } from './schema.ts';

const tag = 'Assets';
const byId = z.object({ id: z.string().max(100) });

const listFolders = list({
  id: 'list_asset_folders',
  path: '/v1/assets/folders',
  tag,
  summary: 'The folders of the content library',
  description: 'All of them, whatever they are in, newest first; `parent_id` for those of one.',
  query: FolderFilter,
  item: Folder,
  rows: folders,
  itemOf: toWire,
});

const createFolderOperation = create({
  id: 'create_asset_folder',
  path: '/v1/assets/folders',
  tag,
  summary: 'Make a folder',
  description: 'A name is unique within its parent, in any case; a folder is at most ten levels deep.',
  body: FolderCreate,
  item: Folder,
  errors: ['CONFLICT'],
  apply: async (work, { body }) => Folder.parse(toWire(await createFolder(work, body))),
});

const updateFolderOperation = patch({
  id: 'update_asset_folder',
  path: '/v1/assets/folders/{id}',
  tag,
  summary: 'Rename or move a folder',
  description: 'Set changes, omit keeps; `parent_id: null` moves it to the root.',
  body: FolderPatch,
  item: Folder,
  errors: ['NOT_FOUND', 'CONFLICT'],
  apply: async (work, { params, body }) => Folder.parse(toWire(await patchFolder(work, params.id, body))),
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
