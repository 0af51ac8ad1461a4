import { z } from 'zod';
import { create, list, patch, remove } from '../../kit/operation/kit.ts';
import { idField } from '../../kit/values/fields.ts';
import { toWire } from '../../kit/values/wire.ts';
import {
  createFolder,
  Folder,
  FolderCreate,
  FolderFilter,
  FolderPatch,
  folders,
  patchFolder,
  removeFolder,
} from './folders.ts';

const tag = 'Assets';

export const folderOperations = [
  list({
    id: 'list_asset_folders',
    path: '/v1/assets/folders',
    tag,
    summary: 'List folders',
    description: 'All folders at every level, newest first; `parent_id` limits them to one parent.',
    forAgents: { description: 'At every level, newest first.', example: {} },
    query: FolderFilter,
    item: Folder,
    rows: folders,
    itemOf: toWire,
  }),
  create({
    id: 'create_asset_folder',
    path: '/v1/assets/folders',
    tag,
    summary: 'Create a folder',
    description: 'A name is unique within its parent, ignoring case. Folders nest at most ten levels deep.',
    body: FolderCreate,
    item: Folder,
    errors: ['CONFLICT'],
    apply: async (work, { body }) => Folder.parse(toWire(await createFolder(work, body))),
  }),
  patch({
    id: 'update_asset_folder',
    path: '/v1/assets/folders/{id}',
    tag,
    summary: 'Rename or move a folder',
    description: 'Only the fields that you send change; `parent_id: null` moves it to the root.',
    forAgents: {
      isListed: false,
      description: '`parent_id: null` moves it to the root.',
      example: { id: 'fld_…', name: 'Autumn' },
    },
    body: FolderPatch,
    item: Folder,
    errors: ['NOT_FOUND', 'CONFLICT'],
    apply: async (work, { params, body }) => Folder.parse(toWire(await patchFolder(work, params.id, body))),
  }),
  remove({
    id: 'delete_asset_folder',
    path: '/v1/assets/folders/{id}',
    tag,
    summary: 'Delete an empty folder',
    description: 'A folder that contains assets or folders is 409.',
    forAgents: { isListed: false, description: 'A folder with files or folders in it is refused.' },
    item: z.object({
      id: idField('fld', 'Id of the deleted folder.'),
      deleted: z.literal(true).describe('Always true: the folder is deleted.'),
    }),
    errors: ['NOT_FOUND', 'CONFLICT'],
    apply: async (work, { params }) => {
      await removeFolder(work, params.id);
      return { id: params.id, deleted: true as const };
    },
  }),
] as const;
