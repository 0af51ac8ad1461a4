import { type Insertable, type Selectable, sql, type Updateable } from 'kysely';
import type { ListWindow, Page } from '../../api/page.ts';
import type { AssetsTable, AssetType } from '../../engines/postgres/asset-tables.ts';
import { inBatches } from '../../engines/postgres/batches.ts';
import type { Db, Exports } from '../../engines/postgres/open.ts';
import { type Cut, cutTo, inOrder, inWindow, type Order } from '../../engines/postgres/window.ts';
import { notFound } from '../../values/errors.ts';
import { isOfCreator } from '../creators/filter-queries.ts';
import { daysAfter, EXPIRING_DAYS } from './policy.ts';

export interface AssetWhere extends ListWindow {
  folder_id?: string | undefined;
  type?: AssetType | undefined;
  search?: string | undefined;
  tag?: string | undefined;
  campaign_id?: string | undefined;
  creator_email?: string | undefined;
  rights?: 'valid' | 'expiring' | 'expired' | undefined;
  /** What `rights` is measured at. */
  now: Date;
}

const escaped = (text: string) => text.replace(/[\\%_]/g, (character) => `\\${character}`);

function inRights(rights: NonNullable<AssetWhere['rights']>, now: Date) {
  const end = sql.ref<Date | null>('assets.rightsExpiresAt');
  if (rights === 'expired') return sql<boolean>`${end} <= ${now}`;
  if (rights === 'valid') return sql<boolean>`(${end} is null or ${end} > ${now})`;
  return sql<boolean>`(${end} > ${now} and ${end} <= ${daysAfter(now, EXPIRING_DAYS)})`;
}

function matching(db: Db, brandId: string, where: AssetWhere) {
  const { folder_id, type, search, tag, campaign_id, creator_email, rights, now } = where;
  let query = db
    .selectFrom('assets')
    .where('assets.brandId', '=', brandId)
    .where('assets.deletedAt', 'is', null)
    .where(inWindow('assets.createdAt', where));
  if (folder_id === 'root') query = query.where('assets.folderId', 'is', null);
  else if (folder_id !== undefined) query = query.where('assets.folderId', '=', folder_id);
  if (type !== undefined) query = query.where('assets.type', '=', type);
  if (search !== undefined) query = query.where('assets.name', 'ilike', `%${escaped(search)}%`);
  if (tag !== undefined) query = query.where(sql<boolean>`${tag} = any(assets.tags)`);
  if (campaign_id !== undefined) query = query.where('assets.campaignId', '=', campaign_id);
  query = query.where(isOfCreator('assets.creatorId', brandId, creator_email));
  if (rights !== undefined) query = query.where(inRights(rights, now));
  return query;
}

const withCreator = (db: Db, brandId: string) =>
  db
    .selectFrom('assets')
    .leftJoin('creators', 'creators.id', 'assets.creatorId')
    .selectAll('assets')
    .select('creators.email as creatorEmail')
    .where('assets.brandId', '=', brandId)
    .where('assets.deletedAt', 'is', null);

const orderOf = ({ sort }: AssetWhere): Order => ({ time: 'assets.createdAt', id: 'assets.id', sort });

async function selectAssets(db: Db, brandId: string, where: AssetWhere, cut: Cut) {
  const ids = cutTo(matching(db, brandId, where).select('assets.id'), orderOf(where), cut);
  return await inOrder(withCreator(db, brandId).where('assets.id', 'in', ids), orderOf(where)).execute();
}

export type AssetRow = Awaited<ReturnType<typeof selectAssets>>[number];

export async function listAssets(db: Db, brandId: string, where: AssetWhere, page: Page) {
  const { total } = await matching(db, brandId, where)
    .select(({ fn }) => fn.countAll<number>().as('total'))
    .executeTakeFirstOrThrow();
  return { rows: await selectAssets(db, brandId, where, page), total };
}

export function eachAsset(exports: Exports, brandId: string, where: AssetWhere) {
  return inBatches<AssetRow>(exports, brandId, (trx, last, limit) =>
    selectAssets(trx, brandId, where, { limit, after: last && { at: last.createdAt, id: last.id } }),
  );
}

export async function getAsset(db: Db, brandId: string, id: string): Promise<AssetRow> {
  const row = await withCreator(db, brandId).where('assets.id', '=', id).executeTakeFirst();
  if (!row) throw notFound('asset');
  return row;
}

/** Those of these ids that are the brand's, in the order of the ids that were asked for. */
export async function listAssetsById(db: Db, brandId: string, ids: readonly string[]): Promise<AssetRow[]> {
  const rows = await withCreator(db, brandId).where('assets.id', 'in', ids).execute();
  const byId = new Map(rows.map((row) => [row.id, row]));
  return ids.flatMap((id) => byId.get(id) ?? []);
}

/** Locked in the order of their ids, so that no two selections wait for each other. */
export async function lockAssets(db: Db, brandId: string, ids: readonly string[]) {
  return await db
    .selectFrom('assets')
    .selectAll()
    .where('brandId', '=', brandId)
    .where('deletedAt', 'is', null)
    .where('id', 'in', ids)
    .orderBy('id')
    .forUpdate()
    .execute();
}

export type StoredAssetRow = Selectable<AssetsTable>;

export async function insertAsset(db: Db, row: Insertable<AssetsTable>): Promise<StoredAssetRow> {
  return await db.insertInto('assets').values(row).returningAll().executeTakeFirstOrThrow();
}

/** Undefined when it is deleted. */
export async function updateAsset(
  db: Db,
  brandId: string,
  id: string,
  change: Updateable<AssetsTable>,
): Promise<StoredAssetRow | undefined> {
  return await db
    .updateTable('assets')
    .set(change)
    .where('brandId', '=', brandId)
    .where('id', '=', id)
    .where('deletedAt', 'is', null)
    .returningAll()
    .executeTakeFirst();
}

/** Found by its id alone: whoever has a signed address of it has no brand. */
export async function findFileOf(db: Db, id: string) {
  return await db
    .selectFrom('assets')
    .select(['name', 'type', 'mimeType', 'sizeBytes', 'sha256', 'storageKey', 'thumbnailKey', 'createdAt'])
    .where('id', '=', id)
    .where('deletedAt', 'is', null)
    .executeTakeFirst();
}
