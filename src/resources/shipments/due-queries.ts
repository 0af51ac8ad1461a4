import { sql } from 'kysely';
import type { Db } from '../../engines/postgres/open.ts';

export interface DueParcel {
  id: string;
  brandId: string;
}

/** Parcels to ask the carrier about, which nobody else asks about until `again`. */
export async function claimDueParcels(db: Db, now: Date, again: Date, limit: number): Promise<DueParcel[]> {
  return await db
    .updateTable('shipments')
    .set({ trackAt: again })
    .where('id', 'in', (eb) =>
      eb
        .selectFrom('shipments')
        .select('id')
        .where('trackAt', '<=', now)
        .orderBy('trackAt')
        .limit(limit)
        .forUpdate()
        .skipLocked(),
    )
    .returning(['id', 'brandId'])
    .execute();
}

/** How long the parcel that waits longest has been due, in seconds. */
export async function oldestDueSeconds(db: Db, now: Date): Promise<number> {
  const { oldest } = await db
    .selectFrom('shipments')
    .select(sql<Date | null>`min(track_at)`.as('oldest'))
    .where('trackAt', '<=', now)
    .executeTakeFirstOrThrow();
  return oldest === null ? 0 : (now.getTime() - oldest.getTime()) / 1000;
}
