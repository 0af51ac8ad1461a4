import { type Insertable, type Selectable, sql, type Updateable } from 'kysely';
import type { AssetFoldersTable } from '../../../kit/engines/postgres/database.ts';
import { listing } from '../../../kit/engines/postgres/listing.ts';
import type { Db } from '../../../kit/engines/postgres/open.ts';
import { lockOwn, updateOwn } from '../../../kit/engines/postgres/own.ts';
import { patternOf } from '../../creators/queries.ts';
import type { FolderFilter } from './schema.ts';

export type FolderRow = Selectable<AssetFoldersTable>;

type FolderWhere = Pick<
  FolderFilter,
  'parent_id' | 'search' | 'created_after' | 'created_before' | 'updated_after' | 'sort'
>;

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
  matching: (db, _brandId, { parent_id, search }: FolderWhere) =>
    db
      .selectFrom('assetFolders')
      .$if(parent_id === 'root', (query) => query.where('parentId', 'is', null))
      .$if(parent_id !== undefined && parent_id !== 'root', (query) => query.where('parentId', '=', parent_id ?? ''))
      .$if(search !== undefined, (query) => query.where('name', 'ilike', patternOf(search ?? ''))),
  rows: withCount,
});
export const { get: getFolder } = folders;

/**
 * Prevents other moves of the brand's folders until the transaction ends: two concurrent moves could make each folder
 * the parent of the other.
 */
export async function lockTree(db: Db, brandId: string): Promise<void> {
  await sql`select pg_advisory_xact_lock(hashtextextended(${`asset folders of ${brandId}`}, 0))`.execute(db);
}

/** The ids from a folder up to the root, starting with the folder. Empty if it does not belong to the brand. */
export async function listAncestors(db: Db, brandId: string, id: string): Promise<string[]> {
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
export async function heightOf(db: Db, brandId: string, id: string): Promise<number> {
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

export async function findFolderNamed(db: Db, brandId: string, parentId: string | null, name: string) {
  return await db
    .selectFrom('assetFolders')
    .select('id')
    .where('brandId', '=', brandId)
    .where(sql<boolean>`parent_id is not distinct from ${parentId}`)
    .where(sql<boolean>`lower(name) = lower(${name})`)
    .executeTakeFirst();
}

/** Undefined if the parent has a folder with this name. */
export async function insertFolder(db: Db, row: Insertable<AssetFoldersTable>): Promise<FolderRow | undefined> {
  return await db
    .insertInto('assetFolders')
    .values(row)
    .onConflict((conflict) => conflict.doNothing())
    .returningAll()
    .executeTakeFirst();
}

export const lockFolder = (db: Db, brandId: string, id: string): Promise<FolderRow> =>
  lockOwn(db.selectFrom('assetFolders').selectAll(), 'folder', brandId, id);

export const updateFolder = (db: Db, brandId: string, id: string, change: Updateable<AssetFoldersTable>) =>
  updateOwn(db.updateTable('assetFolders').set(change).returningAll(), brandId, id);

export async function deleteFolder(db: Db, brandId: string, id: string): Promise<void> {
  await db.deleteFrom('assetFolders').where('brandId', '=', brandId).where('id', '=', id).execute();
}
