import type { Insertable, Selectable, Updateable } from 'kysely';
import { COUNT, countOf } from '../../kit/engines/postgres/count.ts';
import type { CostsTable } from '../../kit/engines/postgres/database.ts';
import { listing } from '../../kit/engines/postgres/listing.ts';
import type { Db } from '../../kit/engines/postgres/open.ts';
import { updateOwn } from '../../kit/engines/postgres/own.ts';
import type { ListWindow } from '../../kit/values/page.ts';
import { given } from '../../kit/values/patch.ts';

export type CostRow = Selectable<CostsTable>;

interface CostWhere extends ListWindow {
  kind?: CostRow['kind'] | undefined;
  campaign_id?: string | undefined;
}

export const costs = listing({
  noun: 'cost',
  table: 'costs',
  time: 'createdAt',
  changed: ['createdAt', 'updatedAt'],
  matching: (db, _brandId, { kind, campaign_id: campaignId }: CostWhere) =>
    db.selectFrom('costs').where((eb) => eb.and(given({ kind, campaignId }))),
  rows: (db) => db.selectFrom('costs').selectAll(),
});

/** Makes concurrent calls count each other's costs. */
export async function lockBrand(db: Db, brandId: string): Promise<void> {
  await db.selectFrom('brands').select('id').where('id', '=', brandId).forNoKeyUpdate().executeTakeFirstOrThrow();
}

/** All costs of the brand; a brand has few. */
export async function listCosts(db: Db, brandId: string): Promise<CostRow[]> {
  return await db.selectFrom('costs').selectAll().where('brandId', '=', brandId).orderBy('id').execute();
}

export const countCosts = (db: Db, brandId: string): Promise<number> =>
  countOf(db.selectFrom('costs').select(COUNT).where('brandId', '=', brandId));

export const insertCost = (db: Db, row: Insertable<CostsTable>): Promise<CostRow> =>
  db.insertInto('costs').values(row).returningAll().executeTakeFirstOrThrow();

export const updateCost = (db: Db, brandId: string, id: string, change: Updateable<CostsTable>): Promise<CostRow> =>
  updateOwn(db.updateTable('costs').set(change).returningAll(), brandId, id);

export async function deleteCost(db: Db, brandId: string, id: string): Promise<void> {
  await db.deleteFrom('costs').where('brandId', '=', brandId).where('id', '=', id).execute();
}
