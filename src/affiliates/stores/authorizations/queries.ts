import type { Insertable } from 'kysely';
import type { StoreAuthorizationsTable } from '../../../kit/engines/postgres/database.ts';
import type { Db } from '../../../kit/engines/postgres/open.ts';

export async function insertAuthorization(db: Db, row: Insertable<StoreAuthorizationsTable>): Promise<void> {
  await db.insertInto('storeAuthorizations').values(row).execute();
}

/** Keeps the keys that a store hands out, once, before the link expires. Whether it did. */
export async function takeKeys(db: Db, tokenHash: Buffer, keys: Buffer, now: Date): Promise<boolean> {
  const taken = await db
    .updateTable('storeAuthorizations')
    .set({ keys })
    .where('tokenHash', '=', tokenHash)
    .where('keys', 'is', null)
    .where('expiresAt', '>', now)
    .executeTakeFirst();
  return taken.numUpdatedRows > 0n;
}

export async function findAuthorization(db: Db, brandId: string, id: string, now: Date) {
  return await db
    .selectFrom('storeAuthorizations')
    .select(['id', 'baseUrl', 'tokenHash', 'keys'])
    .where('brandId', '=', brandId)
    .where('id', '=', id)
    .where('expiresAt', '>', now)
    .executeTakeFirst();
}

/** Uses it up. Whether it was still there. */
export async function deleteAuthorization(db: Db, brandId: string, id: string): Promise<boolean> {
  const deleted = await db
    .deleteFrom('storeAuthorizations')
    .where('brandId', '=', brandId)
    .where('id', '=', id)
    .executeTakeFirst();
  return deleted.numDeletedRows > 0n;
}

export async function deleteExpired(db: Db, now: Date): Promise<void> {
  await db.deleteFrom('storeAuthorizations').where('expiresAt', '<=', now).execute();
}
