import type { Insertable } from 'kysely';
import { isFound } from '../../../kit/engines/postgres/count.ts';
import type { ShipmentSharesTable } from '../../../kit/engines/postgres/database.ts';
import type { Db } from '../../../kit/engines/postgres/open.ts';

/** The maximum number of parcels on a shared page. */
export const MAX_SHARED = 500;

export async function insertShare(db: Db, row: Insertable<ShipmentSharesTable>): Promise<void> {
  await db.insertInto('shipmentShares').values(row).execute();
}

/** Whether there was a page to revoke; true only once. */
export const revokeShare = (db: Db, brandId: string, shareId: string, now: Date): Promise<boolean> =>
  isFound(
    db
      .updateTable('shipmentShares')
      .set({ revokedAt: now })
      .where('brandId', '=', brandId)
      .where('shareId', '=', shareId)
      .where('revokedAt', 'is', null)
      .returning('shareId'),
  );

/** A shared page that is not revoked, found by id alone, because the link alone gives access. */
export async function findShare(db: Db, shareId: string) {
  return await db
    .selectFrom('shipmentShares as share')
    .innerJoin('brands as brand', 'brand.id', 'share.brandId')
    .selectAll('share')
    .select(['brand.name as brandName', 'brand.logo as brandLogo'])
    .where('share.shareId', '=', shareId)
    .where('share.revokedAt', 'is', null)
    .executeTakeFirst();
}

export type SharedRow = Awaited<ReturnType<typeof listShared>>[number];

/** The newest parcels of the shared campaign, or of the brand. */
export async function listShared(db: Db, { brandId, campaignId }: Pick<ShipmentSharesTable, 'brandId' | 'campaignId'>) {
  return await db
    .selectFrom('shipments')
    .innerJoin('creators as creator', 'creator.id', 'shipments.creatorId')
    .select([
      'shipments.productDescription',
      'shipments.status',
      'shipments.carrier',
      'shipments.trackingStatus',
      'shipments.shippingAddress',
      'creator.name as creatorName',
      'creator.igHandle',
      'creator.ttHandle',
    ])
    .where('shipments.brandId', '=', brandId)
    .$if(campaignId !== null, (query) => query.where('shipments.campaignId', '=', campaignId ?? ''))
    .orderBy('shipments.createdAt', 'desc')
    .orderBy('shipments.id', 'desc')
    .limit(MAX_SHARED)
    .execute();
}
