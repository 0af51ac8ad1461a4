import type { Updateable } from 'kysely';
import type { ShipmentsTable } from '../../kit/engines/postgres/database.ts';
import { listing } from '../../kit/engines/postgres/listing.ts';
import type { Db } from '../../kit/engines/postgres/open.ts';
import { type QueueOutcome, queueMail } from '../../kit/mail/queue.ts';
import type { Work } from '../../kit/operation/work.ts';
import { notFound, validationError } from '../../kit/values/errors.ts';
import { newId } from '../../kit/values/ids.ts';
import type { Page } from '../../kit/values/page.ts';
import { omitUndefined } from '../../kit/values/patch.ts';
import { toWire } from '../../kit/values/wire.ts';
import { findAddressee, notOnRoster } from '../applications/applications.ts';
import { campaignProblems } from '../campaigns/campaigns.ts';
import { matchesCreator } from '../creators/creators.ts';
import { showCreator } from '../creators/renamed.ts';
import { Shipment, type ShipmentCreate, type ShipmentFilter, type ShipmentPatch } from './shipments.shapes.ts';

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
const STATUSES: Record<NonNullable<ShipmentFilter['status']>, ShipmentStatus[]> = {
  pending: ['created', 'pending'],
  shipped: ['shipped'],
  delivered: ['delivered'],
  returned: ['returned'],
};

export const shipments = listing({
  noun: 'shipment',
  table: 'shipments',
  time: 'createdAt',
  changed: ['createdAt', 'updatedAt'],
  shown: [showCreator('shipments')],
  matching: (db, brandId, { creator_email, campaign_id, status }: Omit<ShipmentFilter, keyof Page>) =>
    db
      .selectFrom('shipments')
      .where((eb) => eb.and(omitUndefined({ campaignId: campaign_id })))
      .$if(status !== undefined, (query) => query.where('status', 'in', STATUSES[status ?? 'pending']))
      .where(matchesCreator('shipments.creatorId', brandId, creator_email)),
  rows: withCreator,
});
export const { get: getShipment } = shipments;

