import { type Insertable, type Selectable, sql, type Updateable } from 'kysely';
import { isFound } from '../../kit/engines/postgres/count.ts';
import type { AssetsTable } from '../../kit/engines/postgres/database.ts';
import { listing } from '../../kit/engines/postgres/listing.ts';
import type { Db } from '../../kit/engines/postgres/open.ts';
import { violates } from '../../kit/engines/postgres/violation.ts';
import { getTimeZone } from '../../kit/operation/local-days.ts';
import type { Work } from '../../kit/operation/work.ts';
import { ApiError, notFound, type Problem, validationError } from '../../kit/values/errors.ts';
import { newId } from '../../kit/values/ids.ts';
import type { Page } from '../../kit/values/page.ts';
import { omitUndefined } from '../../kit/values/patch.ts';
import { getAddressee } from '../applications/applications.ts';
import { matchesCreator, toLikePattern } from '../creators/creators.ts';
import { showCreator } from '../creators/renamed.ts';
import type { AssetFilter, AssetPatch, AssetUpload } from './assets.shapes.ts';
import { computeFixedEnd, computeRightsEnd, daysAfter, EXPIRING_DAYS } from './rights.ts';
import { claimUpload, type StoredFile } from './uploads.ts';

export type AssetType = AssetsTable['type'];
export type AssetSource = AssetsTable['source'];

/** The brand's rights to a file, from a contract. */
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

/** `rights` depends on the time. */
type AssetSelection = Omit<AssetFilter, keyof Page> & { now: Date };

