import { type Queued, queueMail } from '../../kit/mail/queue.ts';
import type { Work } from '../../kit/operation/work.ts';
import { validationError } from '../../kit/values/errors.ts';
import { newId } from '../../kit/values/ids.ts';
import { given } from '../../kit/values/patch.ts';
import { toWire } from '../../kit/values/wire.ts';
import { findAddressee, notOnRoster } from '../applications/queries.ts';
import { campaignProblems } from '../campaigns/actions.ts';
import { describeProducts, timesAfter } from './policy.ts';
import {
  getShipment,
  insertShipment,
  lockShipment,
  type ShipmentRow,
  type ShipmentStatus,
  updateShipment,
} from './queries.ts';
import { Shipment, type ShipmentCreate, type ShipmentPatch } from './schema.ts';

type Fields = Omit<ShipmentPatch, 'status'>;

/** The columns that the input sets. Products without a description describe themselves. */
function columnsOf({ products, shipping_address: address, product_description, ...rest }: Fields) {
  const described = products && product_description === undefined ? describeProducts(complete(products)) : undefined;
  return given({
    campaignId: rest.campaign_id,
    carrier: rest.carrier,
    trackingNumber: rest.tracking_number,
    estimatedArrival: rest.estimated_arrival,
    notes: rest.notes,
    productDescription: product_description ?? described ?? product_description,
    products: products === undefined || products === null ? products : JSON.stringify(complete(products)),
    shippingAddress: address === undefined || address === null ? address : JSON.stringify(address),
  });
}

const complete = (products: NonNullable<Fields['products']>) =>
  products.map(({ name, sku = null, quantity }) => ({ name, sku, quantity }));

export async function createShipment(work: Work, input: ShipmentCreate): Promise<ShipmentRow> {
  const { db, now, brandId } = work;
  const { creator_email: email, notify_creator: isNotified, ...fields } = input;
  const addressee = await findAddressee(db, brandId, email);
  const problems = await campaignProblems(work, input.campaign_id);
  if (!addressee || problems.length > 0)
    throw validationError([...(addressee ? [] : [notOnRoster(email)]), ...problems]);
  const id = newId('shp', now.getTime());
  await insertShipment(db, {
    ...columnsOf(fields),
    ...{ id, brandId, creatorId: addressee.id, status: 'created', createdAt: now },
    trackAt: fields.tracking_number ? now : null,
  });
  const row = await getShipment(db, brandId, id);
  work.audit({ resourceId: id, old: null, new: row });
  if (isNotified) await notifyCreator(work, row);
  return row;
}

/** A different parcel: the carrier's reports about the previous one are cleared. */
const untracked = (trackingNumber: string | null, now: Date) => ({
  ...{ trackingStatus: null, trackingEvents: '[]', trackingRef: null, trackingError: null },
  trackAt: trackingNumber === null ? null : now,
});

export async function patchShipment(work: Work, id: string, patch: ShipmentPatch): Promise<ShipmentRow> {
  const { db, now, brandId } = work;
  const { status, ...fields } = patch;
  const problems = await campaignProblems(work, patch.campaign_id);
  if (problems.length > 0) throw validationError(problems);
  const old = await lockShipment(db, brandId, id);
  const columns = columnsOf(fields);
  const isOtherParcel =
    (columns.trackingNumber !== undefined && columns.trackingNumber !== old.trackingNumber) ||
    (columns.carrier !== undefined && columns.carrier !== old.carrier);
  const number = columns.trackingNumber === undefined ? old.trackingNumber : columns.trackingNumber;
  return await moveTo(work, old, status, {
    ...columns,
    ...(isOtherParcel ? untracked(number, now) : {}),
  });
}

/** Writes a change to a locked shipment; entering `delivered` emits an event. */
export async function moveTo(
  { db, now, brandId, audit, emit }: Work,
  old: ShipmentRow,
  status: ShipmentStatus | undefined,
  columns: Parameters<typeof updateShipment>[3],
): Promise<ShipmentRow> {
  const moved = status !== undefined && status !== old.status;
  const change = { ...columns, ...(moved ? { status, ...timesAfter(old, status, now) } : {}) };
  if (Object.keys(change).length === 0) return old;
  await updateShipment(db, brandId, old.id, { ...change, updatedAt: now });
  const row = await getShipment(db, brandId, old.id);
  audit({ resourceId: old.id, old, new: row });
  if (moved && status === 'delivered') emit('shipment.delivered', Shipment.parse(toWire(row)));
  return row;
}

/** The creator confirms that it has arrived. A second confirmation changes nothing. */
export async function confirmReceipt(work: Work, id: string): Promise<void> {
  const old = await lockShipment(work.db, work.brandId, id);
  if (old.confirmedAt !== null) return;
  const confirmed = { creatorConfirmedReceipt: true, confirmedAt: work.now, reportedMissingAt: null };
  await moveTo(work, old, undefined, confirmed);
}

/** The creator reports that it has not arrived. After a confirmation this changes nothing. */
export async function reportMissing(work: Work, id: string): Promise<void> {
  const old = await lockShipment(work.db, work.brandId, id);
  if (old.confirmedAt !== null || old.reportedMissingAt !== null) return;
  await moveTo(work, old, undefined, { reportedMissingAt: work.now });
}

/** Mails the creator the link to the parcel's page, once per status for as long as the mail is kept. */
export async function notifyCreator(work: Work, row: ShipmentRow): Promise<Queued> {
  if (row.creatorEmail === null) {
    const message = 'has no e-mail address on record.';
    throw validationError([{ field: 'creator_email', code: 'no_email', message }]);
  }
  return await queueMail(work, {
    kind: 'parcel_on_its_way',
    to: row.creatorEmail,
    subjectRow: `${row.id}:${row.status}`,
    creatorId: row.creatorId,
    params: {
      ...{ shipment_id: row.id, link_version: row.linkVersion, status: row.status },
      ...{ product: row.productDescription, carrier: row.carrier, tracking_number: row.trackingNumber },
      estimated_arrival: row.estimatedArrival,
    },
  });
}
