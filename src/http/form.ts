import multipart from '@fastify/multipart';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { FormPart } from '../operation/form-part.ts';
import { ApiError } from '../values/errors.ts';

const MAX_FIELDS = 50;
const MAX_FIELD_BYTES = 100_000;
const MAX_NAME_BYTES = 100;
const MB = 1024 * 1024;

interface FormLimits {
  maxFileBytes: number;
  maxFiles: number;
}

/** From here on the routes of this scope may read forms with files; other scopes do not. */
export async function takeForms(scope: FastifyInstance): Promise<void> {
  await scope.register(multipart, { throwFileSizeLimit: false });
}

export const isForm = ({ headers }: FastifyRequest): boolean =>
  /^multipart\/form-data\s*;/i.test(headers['content-type'] ?? '');

const tooLarge = (maxFileBytes: number) =>
  new ApiError('PAYLOAD_TOO_LARGE', `The file is larger than ${Math.floor(maxFileBytes / MB)} MB.`);

function refusalOf(error: unknown, maxFiles: number): unknown {
  if (!(error instanceof Error) || error instanceof ApiError) return error;
  const code = 'code' in error ? error.code : undefined;
  if (code === 'FST_FILES_LIMIT' || code === 'FST_FIELDS_LIMIT' || code === 'FST_PARTS_LIMIT') {
    const files = maxFiles === 1 ? 'one file' : `${maxFiles} files`;
    return new ApiError('PAYLOAD_TOO_LARGE', `The form has more than ${files} or ${MAX_FIELDS} fields.`);
  }
  const isBroken = code !== undefined || /multipart|part header|boundary|terminated early/i.test(error.message);
  return isBroken ? new ApiError('BAD_REQUEST', 'The form ended before it was whole.', { cause: error }) : error;
}

async function* bytesOf(file: AsyncIterable<Buffer> & { truncated: boolean }, { maxFileBytes, maxFiles }: FormLimits) {
  try {
    yield* file;
  } catch (error) {
    throw refusalOf(error, maxFiles);
  }
  if (file.truncated) throw tooLarge(maxFileBytes);
}

/** The parts of a form as they arrive. A file that nobody read is passed over; one that is too large throws at its end. */
export async function* readParts(
  request: FastifyRequest,
  { maxFileBytes, maxFiles }: FormLimits,
): AsyncGenerator<FormPart> {
  const length = Number(request.headers['content-length']);
  if (length > maxFiles * maxFileBytes + MAX_FIELDS * MAX_FIELD_BYTES) throw tooLarge(maxFileBytes);
  const limits = { fileSize: maxFileBytes, files: maxFiles, fields: MAX_FIELDS, parts: maxFiles + MAX_FIELDS };
  const sizes = { fieldSize: MAX_FIELD_BYTES, fieldNameSize: MAX_NAME_BYTES };
  try {
    for await (const part of request.parts({ limits: { ...limits, ...sizes } })) {
      if (part.type === 'field') yield { field: part.fieldname, value: String(part.value) };
      else {
        const { fieldname: field, filename, mimetype: mimeType, file } = part;
        yield { field, filename: filename ?? '', mimeType, bytes: bytesOf(file, { maxFileBytes, maxFiles }) };
        if (!file.readableEnded) file.resume();
      }
    }
  } catch (error) {
    throw refusalOf(error, maxFiles);
  }
}
