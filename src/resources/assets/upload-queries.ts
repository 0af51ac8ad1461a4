import type { Insertable } from 'kysely';
import type { AssetUploadsTable } from '../../engines/postgres/asset-tables.ts';
import type { Db } from '../../engines/postgres/open.ts';

/** Notes a file before its first byte is written, so that one whose process dies is found and removed. */
export async function insertUpload(db: Db, row: Insertable<AssetUploadsTable>): Promise<void> {
  await db.insertInto('assetUploads').values(row).execute();
}

/** From here on no asset can take the file; false when one did. */
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

/** Takes the file for an asset; false when it was given up meanwhile. */
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

/** Files that no asset took for too long. */
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
