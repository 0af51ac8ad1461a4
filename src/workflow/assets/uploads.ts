import { createHash } from 'node:crypto';
import { sql } from 'kysely';
import { isFound } from '../../kit/engines/postgres/count.ts';
import type { Db } from '../../kit/engines/postgres/open.ts';
import type { Context } from '../../kit/operation/context.ts';
import type { FilePart } from '../../kit/operation/upload.ts';
import { ApiError, validationError } from '../../kit/values/errors.ts';
import { withoutUnseen } from '../../kit/values/text.ts';
import { type ContentType, describeMismatch, detectContentType, newStorageKey, SAMPLE_BYTES } from './files.ts';

/** A file that is in the storage but belongs to no asset yet. */
export interface StoredFile extends ContentType {
  storageKey: string;
  /** The sender's file name, without a path. */
  name: string;
  sizeBytes: number;
  /** In hex digits. */
  sha256: string;
}

type UploadContext = Pick<Context, 'files' | 'postgres' | 'clock'>;

interface FileDigest {
  sizeBytes: number;
  hash: ReturnType<typeof createHash>;
}

/** The first bytes of a stream, and an iterator over all that follow. */
async function readSample(bytes: AsyncIterable<Buffer>) {
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
async function* measure(sample: Buffer, rest: AsyncIterator<Buffer>, digest: FileDigest): AsyncGenerator<Buffer> {
  const note = (chunk: Buffer) => {
    digest.sizeBytes += chunk.length;
    digest.hash.update(chunk);
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
export function cleanFileName(filename: string): string {
  const last = filename.split(/[/\\]/).at(-1) ?? '';
  const clean = [...withoutUnseen(last).trim()];
  return clean.length === 0 ? 'file' : clean.slice(-MAX_NAME).join('');
}

/**
 * Writes a form's file to the storage, before any transaction: `createAsset` takes it, `releaseFile` discards it.
 * Throws 422 for an empty file or one whose content contradicts its name.
 */
export async function receiveFile(
  context: UploadContext,
  brandId: string,
  part: FilePart,
  { isNameChecked = true }: { isNameChecked?: boolean } = {},
): Promise<StoredFile> {
  const { files, postgres, clock } = context;
  const { sample, rest } = await readSample(part.bytes);
  if (sample.length === 0) throw fileProblem('too_small', 'is empty.');
  const name = cleanFileName(part.filename);
  const content = await detectContentType(sample, name);
  const mismatch = isNameChecked ? describeMismatch(content, name, part.mimeType) : undefined;
  if (mismatch !== undefined) throw fileProblem('type_mismatch', mismatch);
  const storageKey = newStorageKey();
  // The file is recorded before its first byte is written, so that it is found and removed if the process dies.
  await postgres.db.insertInto('assetUploads').values({ storageKey, brandId, begunAt: clock.now() }).execute();
  const digest: FileDigest = { sizeBytes: 0, hash: createHash('sha256') };
  try {
    await files.write(storageKey, measure(sample, rest, digest), content.mimeType);
  } catch (error) {
    await releaseFile(context, { storageKey });
    throw error;
  }
  return { ...content, storageKey, name, sizeBytes: digest.sizeBytes, sha256: digest.hash.digest('hex') };
}

/** Removes a file unless an asset took it. */
export async function releaseFile(
  { files, postgres, clock }: UploadContext,
  { storageKey }: Pick<StoredFile, 'storageKey'>,
): Promise<void> {
  // From here on no asset can take the file; if one already has, there is no row.
  const isAbandoned = await isFound(
    postgres.db
      .updateTable('assetUploads')
      .set({ givenUpAt: clock.now() })
      .where('storageKey', '=', storageKey)
      .returning('storageKey'),
  );
  if (!isAbandoned) return;
  await files.remove(storageKey);
  await postgres.db.deleteFrom('assetUploads').where('storageKey', '=', storageKey).execute();
}

/** Throws STORAGE_LIMIT_REACHED if the brand's files would have more bytes than the operator allows. */
async function assertStorage(db: Db, brandId: string, sizeBytes: number): Promise<void> {
  const limitedBrand = await db
    .selectFrom('brands')
    .select('maxStorageBytes')
    .where('id', '=', brandId)
    .where('maxStorageBytes', 'is not', null)
    .forNoKeyUpdate()
    .executeTakeFirst();
  if (!limitedBrand) return;
  const limit = Number(limitedBrand.maxStorageBytes);
  const current = await sumStorage(db, brandId);
  if (current + sizeBytes <= limit) return;
  const message = `The files of this brand may have ${limit} bytes together, and have ${current}; delete some first.`;
  throw new ApiError('STORAGE_LIMIT_REACHED', message, { facts: { limit, current } });
}

/** The bytes of all files of a brand: its assets, and the files of imports as long as they are kept. */
export async function sumStorage(db: Db, brandId: string): Promise<number> {
  const { rows } = await sql<{ bytes: number }>`
    select coalesce(sum(size_bytes), 0)::float8 as bytes from (
      select size_bytes from assets where brand_id = ${brandId} and purged_at is null
      union all
      select size_bytes from imports where brand_id = ${brandId} and storage_key is not null
    ) as file`.execute(db);
  return rows[0]?.bytes ?? 0;
}

/** Takes the file for an asset; false if it was discarded in the meantime. */
export async function claimUpload(
  db: Db,
  brandId: string,
  { storageKey, sizeBytes }: Pick<StoredFile, 'storageKey' | 'sizeBytes'>,
): Promise<boolean> {
  await assertStorage(db, brandId, sizeBytes);
  const upload = await db
    .deleteFrom('assetUploads')
    .where('brandId', '=', brandId)
    .where('storageKey', '=', storageKey)
    .where('givenUpAt', 'is', null)
    .returning('storageKey')
    .executeTakeFirst();
  return upload !== undefined;
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
