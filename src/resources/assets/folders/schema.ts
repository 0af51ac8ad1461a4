import { z } from 'zod';
import { ListQuery, timestamp } from '../../../values/page.ts';

/** A folder of the root is of depth 1. */
export const MAX_DEPTH = 10;

export const Folder = z
  .object({
    id: z.string(),
    name: z.string(),
    parent_id: z.string().nullable().describe('Null: in the root.'),
    asset_count: z.number().int().describe('The assets in it, not those of the folders in it.'),
    created_at: timestamp,
    updated_at: timestamp.nullable(),
  })
  .meta({ id: 'Folder' });

const name = z.string().trim().min(1).max(200);
const parent = z.string().min(1).max(100).nullable();

export const FolderCreate = z
  .object({ name: name.meta({ example: 'Summer launch' }), parent_id: parent.optional() })
  .meta({ id: 'FolderCreate' });
export type FolderCreate = z.output<typeof FolderCreate>;

export const FolderPatch = z
  .object({ name: name.optional(), parent_id: parent.optional() })
  .meta({ id: 'FolderPatch' });
export type FolderPatch = z.output<typeof FolderPatch>;

export const FolderFilter = z.object({
  parent_id: z.string().max(100).optional().describe('The folders in this one; `root` for those in none.'),
  search: z.string().max(200).optional().describe('Part of the name, in any case.'),
  ...ListQuery,
});
export type FolderFilter = z.output<typeof FolderFilter>;
