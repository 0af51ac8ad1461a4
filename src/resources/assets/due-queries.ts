import { sql } from 'kysely';
import type { Db } from '../../engines/postgres/open.ts';
import { daysAfter, EXPIRING_DAYS } from './policy.ts';

/** Pictures whose thumbnail is due. */
export async function listWithoutThumbnail(db: Db, now: Date, limit: number): Promise<string[]> {
  const rows = await db
    .selectFrom('assets')
    .select('id')
    .where('thumbnailState', '=', 'due')
    .where('deletedAt', 'is', null)
    .where(sql<boolean>`coalesce(thumbnail_retry_at, created_at) <= ${now}`)
    .orderBy(sql`coalesce(thumbnail_retry_at, created_at)`)
    .limit(limit)
    .execute();
  return rows.map(({ id }) => id);
}

/** Claims a picture for one attempt; undefined if it is not due. An attempt that crashes the process counts too. */
export async function claimThumbnail(db: Db, id: string, now: Date, retryAt: Date) {
  return await db
    .updateTable('assets')
    .set((eb) => ({ thumbnailAttempts: eb('thumbnailAttempts', '+', 1), thumbnailRetryAt: retryAt }))
    .where('id', '=', id)
    .where('thumbnailState', '=', 'due')
    .where('deletedAt', 'is', null)
    .where(sql<boolean>`coalesce(thumbnail_retry_at, created_at) <= ${now}`)
    .returning(['brandId', 'storageKey', 'thumbnailAttempts'])
    .executeTakeFirst();
}

interface ThumbnailResult {
  thumbnailKey: string | null;
  thumbnailState: 'made' | 'failed';
  width: number | null;
  height: number | null;
}

export async function updateThumbnail(db: Db, id: string, result: ThumbnailResult): Promise<void> {
  await db.updateTable('assets').set(result).where('id', '=', id).execute();
}

/** Deleted assets whose files still exist. */
export async function listToPurge(db: Db, limit: number) {
  return await db
    .selectFrom('assets')
    .select(['id', 'storageKey'])
    .where('deletedAt', 'is not', null)
    .where('purgedAt', 'is', null)
    .orderBy('deletedAt')
    .limit(limit)
    .execute();
}

export async function notePurged(db: Db, id: string, now: Date): Promise<void> {
  await db.updateTable('assets').set({ purgedAt: now }).where('id', '=', id).execute();
}

/** Assets whose brand is due a notice that the rights end. */
export async function listEndingRights(db: Db, now: Date, limit: number) {
  return await db
    .selectFrom('assets')
    .innerJoin('brands', 'brands.id', 'assets.brandId')
    .select(['assets.id', 'assets.brandId', 'assets.name', 'assets.rightsExpiresAt', 'assets.rightsNoticeDays'])
    .select('brands.contactEmail')
    .where('assets.deletedAt', 'is', null)
    .where('assets.rightsExpiresAt', 'is not', null)
    .where(sql<boolean>`assets.rights_notice_days is distinct from 0`)
    .where('assets.rightsExpiresAt', '<=', daysAfter(now, EXPIRING_DAYS))
    .where(
      sql<boolean>`(assets.rights_notice_days is null
        or (assets.rights_notice_days > 3 and assets.rights_expires_at <= ${daysAfter(now, 3)})
        or assets.rights_expires_at <= ${now})`,
    )
    .orderBy('assets.rightsExpiresAt')
    .limit(limit)
    .execute();
}

/** False if another worker was faster, or if the rights have changed meanwhile. */
export async function noteNotice(
  db: Db,
  { id, rightsExpiresAt, before }: { id: string; rightsExpiresAt: Date; before: number | null },
  days: number,
): Promise<boolean> {
  const row = await db
    .updateTable('assets')
    .set({ rightsNoticeDays: days })
    .where('id', '=', id)
    .where('deletedAt', 'is', null)
    .where('rightsExpiresAt', '=', rightsExpiresAt)
    .where(sql<boolean>`rights_notice_days is not distinct from ${before}`)
    .returning('id')
    .executeTakeFirst();
  return row !== undefined;
}
