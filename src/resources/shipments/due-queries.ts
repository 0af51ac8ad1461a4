import type { Db } from '../../engines/postgres/open.ts';

export interface DueParcel {
  id: string;
  brandId: string;
}

/** Claims parcels to query the carrier about; other workers skip them until `again`. */
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
