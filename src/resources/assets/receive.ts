import { createHash } from 'node:crypto';
import type { Context } from '../../operation/context.ts';
import type { FilePart } from '../../operation/form-part.ts';
import { validationError } from '../../values/errors.ts';
import { withoutUnseen } from '../../values/text.ts';
import { type ContentType, contentTypeOf, mismatchOf, SAMPLE_BYTES } from './content-type.ts';
import { newStorageKey } from './file-keys.ts';
import { forgetUpload, giveUpUpload, insertUpload } from './upload-queries.ts';

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
