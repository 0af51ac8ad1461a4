import { given } from '../../api/patch.ts';
import type { Work } from '../../api/work.ts';
import type { ShipmentStatus } from '../../engines/postgres/shipment-tables.ts';
import { validationError } from '../../values/errors.ts';
import { newId } from '../../values/ids.ts';
import { toWire } from '../../values/wire.ts';
import { findAddressee, notOnRoster } from '../applications/addressee-queries.ts';
import { campaignProblems } from '../campaigns/actions.ts';
import { describeProducts, timesAfter } from './policy.ts';
import { getShipment, insertShipment, lockShipment, type ShipmentRow, updateShipment } from './queries.ts';
import { Shipment, type ShipmentCreate, type ShipmentPatch } from './schema.ts';

type Fields = Omit<ShipmentPatch, 'status'>;

/** Only what the input sets. Products without a description of their own describe themselves. */
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
  const { creator_email: email, ...fields } = input;
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
  return row;
}

/** Another parcel: what the carrier said of the one before is no news of this. */
const untracked = (trackingNumber: string | null, now: Date) => ({
  ...{ trackingStatus: null, trackingEvents: '[]', trackingRef: null },
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

/** Writes a change of a locked shipment; entering `delivered` is told to whoever follows. */
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
