import { type Selectable, sql } from 'kysely';
import { z } from 'zod';
import type { AssetFoldersTable } from '../../kit/engines/postgres/database.ts';
import { listing } from '../../kit/engines/postgres/listing.ts';
import type { Db } from '../../kit/engines/postgres/open.ts';
import { violates } from '../../kit/engines/postgres/violation.ts';
import { table } from '../../kit/operation/table.ts';
import type { Work } from '../../kit/operation/work.ts';
import { ApiError, type Problem, validationError } from '../../kit/values/errors.ts';
import { createdAt, idField, updatedAt } from '../../kit/values/fields.ts';
import { newId } from '../../kit/values/ids.ts';
import { ListQuery, type Page } from '../../kit/values/page.ts';
import { omitUndefined } from '../../kit/values/patch.ts';
import { toLikePattern } from '../creators/creators.ts';

/** Folders at the root have depth 1. */
const MAX_DEPTH = 10;

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

export type FolderRow = Selectable<AssetFoldersTable>;

const withCount = (db: Db, brandId: string) =>
  db
    .selectFrom('assetFolders')
    .selectAll('assetFolders')
    .select((eb) =>
      eb
        .selectFrom('assets')
        .where('assets.brandId', '=', brandId)
        .whereRef('assets.folderId', '=', 'assetFolders.id')
        .where('assets.deletedAt', 'is', null)
        .select(({ fn }) => fn.countAll<number>().as('count'))
        .$asScalar()
        .$notNull()
        .as('assetCount'),
    )
    .where('assetFolders.brandId', '=', brandId);

export const folders = listing({
  noun: 'folder',
  table: 'assetFolders',
  time: 'createdAt',
  changed: ['createdAt', 'updatedAt'],
  matching: (db, _brandId, { parent_id, search }: Omit<FolderFilter, keyof Page>) =>
    db
      .selectFrom('assetFolders')
      .$if(parent_id === 'root', (query) => query.where('parentId', 'is', null))
      .$if(parent_id !== undefined && parent_id !== 'root', (query) => query.where('parentId', '=', parent_id ?? ''))
      .$if(search !== undefined, (query) => query.where('name', 'ilike', toLikePattern(search ?? ''))),
  rows: withCount,
});
const { get: getFolder } = folders;

/**
 * Prevents other moves of the brand's folders until the transaction ends: two concurrent moves could make each folder
 * the parent of the other.
 */
async function lockTree(db: Db, brandId: string): Promise<void> {
  await sql`select pg_advisory_xact_lock(hashtextextended(${`asset folders of ${brandId}`}, 0))`.execute(db);
}

/** The ids from a folder up to the root, starting with the folder. Empty if it does not belong to the brand. */
async function listAncestors(db: Db, brandId: string, id: string): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`
    with recursive line as (
      select id, parent_id, 1 as step from asset_folders where brand_id = ${brandId} and id = ${id}
      union all
      select folder.id, folder.parent_id, line.step + 1
      from asset_folders as folder join line on folder.id = line.parent_id
      where folder.brand_id = ${brandId}
    )
    select id from line order by step`.execute(db);
  return rows.map((row) => row.id);
}

/** The number of levels of a folder and its contents: 1 if it contains no folders. */
async function measureHeight(db: Db, brandId: string, id: string): Promise<number> {
  const { rows } = await sql<{ height: number }>`
    with recursive tree as (
      select id, 1 as level from asset_folders where brand_id = ${brandId} and id = ${id}
      union all
      select folder.id, tree.level + 1
      from asset_folders as folder join tree on folder.parent_id = tree.id
      where folder.brand_id = ${brandId}
    )
    select coalesce(max(level), 0) as height from tree`.execute(db);
  return rows[0]?.height ?? 0;
}

async function findFolderNamed(db: Db, brandId: string, parentId: string | null, name: string) {
  return await db
    .selectFrom('assetFolders')
    .select('id')
    .where('brandId', '=', brandId)
    .where(sql<boolean>`parent_id is not distinct from ${parentId}`)
    .where(sql<boolean>`lower(name) = lower(${name})`)
    .executeTakeFirst();
}

const folderRows = table<AssetFoldersTable>('asset_folders', 'folder');

const wrongParent = (code: Problem['code'], message: string) =>
  validationError([{ field: 'parent_id', code, message }]);

async function nameConflict(db: Db, brandId: string, parentId: string | null, name: string): Promise<ApiError> {
  const existing = await findFolderNamed(db, brandId, parentId, name);
  const message = `There is already a folder named ${JSON.stringify(name)} here.`;
  return new ApiError('CONFLICT', message, { facts: { existing_id: existing?.id ?? null } });
}

/** A folder may move into any of the brand's folders except itself and those inside it, at most ten levels deep. */
async function assertParent(db: Db, brandId: string, parentId: string, folder: { id: string } | undefined) {
  const line = await listAncestors(db, brandId, parentId);
  if (line.length === 0) throw wrongParent('not_found', 'is not a folder of this brand.');
  if (folder && line.includes(folder.id)) throw wrongParent('circular', 'is the folder itself, or is within it.');
  const height = folder ? await measureHeight(db, brandId, folder.id) : 1;
  if (line.length + height <= MAX_DEPTH) return;
  throw wrongParent('too_deep', `would put a folder deeper than ${MAX_DEPTH} levels.`);
}

export async function createFolder(work: Work, { name, parent_id: parentId = null }: FolderCreate) {
  const { db, now, brandId } = work;
  await lockTree(db, brandId);
  if (parentId !== null) await assertParent(db, brandId, parentId, undefined);
  const id = newId('fld', now.getTime());
  // The insert does nothing if the parent has a folder with this name.
  const row = await db
    .insertInto('assetFolders')
    .values({ id, brandId, name, parentId, createdAt: now, updatedAt: null })
    .onConflict((conflict) => conflict.doNothing())
    .returningAll()
    .executeTakeFirst();
  if (!row) throw await nameConflict(db, brandId, parentId, name);
  work.audit({ resourceId: row.id, old: null, new: row });
  return await getFolder(db, brandId, row.id);
}

export async function patchFolder(work: Work, id: string, { name, parent_id: parentId }: FolderPatch) {
  const { db, now, brandId } = work;
  await lockTree(db, brandId);
  const old = await folderRows.lock(work, id);
  if (parentId != null) await assertParent(db, brandId, parentId, { id });
  const [newParent, newName] = [parentId === undefined ? old.parentId : parentId, name ?? old.name];
  // With the tree locked, no other change can take the name before this one commits.
  const namesake = await findFolderNamed(db, brandId, newParent, newName);
  if (namesake && namesake.id !== id) throw await nameConflict(db, brandId, newParent, newName);
  await folderRows.update(work, old, { ...omitUndefined({ name, parentId }), updatedAt: now });
  return await getFolder(db, brandId, id);
}

const NOT_EMPTY = ['assets_brand_id_folder_id_fkey', 'asset_folders_brand_id_parent_id_fkey'];

/** Only an empty folder can be deleted, because assets and folders refer to the one that contains them. */
export async function removeFolder(work: Work, id: string): Promise<void> {
  const old = await folderRows.lock(work, id);
  await folderRows.delete(work, old).catch((error: unknown) => {
    if (!NOT_EMPTY.some((constraint) => violates(error, constraint))) throw error;
    throw new ApiError('CONFLICT', 'The folder is not empty; move or delete its contents first.');
  });
}
