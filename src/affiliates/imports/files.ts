import { Readable } from 'node:stream';
import type { Context } from '../../kit/operation/context.ts';
import type { FilePart } from '../../kit/operation/upload.ts';
import { ApiError, validationError } from '../../kit/values/errors.ts';
import { assertReadable } from '../../platform/imports/reading/container.ts';
import { UnsupportedFile } from '../../platform/imports/reading/problems.ts';
import { receiveFile, releaseFile, type StoredFile } from '../../workflow/assets/uploads.ts';

export const MAX_FILE_BYTES = 200 * 1024 * 1024;
const HEAD_BYTES = 4_096;

async function readHead({ files }: Context, { storageKey, sizeBytes }: StoredFile): Promise<Buffer> {
  const chunks: Buffer[] = [];
  const end = Math.min(sizeBytes, HEAD_BYTES) - 1;
  for await (const chunk of await files.read(storageKey, { start: 0, end })) chunks.push(Buffer.from(chunk));
  return Buffer.concat(chunks);
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

/** Stores the text of a call without a file. */
export async function receiveText(context: Context, brandId: string, text: string | undefined): Promise<StoredFile> {
  if (text === undefined)
    throw validationError([{ field: 'text', code: 'required', message: 'is required without a file.' }]);
  const bytes = Readable.from([Buffer.from(text)]);
  return await receiveImport(context, brandId, { field: 'file', filename: 'text.csv', mimeType: 'text/csv', bytes });
}
