import { Readable } from 'node:stream';
import type { Context } from '../../kit/operation/context.ts';
import type { FilePart } from '../../kit/operation/upload.ts';
import { ApiError, validationError } from '../../kit/values/errors.ts';
import { checkMapping } from '../../platform/imports/reading/check-mapping.ts';
import { assertReadable } from '../../platform/imports/reading/container.ts';
import type { Kind } from '../../platform/imports/reading/kinds.ts';
import { MappingProblem, UnsupportedFile } from '../../platform/imports/reading/problems.ts';
import type { ByteSource, Mapping } from '../../platform/imports/reading/shapes.ts';
import { receiveFile, releaseFile, type StoredFile } from '../../workflow/assets/uploads.ts';

export const MAX_FILE_BYTES = 200 * 1024 * 1024;
const HEAD_BYTES = 4_096;

interface MappedFile {
  of: Kind;
  fileName: string;
  storageKey: string | null;
  sizeBytes: number;
  /** The encoding that an earlier reading of the whole file found. */
  encoding: string | undefined;
}

async function readHead({ files }: Context, { storageKey, sizeBytes }: StoredFile): Promise<Buffer> {
  const chunks: Buffer[] = [];
  const end = Math.min(sizeBytes, HEAD_BYTES) - 1;
  for await (const chunk of await files.read(storageKey, { start: 0, end })) chunks.push(Buffer.from(chunk));
  return Buffer.concat(chunks);
}

/** Throws 422 if a mapping names what a stored file lacks. */
export async function assertMapping(
  { files }: Pick<Context, 'files'>,
  { of, fileName: name, storageKey, sizeBytes, encoding }: MappedFile,
  mapping: Mapping,
): Promise<void> {
  if (storageKey === null) return;
  const source: ByteSource = { name, sizeBytes, read: (range) => files.read(storageKey, range) };
  try {
    await checkMapping(source, of, mapping, encoding);
  } catch (error) {
    if (!(error instanceof MappingProblem)) throw error;
    const { field, code, message } = error;
    throw validationError([{ field, code, message }]);
  }
}

/** Stores a person's file, whatever its name says; one of a kind that is never read is refused at once. */
export async function receiveImport(context: Context, brandId: string, part: FilePart): Promise<StoredFile> {
  const storedFile = await receiveFile(context, brandId, part, { isNameChecked: false });
  try {
    assertReadable(await readHead(context, storedFile));
    return storedFile;
  } catch (error) {
    await releaseFile(context, storedFile);
    if (error instanceof UnsupportedFile) throw new ApiError('UNSUPPORTED_MEDIA_TYPE', error.message);
    throw error;
  }
}

/** A file of a call, which its mapping is compared with before the answer. */
export interface SentFile extends StoredFile {
  context: Context;
}

export const receiveSent = async (context: Context, brandId: string, part: FilePart): Promise<SentFile> => ({
  ...(await receiveImport(context, brandId, part)),
  context,
});

/** Stores the text of a call without a file. */
export async function receiveText(context: Context, brandId: string, text: string | undefined): Promise<SentFile> {
  if (text === undefined)
    throw validationError([{ field: 'text', code: 'required', message: 'is required without a file.' }]);
  const bytes = Readable.from([Buffer.from(text)]);
  return await receiveSent(context, brandId, { field: 'file', filename: 'text.csv', mimeType: 'text/csv', bytes });
}
