import type { Insertable, Updateable } from 'kysely';
import type { ShipmentsTable } from '../../kit/engines/postgres/database.ts';
import { listing } from '../../kit/engines/postgres/listing.ts';
import type { Db } from '../../kit/engines/postgres/open.ts';
import { notFound } from '../../kit/values/errors.ts';
import { given } from '../../kit/values/patch.ts';
import { isOfCreator } from '../creators/queries.ts';
import type { ShipmentFilter } from './schema.ts';

export type ShipmentStatus = ShipmentsTable['status'];

export interface ShipmentProduct {
  name: string;
  sku: string | null;
  quantity: number;
}

interface ShippingAddress {
  street: string | null;
  line2: string | null;
  city: string | null;
  state: string | null;
  zip: string | null;
  country: string | null;
}

export interface TrackingEvent {
  at: string | null;
  status: string | null;
  message: string | null;
  location: string | null;
}

declare module '../../kit/engines/postgres/columns.ts' {
  interface ColumnShapes {
    'shipments.products': ShipmentProduct[];
    'shipments.shippingAddress': ShippingAddress | string;
    'shipments.trackingEvents': TrackingEvent[];
  }
}

const withCreator = (db: Db, brandId: string) =>
  db
    .selectFrom('shipments')
    .innerJoin('creators as creator', 'creator.id', 'shipments.creatorId')
    .selectAll('shipments')
    .select(['creator.email as creatorEmail', 'creator.name as creatorName'])
    .where('shipments.brandId', '=', brandId);

export type ShipmentRow = Awaited<ReturnType<typeof getShipment>>;

/** A created shipment waits to be sent, like a pending one. */
const INCLUDED: Record<NonNullable<ShipmentFilter['status']>, ShipmentStatus[]> = {
  pending: ['created', 'pending'],
  shipped: ['shipped'],
  delivered: ['delivered'],
  returned: ['returned'],
};

export type ShipmentWhere = Pick<
  ShipmentFilter,
  'creator_email' | 'campaign_id' | 'status' | 'created_after' | 'created_before' | 'updated_after' | 'sort'
>;

export const shipments = listing({
  noun: 'shipment',
  table: 'shipments',
  time: 'createdAt',
  changed: ['createdAt', 'updatedAt'],
  matching: (db, brandId, { creator_email, campaign_id, status }: ShipmentWhere) =>
    db
      .selectFrom('shipments')
      .where((eb) => eb.and(given({ campaignId: campaign_id })))
      .$if(status !== undefined, (query) => query.where('status', 'in', INCLUDED[status ?? 'pending']))
      .where(isOfCreator('shipments.creatorId', brandId, creator_email)),
  rows: withCreator,
});
export const { get: getShipment } = shipments;

/** The row, locked until the transaction ends. */
export async function lockShipment(db: Db, brandId: string, id: string): Promise<ShipmentRow> {
  const row = await withCreator(db, brandId).where('shipments.id', '=', id).forUpdate('shipments').executeTakeFirst();
  if (!row) throw notFound('shipment');
  return row;
}

export async function insertShipment(db: Db, row: Insertable<ShipmentsTable>): Promise<void> {
  await db.insertInto('shipments').values(row).execute();
}

export async function updateShipment(
  db: Db,
  brandId: string,
  id: string,
  change: Updateable<ShipmentsTable>,
): Promise<void> {
  await db.updateTable('shipments').set(change).where('brandId', '=', brandId).where('id', '=', id).execute();
}

/** A shipment for its creator's page, found by id alone, because the page's token stands for the brand. */
export async function findShipmentPage(db: Db, id: string) {
  return await db.selectFrom('shipments').selectAll().where('shipments.id', '=', id).executeTakeFirst();
}

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