function inRights(rights: NonNullable<AssetFilter['rights']>, now: Date) {
  const end = sql.ref<Date | null>('assets.rightsExpiresAt');
  if (rights === 'expired') return sql<boolean>`${end} <= ${now}`;
  if (rights === 'valid') return sql<boolean>`(${end} is null or ${end} > ${now})`;
  return sql<boolean>`(${end} > ${now} and ${end} <= ${daysAfter(now, EXPIRING_DAYS)})`;
}

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
  shown: [showCreator('assets')],
  matching: (
    db,
    brandId,
    { folder_id, type, search, tag, campaign_id, creator_email, rights, now }: AssetSelection,
  ) => {
    let query = db
      .selectFrom('assets')
      .where('assets.deletedAt', 'is', null)
      .where((eb) => eb.and(omitUndefined({ type, campaignId: campaign_id })))
      .where(matchesCreator('assets.creatorId', brandId, creator_email));
    if (folder_id !== undefined)
      query = query.where(
        folder_id === 'root' ? sql<boolean>`assets.folder_id is null` : sql<boolean>`assets.folder_id = ${folder_id}`,
      );
    if (search !== undefined) query = query.where('assets.name', 'ilike', toLikePattern(search));
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
async function lockAssets(db: Db, brandId: string, ids: readonly string[]) {
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

/** Undefined if it is deleted. */
async function updateAsset(
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
export async function findAssetFile(db: Db, id: string) {
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

export async function markPurged(db: Db, id: string, now: Date): Promise<void> {
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
export const markNotified = (
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

/** The facts of a new asset besides its file. */
export interface NewAsset {
  source: AssetSource;
  /** The file's name if omitted. */
  name?: string | undefined;
  folderId?: string | undefined;
  campaignId?: string | null | undefined;
  creatorId?: string | null | undefined;
  tags?: string[] | undefined;
  usageRights?: string | null | undefined;
  rights?: UsageTerms | null | undefined;
  rightsExpiresAt?: Date | null | undefined;
}

const toMissingProblem = (field: string, what: string): Problem => ({
  field,
  code: 'not_found',
  message: `is not ${what === 'asset' ? 'an' : 'a'} ${what} of this brand.`,
});

/** The statement that writes an asset decides whether its references exist. */
function translateViolation(error: unknown): unknown {
  if (violates(error, 'assets_brand_id_folder_id_fkey'))
    return validationError([toMissingProblem('folder_id', 'folder')]);
  if (violates(error, 'assets_brand_id_campaign_id_fkey'))
    return validationError([toMissingProblem('campaign_id', 'campaign')]);
  return error;
}

/** The row as the audit log shows it. */
const toAuditRow = ({ sha256: _sha256, ...row }: StoredAssetRow) => row;

/** Creates the asset of a received file: a brand's upload, or a creator's submission on a page. */
export async function createAsset(work: Work, file: StoredFile, input: NewAsset): Promise<AssetRow> {
  const { db, now, brandId } = work;
  const { storageKey, type, mimeType, sizeBytes, sha256 } = file;
  if (!(await claimUpload(db, brandId, file))) throw new Error('The file was discarded before its asset was created.');
  const columns: Insertable<AssetsTable> = {
    id: newId('ast', now.getTime()),
    brandId,
    name: input.name ?? file.name,
    type,
    mimeType,
    sizeBytes,
    sha256: Buffer.from(sha256, 'hex'),
    storageKey,
    thumbnailState: type === 'image' ? 'due' : 'none',
    folderId: input.folderId ?? null,
    campaignId: input.campaignId ?? null,
    creatorId: input.creatorId ?? null,
    source: input.source,
    tags: [...new Set(input.tags)],
    usageRights: input.usageRights ?? null,
    rights: input.rights ? JSON.stringify(input.rights) : null,
    rightsExpiresAt: input.rightsExpiresAt ?? null,
    createdAt: now,
    updatedAt: null,
  };
  const row = await db
    .insertInto('assets')
    .values(columns)
    .returningAll()
    .executeTakeFirstOrThrow()
    .catch((error: unknown) => {
      throw translateViolation(error);
    });
  work.audit({ resourceId: row.id, old: null, new: toAuditRow(row) });
  return await getAsset(db, brandId, row.id);
}

/** A brand's own upload. */
export async function uploadAsset(work: Work, file: StoredFile, input: AssetUpload): Promise<AssetRow> {
  const { name, folder_id, campaign_id, creator_email, tags, usage_rights, rights_expires_at } = input;
  const creator = creator_email === undefined ? null : await getAddressee(work.db, work.brandId, creator_email);
  return await createAsset(work, file, {
    source: 'upload',
    name,
    folderId: folder_id,
    campaignId: campaign_id,
    creatorId: creator?.id,
    tags,
    usageRights: usage_rights,
    rightsExpiresAt: rights_expires_at,
  });
}

function assertAllFound(ids: readonly string[], rows: readonly StoredAssetRow[], field: string): void {
  const knownIds = new Set(rows.map(({ id }) => id));
  const details = ids.flatMap((id, i) =>
    knownIds.has(id)
      ? []
      : [
          {
            ...toMissingProblem(field === 'ids' ? `ids.${i}` : field, 'asset'),
            message: `${id} is not an asset of this brand.`,
          },
        ],
  );
  if (details.length === 0) return;
  const message = `${details.length} of ${ids.length} assets cannot be changed; nothing was.`;
  throw new ApiError('INVALID_SELECTION', message, { details });
}

/**
 * The columns that a patch of an asset's rights sets. Terms with a fixed first day have their own end unless the patch names
 * another; it goes with them. Other terms leave an end that was set by hand.
 */
function toRightsColumns(old: StoredAssetRow, { rights, rights_expires_at: givenEnd }: AssetPatch, timeZone: string) {
  if (rights === undefined && givenEnd === undefined) return {};
  const terms = rights === undefined ? old.rights : rights;
  const isOldComputed = old.rightsExpiresAt?.getTime() === computeFixedEnd(old.rights, timeZone)?.getTime();
  const otherEnd = givenEnd === undefined && !isOldComputed ? old.rightsExpiresAt : null;
  const end = givenEnd ?? computeFixedEnd(terms, timeZone) ?? otherEnd;
  const isMoved = end?.getTime() !== old.rightsExpiresAt?.getTime();
  return {
    ...(rights === undefined ? {} : { rights: rights === null ? null : JSON.stringify(rights) }),
    rightsExpiresAt: end,
    // A new end of the rights is announced again.
    ...(isMoved || givenEnd !== undefined ? { rightsNoticeDays: null } : {}),
  };
}

/** Applies the patch to the whole selection, or changes nothing. */
export async function patchAssets(work: Work, patch: AssetPatch): Promise<AssetRow[]> {
  const { db, now, brandId } = work;
  const ids = [...new Set(patch.ids ?? (patch.id === undefined ? [] : [patch.id]))];
  const rows = await lockAssets(db, brandId, ids);
  assertAllFound(ids, rows, patch.ids ? 'ids' : 'id');
  const { name, folder_id: folderId, tags, usage_rights: usageRights } = patch;
  const columns = { ...omitUndefined({ name, folderId, usageRights }), ...(tags ? { tags: [...new Set(tags)] } : {}) };
  const timeZone = await getTimeZone(db, brandId);
  for (const old of rows) {
    const change = { ...columns, ...toRightsColumns(old, patch, timeZone), updatedAt: now };
    const row = await updateAsset(db, brandId, old.id, change).catch((error: unknown) => {
      throw translateViolation(error);
    });
    if (row) work.audit({ resourceId: row.id, old: toAuditRow(old), new: toAuditRow(row) });
  }
  return await listAssetsById(db, brandId, ids);
}

/** The asset and its URLs stop working immediately; a job removes its files soon after. */
export async function deleteAsset(work: Work, id: string): Promise<void> {
  const { db, now, brandId } = work;
  const [old] = await lockAssets(db, brandId, [id]);
  if (!old) throw notFound('asset');
  await updateAsset(db, brandId, id, { deletedAt: now, folderId: null, updatedAt: now });
  work.audit({ resourceId: id, old: toAuditRow(old), new: null });
}

/**
 * Sets the end of rights that count from the first post, once its date is known. An end that was set by hand stays; one
 * that was computed from a later post does not.
 */
export async function endRightsByPosts(work: Work, ids: readonly string[], postedAts: readonly Date[]): Promise<void> {
  const [first] = postedAts.toSorted((a, b) => a.getTime() - b.getTime());
  if (first === undefined || ids.length === 0) return;
  const { db, brandId, now } = work;
  const timeZone = await getTimeZone(db, brandId);
  for (const old of await lockAssets(db, brandId, ids)) {
    const { rights, rightsExpiresAt: before } = old;
    if (rights?.starts !== 'posted') continue;
    const endFrom = (postedAt: Date) => computeRightsEnd(rights, { signedAt: null, postedAt, timeZone })?.getTime();
    const end = endFrom(first);
    if (end === undefined || before?.getTime() === end) continue;
    if (before !== null && !postedAts.some((postedAt) => endFrom(postedAt) === before.getTime())) continue;
    const change = { rightsExpiresAt: new Date(end), rightsNoticeDays: null, updatedAt: now };
    const row = await updateAsset(db, brandId, old.id, change);
    if (row) work.audit({ resourceId: row.id, old: toAuditRow(old), new: toAuditRow(row) });
  }
}
