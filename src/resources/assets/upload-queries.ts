import type { Insertable } from 'kysely';
import type { AssetUploadsTable } from '../../engines/postgres/asset-tables.ts';
import type { Db } from '../../engines/postgres/open.ts';

/** Records a file before its first byte is written, so that it is found and removed if the process dies. */
export async function insertUpload(db: Db, row: Insertable<AssetUploadsTable>): Promise<void> {
  await db.insertInto('assetUploads').values(row).execute();
}

/** Prevents any asset from taking the file; false if one already has. */
export async function giveUpUpload(db: Db, storageKey: string, now: Date): Promise<boolean> {
  const row = await db
    .updateTable('assetUploads')
    .set({ givenUpAt: now })
    .where('storageKey', '=', storageKey)
    .returning('storageKey')
    .executeTakeFirst();
  return row !== undefined;
}

export async function forgetUpload(db: Db, storageKey: string): Promise<void> {
  await db.deleteFrom('assetUploads').where('storageKey', '=', storageKey).execute();
}

/** Takes the file for an asset; false if it was discarded meanwhile. */
export async function takeUpload(db: Db, brandId: string, storageKey: string): Promise<boolean> {
  const taken = await db
    .deleteFrom('assetUploads')
    .where('brandId', '=', brandId)
    .where('storageKey', '=', storageKey)
    .where('givenUpAt', 'is', null)
    .returning('storageKey')
    .executeTakeFirst();
  return taken !== undefined;
}

/** Files that no asset has taken for too long. */
export async function listAbandonedUploads(db: Db, before: Date, limit: number): Promise<string[]> {
  const rows = await db
    .selectFrom('assetUploads')
    .select('storageKey')
    .where('begunAt', '<', before)
    .orderBy('begunAt')
    .limit(limit)
    .execute();
  return rows.map(({ storageKey }) => storageKey);
}
