import { type Insertable, type Selectable, sql, type Updateable } from 'kysely';
import { isFound } from '../../kit/engines/postgres/count.ts';
import type { AssetsTable, AssetUploadsTable } from '../../kit/engines/postgres/database.ts';
import { listing } from '../../kit/engines/postgres/listing.ts';
import type { Db } from '../../kit/engines/postgres/open.ts';
import type { ListWindow } from '../../kit/values/page.ts';
import { given } from '../../kit/values/patch.ts';
import { isOfCreator, patternOf } from '../creators/queries.ts';
import { daysAfter, EXPIRING_DAYS } from './rights/policy.ts';

export type AssetType = AssetsTable['type'];
export type AssetSource = AssetsTable['source'];

/** What a contract allows a brand to do with a file. */
export interface UsageTerms {
  channels: string[] | null;
  territory: string | null;
  days: number | null;
  starts: 'signed' | 'posted' | 'fixed' | null;
  /** The day, if `starts` is `fixed`. Older terms lack it. */
  starts_on?: string | null;
}

declare module '../../kit/engines/postgres/columns.ts' {
  interface ColumnShapes {
    'assets.rights': UsageTerms;
  }
}

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
  changed: ['createdAt', 'updatedAt'],
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

/** Pictures whose thumbnail is due. */
export async function listWithoutThumbnail(db: Db, now: Date, limit: number): Promise<string[]> {
  const rows = await db
    .selectFrom('assets')
    .select('id')
    .where('thumbnailState', '=', 'due')
    .where('deletedAt', 'is', null)
    .where(sql<boolean>`coalesce(thumbnail_retry_at, created_at) <= ${now}`)
    .orderBy(sql`coalesce(thumbnail_retry_at, created_at)`)
    .limit(limit)
    .execute();
  return rows.map(({ id }) => id);
}

/** Claims a picture for one attempt; undefined if it is not due. An attempt that crashes the process counts too. */
export async function claimThumbnail(db: Db, id: string, now: Date, retryAt: Date) {
  return await db
    .updateTable('assets')
    .set((eb) => ({ thumbnailAttempts: eb('thumbnailAttempts', '+', 1), thumbnailRetryAt: retryAt }))
    .where('id', '=', id)
    .where('thumbnailState', '=', 'due')
    .where('deletedAt', 'is', null)
    .where(sql<boolean>`coalesce(thumbnail_retry_at, created_at) <= ${now}`)
    .returning(['brandId', 'storageKey', 'thumbnailAttempts'])
    .executeTakeFirst();
}

interface ThumbnailResult {
  thumbnailKey: string | null;
  thumbnailState: 'made' | 'failed';
  width: number | null;
  height: number | null;
}

export async function updateThumbnail(db: Db, id: string, result: ThumbnailResult): Promise<void> {
  await db.updateTable('assets').set(result).where('id', '=', id).execute();
}

/** Deleted assets whose files still exist. */
export async function listToPurge(db: Db, limit: number) {
  return await db
    .selectFrom('assets')
    .select(['id', 'storageKey'])
    .where('deletedAt', 'is not', null)
    .where('purgedAt', 'is', null)
    .orderBy('deletedAt')
    .limit(limit)
    .execute();
}

export async function notePurged(db: Db, id: string, now: Date): Promise<void> {
  await db.updateTable('assets').set({ purgedAt: now }).where('id', '=', id).execute();
}

/** Assets whose brand is due a notice that the rights end. */
export async function listEndingRights(db: Db, now: Date, limit: number) {
  return await db
    .selectFrom('assets')
    .innerJoin('brands', 'brands.id', 'assets.brandId')
    .select(['assets.id', 'assets.brandId', 'assets.name', 'assets.rightsExpiresAt', 'assets.rightsNoticeDays'])
    .select('brands.contactEmail')
    .where('assets.deletedAt', 'is', null)
    .where('assets.rightsExpiresAt', 'is not', null)
    .where(sql<boolean>`assets.rights_notice_days is distinct from 0`)
    .where('assets.rightsExpiresAt', '<=', daysAfter(now, EXPIRING_DAYS))
    .where(
      sql<boolean>`(assets.rights_notice_days is null
        or (assets.rights_notice_days > 3 and assets.rights_expires_at <= ${daysAfter(now, 3)})
        or assets.rights_expires_at <= ${now})`,
    )
    .orderBy('assets.rightsExpiresAt')
    .limit(limit)
    .execute();
}

/** False if another worker was faster, or if the rights have changed in the meantime. */
export const noteNotice = (
  db: Db,
  { id, rightsExpiresAt, before }: { id: string; rightsExpiresAt: Date; before: number | null },
  days: number,
): Promise<boolean> =>
  isFound(
    db
      .updateTable('assets')
      .set({ rightsNoticeDays: days })
      .where('id', '=', id)
      .where('deletedAt', 'is', null)
      .where('rightsExpiresAt', '=', rightsExpiresAt)
      .where(sql<boolean>`rights_notice_days is not distinct from ${before}`)
      .returning('id'),
  );

/** Records a file before its first byte is written, so that it is found and removed if the process dies. */
export async function insertUpload(db: Db, row: Insertable<AssetUploadsTable>): Promise<void> {
  await db.insertInto('assetUploads').values(row).execute();
}

/** Prevents any asset from taking the file; false if one already has. */
export const giveUpUpload = (db: Db, storageKey: string, now: Date): Promise<boolean> =>
  isFound(
    db.updateTable('assetUploads').set({ givenUpAt: now }).where('storageKey', '=', storageKey).returning('storageKey'),
  );

export async function forgetUpload(db: Db, storageKey: string): Promise<void> {
  await db.deleteFrom('assetUploads').where('storageKey', '=', storageKey).execute();
}

/** Takes the file for an asset; false if it was discarded in the meantime. */
export async function takeUpload(db: Db, brandId: string, storageKey: string): Promise<boolean> {
  const taken = await db
    .deleteFrom('assetUploads')
    .where('brandId', '=', brandId)
    .where('storageKey', '=', storageKey)
    .where('givenUpAt', 'is', null)
    .returning('storageKey')
    .executeTakeFirst();
  return taken !== undefined;
}

/** Files that no asset has taken for too long. */
export async function listAbandonedUploads(db: Db, before: Date, limit: number): Promise<string[]> {
  const rows = await db
    .selectFrom('assetUploads')
    .select('storageKey')
    .where('begunAt', '<', before)
    .orderBy('begunAt')
    .limit(limit)
    .execute();
  return rows.map(({ storageKey }) => storageKey);
}