/** The row, locked until the transaction ends. */
export async function lockShipment(db: Db, brandId: string, id: string): Promise<ShipmentRow> {
  const row = await withCreator(db, brandId).where('shipments.id', '=', id).forUpdate('shipments').executeTakeFirst();
  if (!row) throw notFound('shipment');
  return row;
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

/** Parcels to query the carrier about. */
export const selectDueParcels = (db: Db, now: Date) =>
  db.selectFrom('shipments').select(['id', 'brandId']).where('trackAt', '<=', now).orderBy('trackAt');

/** Orders the statuses. A returned parcel was shipped, but may not have been delivered. */
const STAGE: Record<ShipmentStatus, number> = { created: 0, pending: 0, shipped: 1, delivered: 2, returned: 2 };

type ShipmentFields = Omit<ShipmentPatch, 'status'>;

/** The columns that the input sets. Products describe themselves, such as "2 × Serum (SKU-1), 1 × Brush". */
function toColumns({ products: input, shipping_address: address, product_description, ...rest }: ShipmentFields) {
  const products = input?.map(({ name, sku = null, quantity }) => ({ name, sku, quantity }));
  const productsText =
    products && product_description === undefined
      ? products.map(({ name, sku, quantity }) => `${quantity} × ${name}${sku === null ? '' : ` (${sku})`}`).join(', ')
      : undefined;
  return omitUndefined({
    campaignId: rest.campaign_id,
    carrier: rest.carrier,
    trackingNumber: rest.tracking_number,
    estimatedArrival: rest.estimated_arrival,
    notes: rest.notes,
    productDescription: product_description ?? productsText ?? product_description,
    products: products ? JSON.stringify(products) : input === null ? null : undefined,
    shippingAddress: address === undefined || address === null ? address : JSON.stringify(address),
  });
}

export async function createShipment(work: Work, input: ShipmentCreate): Promise<ShipmentRow> {
  const { db, now, brandId } = work;
  const { creator_email: email, notify_creator: isNotified, ...fields } = input;
  const addressee = await findAddressee(db, brandId, email);
  const problems = await campaignProblems(work, input.campaign_id);
  if (!addressee || problems.length > 0)
    throw validationError([...(addressee ? [] : [notOnRoster(email)]), ...problems]);
  const id = newId('shp', now.getTime());
  await db
    .insertInto('shipments')
    .values({
      ...toColumns(fields),
      id,
      brandId,
      creatorId: addressee.id,
      status: 'created',
      createdAt: now,
      trackAt: fields.tracking_number ? now : null,
    })
    .execute();
  const row = await getShipment(db, brandId, id);
  work.audit({ resourceId: id, old: null, new: row });
  if (isNotified) await notifyCreator(work, row);
  return row;
}

export async function patchShipment(work: Work, id: string, patch: ShipmentPatch): Promise<ShipmentRow> {
  const { db, now, brandId } = work;
  const { status, ...fields } = patch;
  const problems = await campaignProblems(work, patch.campaign_id);
  if (problems.length > 0) throw validationError(problems);
  const old = await lockShipment(db, brandId, id);
  const columns = toColumns(fields);
  const isOtherParcel =
    (columns.trackingNumber !== undefined && columns.trackingNumber !== old.trackingNumber) ||
    (columns.carrier !== undefined && columns.carrier !== old.carrier);
  const number = columns.trackingNumber === undefined ? old.trackingNumber : columns.trackingNumber;
  if (!isOtherParcel) return await moveShipment(work, old, status, columns);
  // The carrier's reports about the previous parcel are cleared.
  return await moveShipment(work, old, status, {
    ...columns,
    trackingStatus: null,
    trackingEvents: '[]',
    trackingRef: null,
    trackingError: null,
    trackAt: number === null ? null : now,
  });
}

/** Writes a change to a locked shipment; entering `delivered` emits an event. */
export async function moveShipment(
  { db, now, brandId, audit, emit }: Work,
  old: ShipmentRow,
  status: ShipmentStatus | undefined,
  columns: Parameters<typeof updateShipment>[3],
): Promise<ShipmentRow> {
  const isMove = status !== undefined && status !== old.status;
  const change = { ...columns };
  if (isMove) {
    // Entering a status sets its time, going back clears it.
    const stage = STAGE[status];
    const deliveredAt = status === 'delivered' ? (old.deliveredAt ?? now) : old.deliveredAt;
    change.status = status;
    change.shippedAt = stage >= 1 ? (old.shippedAt ?? now) : null;
    change.deliveredAt = stage >= 2 ? deliveredAt : null;
  }
  if (Object.keys(change).length === 0) return old;
  await updateShipment(db, brandId, old.id, { ...change, updatedAt: now });
  const row = await getShipment(db, brandId, old.id);
  audit({ resourceId: old.id, old, new: row });
  if (isMove && status === 'delivered') emit('shipment.delivered', Shipment.parse(toWire(row)));
  return row;
}

/** The creator confirms that it has arrived. A second confirmation changes nothing. */
export async function confirmReceipt(work: Work, id: string): Promise<void> {
  const old = await lockShipment(work.db, work.brandId, id);
  if (old.confirmedAt !== null) return;
  const confirmation = { creatorConfirmedReceipt: true, confirmedAt: work.now, reportedMissingAt: null };
  await moveShipment(work, old, undefined, confirmation);
}

/** The creator reports that it has not arrived. After a confirmation this changes nothing. */
export async function reportMissing(work: Work, id: string): Promise<void> {
  const old = await lockShipment(work.db, work.brandId, id);
  if (old.confirmedAt !== null || old.reportedMissingAt !== null) return;
  await moveShipment(work, old, undefined, { reportedMissingAt: work.now });
}

/** Mails the creator the link to the parcel's page, once per status for as long as the mail is kept. */
export async function notifyCreator(work: Work, row: ShipmentRow): Promise<QueueOutcome> {
  if (row.creatorEmail === null) {
    const message = 'has no email address on record.';
    throw validationError([{ field: 'creator_email', code: 'no_email', message }]);
  }
  return await queueMail(work, {
    kind: 'parcel_on_its_way',
    to: row.creatorEmail,
    subjectRow: `${row.id}:${row.status}`,
    creatorId: row.creatorId,
    params: {
      shipment_id: row.id,
      link_version: row.linkVersion,
      status: row.status,
      product: row.productDescription,
      carrier: row.carrier,
      tracking_number: row.trackingNumber,
      estimated_arrival: row.estimatedArrival,
    },
  });
}
