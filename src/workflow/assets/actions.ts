import { createHash } from 'node:crypto';
import { violates } from '../../kit/engines/postgres/violation.ts';
import type { Context } from '../../kit/operation/context.ts';
import type { FilePart } from '../../kit/operation/form-part.ts';
import type { Work } from '../../kit/operation/work.ts';
import { ApiError, notFound, type Problem, validationError } from '../../kit/values/errors.ts';
import { newId } from '../../kit/values/ids.ts';
import { given } from '../../kit/values/patch.ts';
import { withoutUnseen } from '../../kit/values/text.ts';
import { getAddressee } from '../applications/queries.ts';
import { type ContentType, contentTypeOf, mismatchOf, newStorageKey, SAMPLE_BYTES } from './policy.ts';
import {
  type AssetRow,
  type AssetSource,
  forgetUpload,
  getAsset,
  giveUpUpload,
  insertAsset,
  insertUpload,
  listAssetsById,
  lockAssets,
  type StoredAssetRow,
  takeUpload,
  type UsageTerms,
  updateAsset,
} from './queries.ts';
import { rightsEndOf } from './rights/policy.ts';
import type { AssetPatch, AssetUpload } from './schema.ts';

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
  message: `is not ${what === 'asset' ? 'an' : 'a'} ${what} of this brand.`,
});

/** The statement that writes an asset decides whether its references exist. */
function refusalOf(error: unknown): unknown {
  if (violates(error, 'assets_brand_id_folder_id_fkey')) return validationError([missing('folder_id', 'folder')]);
  if (violates(error, 'assets_brand_id_campaign_id_fkey')) return validationError([missing('campaign_id', 'campaign')]);
  return error;
}

/** The row as the audit log shows it. */
const auditedAsset = ({ sha256: _sha256, ...row }: StoredAssetRow) => row;

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
      : [
          {
            ...missing(field === 'ids' ? `ids.${i}` : field, 'asset'),
            message: `${id} is not an asset of this brand.`,
          },
        ],
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

/**
 * Sets the end of rights that count from the first post, once its date is known. An end that was set by hand stays; one
 * that was computed from a later post does not.
 */
export async function endRightsByPosts(work: Work, ids: readonly string[], postedAts: readonly Date[]): Promise<void> {
  const [first] = postedAts.toSorted((a, b) => a.getTime() - b.getTime());
  if (first === undefined || ids.length === 0) return;
  const { db, brandId, now } = work;
  for (const old of await lockAssets(db, brandId, ids)) {
    const { rights, rightsExpiresAt: before } = old;
    if (rights?.starts !== 'posted') continue;
    const endFrom = (postedAt: Date) => rightsEndOf(rights, { signedAt: null, postedAt })?.getTime();
    const end = endFrom(first);
    if (end === undefined || before?.getTime() === end) continue;
    if (before !== null && !postedAts.some((postedAt) => endFrom(postedAt) === before.getTime())) continue;
    const change = { rightsExpiresAt: new Date(end), rightsNoticeDays: null, updatedAt: now };
    const row = await updateAsset(db, brandId, old.id, change);
    if (row) work.audit({ resourceId: row.id, old: auditedAsset(old), new: auditedAsset(row) });
  }
}

/** A file that is in the storage but belongs to no asset yet. */
export interface StoredFile extends ContentType {
  storageKey: string;
  /** The sender's file name, without a path. */
  name: string;
  sizeBytes: number;
  /** In hex digits. */
  sha256: string;
}

type Source = Pick<Context, 'files' | 'postgres' | 'clock'>;

interface Measured {
  sizeBytes: number;
  hash: ReturnType<typeof createHash>;
}

/** The first bytes of a stream, and an iterator over all that follow. */
async function sampleOf(bytes: AsyncIterable<Buffer>) {
  const rest = bytes[Symbol.asyncIterator]();
  const chunks: Buffer[] = [];
  let size = 0;
  while (size < SAMPLE_BYTES) {
    const { value, done } = await rest.next();
    if (done) break;
    chunks.push(value);
    size += value.length;
  }
  return { sample: Buffer.concat(chunks), rest };
}

/** Counts and hashes the bytes as they pass. */
async function* measure(sample: Buffer, rest: AsyncIterator<Buffer>, measured: Measured): AsyncGenerator<Buffer> {
  const note = (chunk: Buffer) => {
    measured.sizeBytes += chunk.length;
    measured.hash.update(chunk);
  };
  note(sample);
  yield sample;
  for (let next = await rest.next(); !next.done; next = await rest.next()) {
    note(next.value);
    yield next.value;
  }
}

const fileProblem = (code: string, message: string) => validationError([{ field: 'file', code, message }]);

const MAX_NAME = 200;
/** The file name without the folders of the sender's machine and without invisible characters. */
export function fileNameOf(filename: string): string {
  const last = filename.split(/[/\\]/).at(-1) ?? '';
  const clean = [...withoutUnseen(last).trim()];
  return clean.length === 0 ? 'file' : clean.slice(-MAX_NAME).join('');
}

/**
 * Writes a form's file to the storage, before any transaction: `createAsset` takes it, `releaseFile` discards it.
 * Throws 422 for an empty file or one whose content contradicts its name.
 */
export async function receiveFile(context: Source, brandId: string, part: FilePart): Promise<StoredFile> {
  const { files, postgres, clock } = context;
  const { sample, rest } = await sampleOf(part.bytes);
  if (sample.length === 0) throw fileProblem('too_small', 'is empty.');
  const name = fileNameOf(part.filename);
  const content = await contentTypeOf(sample, name);
  const mismatch = mismatchOf(content, name, part.mimeType);
  if (mismatch !== undefined) throw fileProblem('type_mismatch', mismatch);
  const storageKey = newStorageKey();
  await insertUpload(postgres.db, { storageKey, brandId, begunAt: clock.now() });
  const measured: Measured = { sizeBytes: 0, hash: createHash('sha256') };
  try {
    await files.write(storageKey, measure(sample, rest, measured), content.mimeType);
  } catch (error) {
    await releaseFile(context, { storageKey });
    throw error;
  }
  return { ...content, storageKey, name, sizeBytes: measured.sizeBytes, sha256: measured.hash.digest('hex') };
}

/** Removes a file unless an asset took it. */
export async function releaseFile(
  { files, postgres, clock }: Source,
  { storageKey }: Pick<StoredFile, 'storageKey'>,
): Promise<void> {
  if (!(await giveUpUpload(postgres.db, storageKey, clock.now()))) return;
  await files.remove(storageKey);
  await forgetUpload(postgres.db, storageKey);
}
