import { createHash } from 'node:crypto';
import type { Insertable } from 'kysely';
import { isFound } from '../../kit/engines/postgres/count.ts';
import type { AssetUploadsTable } from '../../kit/engines/postgres/database.ts';
import type { Db } from '../../kit/engines/postgres/open.ts';
import type { Context } from '../../kit/operation/context.ts';
import type { FilePart } from '../../kit/operation/form-part.ts';
import { validationError } from '../../kit/values/errors.ts';
import { withoutUnseen } from '../../kit/values/text.ts';
import { type ContentType, detectContentType, describeMismatch, newStorageKey, SAMPLE_BYTES } from './files.ts';

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
async function* measure(sample: Buffer, rest: AsyncIterator<Buffer>, measured: FileDigest): AsyncGenerator<Buffer> {
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
export function cleanFileName(filename: string): string {
  const last = filename.split(/[/\\]/).at(-1) ?? '';
  const clean = [...withoutUnseen(last).trim()];
  return clean.length === 0 ? 'file' : clean.slice(-MAX_NAME).join('');
}

/**
 * Writes a form's file to the storage, before any transaction: `createAsset` takes it, `releaseFile` discards it.
 * Throws 422 for an empty file or one whose content contradicts its name.
 */
export async function receiveFile(context: UploadContext, brandId: string, part: FilePart): Promise<StoredFile> {
  const { files, postgres, clock } = context;
  const { sample, rest } = await readSample(part.bytes);
  if (sample.length === 0) throw fileProblem('too_small', 'is empty.');
  const name = cleanFileName(part.filename);
  const content = await detectContentType(sample, name);
  const mismatch = describeMismatch(content, name, part.mimeType);
  if (mismatch !== undefined) throw fileProblem('type_mismatch', mismatch);
  const storageKey = newStorageKey();
  await insertUpload(postgres.db, { storageKey, brandId, begunAt: clock.now() });
  const measured: FileDigest = { sizeBytes: 0, hash: createHash('sha256') };
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
  { files, postgres, clock }: UploadContext,
  { storageKey }: Pick<StoredFile, 'storageKey'>,
): Promise<void> {
  if (!(await abandonUpload(postgres.db, storageKey, clock.now()))) return;
  await files.remove(storageKey);
  await deleteUpload(postgres.db, storageKey);
}

/** Records a file before its first byte is written, so that it is found and removed if the process dies. */
export async function insertUpload(db: Db, row: Insertable<AssetUploadsTable>): Promise<void> {
  await db.insertInto('assetUploads').values(row).execute();
}

/** Prevents any asset from taking the file; false if one already has. */
export const abandonUpload = (db: Db, storageKey: string, now: Date): Promise<boolean> =>
  isFound(
    db.updateTable('assetUploads').set({ givenUpAt: now }).where('storageKey', '=', storageKey).returning('storageKey'),
  );

export async function deleteUpload(db: Db, storageKey: string): Promise<void> {
  await db.deleteFrom('assetUploads').where('storageKey', '=', storageKey).execute();
}

/** Takes the file for an asset; false if it was discarded in the meantime. */
export async function claimUpload(db: Db, brandId: string, storageKey: string): Promise<boolean> {
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
