import type { AssetSource, UsageTerms } from '../../engines/postgres/asset-tables.ts';
import { violates } from '../../engines/postgres/violation.ts';
import type { Work } from '../../operation/work.ts';
import { ApiError, notFound, type Problem, validationError } from '../../values/errors.ts';
import { newId } from '../../values/ids.ts';
import { given } from '../../values/patch.ts';
import { getAddressee } from '../applications/addressee-queries.ts';
import {
  type AssetRow,
  getAsset,
  insertAsset,
  listAssetsById,
  lockAssets,
  type StoredAssetRow,
  updateAsset,
} from './queries.ts';
import type { StoredFile } from './receive.ts';
import type { AssetPatch, AssetUpload } from './schema.ts';
import { takeUpload } from './upload-queries.ts';

/** What an asset is made from, besides its file. */
export interface NewAsset {
  source: AssetSource;
  /** Default: the file's name. */
  name?: string | undefined;
  folderId?: string | undefined;
  campaignId?: string | null | undefined;
  creatorId?: string | null | undefined;
  tags?: string[] | undefined;
  usageRights?: string | null | undefined;
  rights?: UsageTerms | null | undefined;
  rightsExpiresAt?: Date | null | undefined;
}

const missing = (field: string, what: string): Problem => ({
  field,
  code: 'not_found',
  message: `is not one of your ${what}s.`,
});

/** The statement that writes an asset decides whether its references exist. */
function refusalOf(error: unknown): unknown {
  if (violates(error, 'assets_brand_id_folder_id_fkey')) return validationError([missing('folder_id', 'folder')]);
  if (violates(error, 'assets_brand_id_campaign_id_fkey')) return validationError([missing('campaign_id', 'campaign')]);
  return error;
}

/** The row as the audit log shows it. */
export const auditedAsset = ({ sha256: _sha256, ...row }: StoredAssetRow) => row;

/** Creates the asset of a received file: a brand's upload, or a creator's submission on a page. */
export async function createAsset(work: Work, file: StoredFile, input: NewAsset): Promise<AssetRow> {
  const { db, now, brandId } = work;
  const { storageKey, type, mimeType, sizeBytes, sha256 } = file;
  if (!(await takeUpload(db, brandId, storageKey)))
    throw new Error('The file was discarded before its asset was created.');
  const row = await insertAsset(db, {
    ...{ id: newId('ast', now.getTime()), brandId, name: input.name ?? file.name },
    ...{ type, mimeType, sizeBytes, sha256: Buffer.from(sha256, 'hex'), storageKey },
    thumbnailState: type === 'image' ? 'due' : 'none',
    ...{ folderId: input.folderId ?? null, campaignId: input.campaignId ?? null, creatorId: input.creatorId ?? null },
    ...{ source: input.source, tags: [...new Set(input.tags)], usageRights: input.usageRights ?? null },
    rights: input.rights ? JSON.stringify(input.rights) : null,
    rightsExpiresAt: input.rightsExpiresAt ?? null,
    createdAt: now,
    updatedAt: null,
  }).catch((error: unknown) => {
    throw refusalOf(error);
  });
  work.audit({ resourceId: row.id, old: null, new: auditedAsset(row) });
  return await getAsset(db, brandId, row.id);
}

/** A brand's own upload. */
export async function uploadAsset(work: Work, file: StoredFile, input: AssetUpload): Promise<AssetRow> {
  const { name, folder_id, campaign_id, creator_email, tags, usage_rights, rights_expires_at } = input;
  const creator = creator_email === undefined ? null : await getAddressee(work.db, work.brandId, creator_email);
  return await createAsset(work, file, {
    ...{ source: 'upload', name, folderId: folder_id, campaignId: campaign_id, creatorId: creator?.id, tags },
    ...{ usageRights: usage_rights, rightsExpiresAt: rights_expires_at },
  });
}

function assertAllFound(ids: readonly string[], found: readonly StoredAssetRow[], field: string): void {
  const known = new Set(found.map(({ id }) => id));
  const details = ids.flatMap((id, i) =>
    known.has(id)
      ? []
      : [{ ...missing(field === 'ids' ? `ids.${i}` : field, 'asset'), message: `${id} is not one of your assets.` }],
  );
  if (details.length === 0) return;
  const message = `${details.length} of ${ids.length} assets cannot be changed; nothing was.`;
  throw new ApiError('INVALID_SELECTION', message, { details });
}

/** A new end of the rights is announced again. */
function rightsColumns({ rights, rights_expires_at }: AssetPatch) {
  return {
    ...(rights === undefined ? {} : { rights: rights === null ? null : JSON.stringify(rights) }),
    ...(rights_expires_at === undefined ? {} : { rightsExpiresAt: rights_expires_at, rightsNoticeDays: null }),
  };
}

/** Applies the patch to the whole selection, or changes nothing. */
export async function patchAssets(work: Work, patch: AssetPatch): Promise<AssetRow[]> {
  const { db, now, brandId } = work;
  const ids = [...new Set(patch.ids ?? (patch.id === undefined ? [] : [patch.id]))];
  const found = await lockAssets(db, brandId, ids);
  assertAllFound(ids, found, patch.ids ? 'ids' : 'id');
  const { name, folder_id: folderId, tags, usage_rights: usageRights } = patch;
  const columns = { ...given({ name, folderId, usageRights }), ...(tags ? { tags: [...new Set(tags)] } : {}) };
  for (const old of found) {
    const change = { ...columns, ...rightsColumns(patch), updatedAt: now };
    const row = await updateAsset(db, brandId, old.id, change).catch((error: unknown) => {
      throw refusalOf(error);
    });
    if (row) work.audit({ resourceId: row.id, old: auditedAsset(old), new: auditedAsset(row) });
  }
  return await listAssetsById(db, brandId, ids);
}

/** The asset and its URLs stop working immediately; a job removes its files soon after. */
export async function deleteAsset(work: Work, id: string): Promise<void> {
  const { db, now, brandId } = work;
  const [old] = await lockAssets(db, brandId, [id]);
  if (!old) throw notFound('asset');
  await updateAsset(db, brandId, id, { deletedAt: now, folderId: null, updatedAt: now });
  work.audit({ resourceId: id, old: auditedAsset(old), new: null });
}
