import { type Insertable, sql, type Updateable } from 'kysely';
import type { Page } from '../../api/page.ts';
import { inBatches } from '../../engines/postgres/batches.ts';
import type { Db, Exports } from '../../engines/postgres/open.ts';
import type { ShipmentStatus, ShipmentsTable } from '../../engines/postgres/shipment-tables.ts';
import { type Cut, cutTo, inOrder, inWindow } from '../../engines/postgres/window.ts';
import { notFound } from '../../values/errors.ts';
import type { ShipmentFilter } from './schema.ts';

const withCreator = (db: Db, brandId: string) =>
  db
    .selectFrom('shipments')
    .innerJoin('creators as creator', 'creator.id', 'shipments.creatorId')
    .selectAll('shipments')
    .select(['creator.email as creatorEmail', 'creator.name as creatorName'])
    .where('shipments.brandId', '=', brandId);

export type ShipmentRow = Awaited<ReturnType<typeof getShipment>>;

/** A created one waits to be sent, as a pending one does. */
const INCLUDED: Record<NonNullable<ShipmentFilter['status']>, ShipmentStatus[]> = {
  pending: ['created', 'pending'],
  shipped: ['shipped'],
  delivered: ['delivered'],
  returned: ['returned'],
};

export type ShipmentWhere = Pick<
  ShipmentFilter,
  'creator_email' | 'campaign_id' | 'status' | 'created_after' | 'created_before' | 'sort'
>;

function matching(db: Db, brandId: string, { creator_email, campaign_id, status, ...window }: ShipmentWhere) {
  let query = db
    .selectFrom('shipments')
    .where('shipments.brandId', '=', brandId)
    .where(inWindow('shipments.createdAt', window));
  if (status !== undefined) query = query.where('shipments.status', 'in', INCLUDED[status]);
  if (campaign_id !== undefined) query = query.where('shipments.campaignId', '=', campaign_id);
  if (creator_email !== undefined) {
    query = query.where('shipments.creatorId', 'in', (eb) =>
      eb
        .selectFrom('creators')
        .select('id')
        .where('brandId', '=', brandId)
        .where(sql`lower(email)`, '=', creator_email.toLowerCase()),
    );
  }
  return query;
}

async function selectShipments(db: Db, brandId: string, where: ShipmentWhere, cut: Cut) {
  const order = { time: 'shipments.createdAt', id: 'shipments.id', sort: where.sort };
  const ids = cutTo(matching(db, brandId, where).select('shipments.id'), order, cut);
  return await inOrder(withCreator(db, brandId).where('shipments.id', 'in', ids), order).execute();
}

export async function listShipments(db: Db, brandId: string, where: ShipmentWhere, page: Page) {
  const { total } = await matching(db, brandId, where)
    .select(({ fn }) => fn.countAll<number>().as('total'))
    .executeTakeFirstOrThrow();
  return { rows: await selectShipments(db, brandId, where, page), total };
}

export function eachShipment(exports: Exports, brandId: string, where: ShipmentWhere) {
  return inBatches<ShipmentRow>(exports, brandId, (trx, last, limit) =>
    selectShipments(trx, brandId, where, { limit, after: last && { at: last.createdAt, id: last.id } }),
  );
}

export async function getShipment(db: Db, brandId: string, id: string) {
  const row = await withCreator(db, brandId).where('shipments.id', '=', id).executeTakeFirst();
  if (!row) throw notFound('shipment');
  return row;
}

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

/** A shipment as its creator's page shows it. Found by its id alone: the page's token stands for the brand. */
export async function findShipmentPage(db: Db, id: string) {
  return await db.selectFrom('shipments').selectAll().where('shipments.id', '=', id).executeTakeFirst();
}
