import type { Db } from '../../engines/postgres/open.ts';

export interface DuePost {
  id: string;
  brandId: string;
}

/** Posts whose next reading is due: marked as refreshing, so that each is taken once. */
export async function claimDuePosts(db: Db, now: Date, limit: number): Promise<DuePost[]> {
  return await db
    .updateTable('content')
    .set({ status: 'refreshing', refreshBeganAt: now, nextRefreshAt: null })
    .where('id', 'in', (eb) =>
      eb
        .selectFrom('content')
        .select('id')
        .where('nextRefreshAt', '<=', now)
        .where('deletedAt', 'is', null)
        .where('status', '=', 'tracking')
        .orderBy('nextRefreshAt')
        .limit(limit)
        .forUpdate()
        .skipLocked(),
    )
    .returning(['id', 'brandId'])
    .execute();
}

/** Posts that are being refreshed: a job of each is made again when it was lost. */
export async function listRefreshing(db: Db, limit: number): Promise<DuePost[]> {
  return await db
    .selectFrom('content')
    .select(['id', 'brandId'])
    .where('status', '=', 'refreshing')
    .where('deletedAt', 'is', null)
    .orderBy('refreshBeganAt')
    .limit(limit)
    .execute();
}

/** Ends what began before `before` and never came to its end; it is read again at `again`. */
export async function endInterrupted(db: Db, before: Date, again: Date): Promise<void> {
  await db
    .updateTable('content')
    .set({ status: 'tracking', refreshError: 'interrupted', nextRefreshAt: again })
    .where('status', '=', 'refreshing')
    .where('refreshBeganAt', '<', before)
    .execute();
}

/** Found by its id alone: a job carries nothing else. */
export async function findPost(db: Db, id: string) {
  return await db
    .selectFrom('content')
    .select(['id', 'brandId', 'platform', 'url', 'canonicalKey', 'status'])
    .where('id', '=', id)
    .where('deletedAt', 'is', null)
    .executeTakeFirst();
}

/** Other posts of a host that are being refreshed, so that one call reads them together. */
export async function listRefreshingAt(db: Db, host: string, except: string, limit: number) {
  return await db
    .selectFrom('content')
    .select(['id', 'brandId', 'canonicalKey'])
    .where('status', '=', 'refreshing')
    .where('deletedAt', 'is', null)
    .where('canonicalKey', 'like', `${host}:%`)
    .where('id', '<>', except)
    .orderBy('refreshBeganAt')
    .limit(limit)
    .execute();
}
