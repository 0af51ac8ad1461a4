import { type Insertable, type Selectable, sql, type Updateable } from 'kysely';
import type { AssetsTable, AssetType } from '../../engines/postgres/asset-tables.ts';
import { listing } from '../../engines/postgres/listing.ts';
import type { Db } from '../../engines/postgres/open.ts';
import type { ListWindow } from '../../values/page.ts';
import { given } from '../../values/patch.ts';
import { isOfCreator, patternOf } from '../creators/filter-queries.ts';
import { daysAfter, EXPIRING_DAYS } from './policy.ts';

export interface AssetWhere extends ListWindow {
  folder_id?: string | undefined;
  type?: AssetType | undefined;
  search?: string | undefined;
  tag?: string | undefined;
  campaign_id?: string | undefined;
  creator_email?: string | undefined;
  rights?: 'valid' | 'expiring' | 'expired' | undefined;
  /** The time at which `rights` is evaluated. */
  now: Date;
}

function inRights(rights: NonNullable<AssetWhere['rights']>, now: Date) {
  const end = sql.ref<Date | null>('assets.rightsExpiresAt');
  if (rights === 'expired') return sql<boolean>`${end} <= ${now}`;
  if (rights === 'valid') return sql<boolean>`(${end} is null or ${end} > ${now})`;
  return sql<boolean>`(${end} > ${now} and ${end} <= ${daysAfter(now, EXPIRING_DAYS)})`;
}

const isInFolder = (folderId: string) =>
  folderId === 'root' ? sql<boolean>`assets.folder_id is null` : sql<boolean>`assets.folder_id = ${folderId}`;

/** Joined with their creator; deleted assets are excluded. */
const withCreator = (db: Db) =>
  db
    .selectFrom('assets')
    .leftJoin('creators', 'creators.id', 'assets.creatorId')
    .selectAll('assets')
    .select('creators.email as creatorEmail')
    .where('assets.deletedAt', 'is', null);

export const assets = listing({
  noun: 'asset',
  table: 'assets',
  time: 'createdAt',
  matching: (db, brandId, { folder_id, type, search, tag, campaign_id, creator_email, rights, now }: AssetWhere) => {
    let query = db
      .selectFrom('assets')
      .where('assets.deletedAt', 'is', null)
      .where((eb) => eb.and(given({ type, campaignId: campaign_id })))
      .where(isOfCreator('assets.creatorId', brandId, creator_email));
    if (folder_id !== undefined) query = query.where(isInFolder(folder_id));
    if (search !== undefined) query = query.where('assets.name', 'ilike', patternOf(search));
    if (tag !== undefined) query = query.where(sql<boolean>`${tag} = any(assets.tags)`);
    if (rights !== undefined) query = query.where(inRights(rights, now));
    return query;
  },
  rows: withCreator,
});
export const { get: getAsset } = assets;
export type AssetRow = Awaited<ReturnType<typeof getAsset>>;

/** The brand's assets among these ids, in the requested order. */
export async function listAssetsById(db: Db, brandId: string, ids: readonly string[]): Promise<AssetRow[]> {
  const rows = await withCreator(db).where('assets.brandId', '=', brandId).where('assets.id', 'in', ids).execute();
  const byId = new Map(rows.map((row) => [row.id, row]));
  return ids.flatMap((id) => byId.get(id) ?? []);
}

/** Locked in the order of their ids, so that overlapping selections cannot deadlock. */
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

/** Undefined if it is deleted. */
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

/** Found by id alone, because a request with a signed URL has no brand. */
export async function findFileOf(db: Db, id: string) {
  return await db
    .selectFrom('assets')
    .select(['name', 'type', 'mimeType', 'sizeBytes', 'sha256', 'storageKey', 'thumbnailKey', 'createdAt'])
    .where('id', '=', id)
    .where('deletedAt', 'is', null)
    .executeTakeFirst();
}
