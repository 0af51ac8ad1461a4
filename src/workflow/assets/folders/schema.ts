import { z } from 'zod';
import { createdAt, idField, updatedAt } from '../../../kit/values/fields.ts';
import { ListQuery } from '../../../kit/values/page.ts';

/** Folders at the root have depth 1. */
export const MAX_DEPTH = 10;

export const Folder = z
  .object({
    id: idField('fld', 'Folder id.'),
    name: z.string().describe('Folder name, unique within its parent.').meta({ example: 'Summer launch' }),
    parent_id: z
      .string()
      .nullable()
      .describe('Folder that contains this one; null at the root.')
      .meta({ example: null }),
    asset_count: z
      .number()
      .int()
      .describe('Number of assets in it, without those in subfolders.')
      .meta({ example: 12 }),
    created_at: createdAt,
    updated_at: updatedAt,
  })
  .meta({ id: 'Folder' });

const name = z
  .string()
  .trim()
  .min(1)
  .max(200)
  .describe('Folder name, unique within its parent; case is ignored.')
  .meta({ example: 'Summer launch' });
const parent = z
  .string()
  .min(1)
  .max(100)
  .nullable()
  .describe('Folder to put it in; null for the root.')
  .meta({ example: null });

export const FolderCreate = z.object({ name, parent_id: parent.optional() }).meta({ id: 'FolderCreate' });
export type FolderCreate = z.output<typeof FolderCreate>;

export const FolderPatch = z
  .object({ name: name.optional(), parent_id: parent.optional() })
  .meta({ id: 'FolderPatch' });
export type FolderPatch = z.output<typeof FolderPatch>;

export const FolderFilter = z.object({
  parent_id: z.string().max(100).optional().describe('Only folders in this one; `root` for those at the root.'),
  search: z.string().max(200).optional().describe('Part of the folder name; case is ignored.'),
  ...ListQuery,
});
export type FolderFilter = z.output<typeof FolderFilter>;
