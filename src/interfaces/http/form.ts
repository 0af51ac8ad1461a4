import { pipeline, Readable } from 'node:stream';
import { Busboy, type BusboyConfig, type BusboyFileStream } from '@fastify/busboy';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { FilePart, FormPart } from '../../kit/operation/upload.ts';
import { ApiError } from '../../kit/values/errors.ts';

const MAX_FIELDS = 50;
const MAX_FIELD_BYTES = 100_000;
const MAX_NAME_BYTES = 100;
const MB = 1024 * 1024;
/** Limit of all text fields together, which are kept in memory. */
const MAX_TEXT = MB;
const FORM = 'multipart/form-data';

interface FormLimits {
  maxFileBytes: number;
  maxFiles: number;
}

/** Lets the routes of this scope read forms with files. */
export function takeForms(scope: FastifyInstance): void {
  scope.addContentTypeParser(FORM, (_request, payload, done) => done(null, payload));
}

/** True if the route streams this request's body as a form. */
export const takesForm = ({ headers, server }: FastifyRequest): boolean =>
  /^multipart\/form-data\s*(;|$)/i.test(headers['content-type'] ?? '') && server.hasContentTypeParser(FORM);

export const isForm = ({ body }: FastifyRequest): boolean => body instanceof Readable;

const tooLarge = (maxFileBytes: number) =>
  new ApiError('PAYLOAD_TOO_LARGE', `The file is larger than ${Math.floor(maxFileBytes / MB)} MB.`);

const tooMuchText = new ApiError(
  'PAYLOAD_TOO_LARGE',
  'A field is larger than 100 kB, or all fields together are larger than 1 MB.',
);

function tooMany(maxFiles: number): ApiError {
  const files = maxFiles === 1 ? 'one file' : `${maxFiles} files`;
  return new ApiError('PAYLOAD_TOO_LARGE', `The form has more than ${files} or ${MAX_FIELDS} fields.`);
}

const toRefusal = (error: unknown): ApiError =>
  error instanceof ApiError ? error : new ApiError('BAD_REQUEST', 'The form is incomplete.', { cause: error });

function openParser({ headers }: FastifyRequest, { maxFileBytes, maxFiles }: FormLimits) {
  const limits: BusboyConfig['limits'] = {
    fileSize: maxFileBytes,
    files: maxFiles,
    fields: MAX_FIELDS,
    parts: maxFiles + MAX_FIELDS,
    fieldSize: MAX_FIELD_BYTES,
    fieldNameSize: MAX_NAME_BYTES,
  };
  try {
    return new Busboy({ headers: { ...headers, 'content-type': headers['content-type'] ?? '' }, limits });
  } catch (cause) {
    const message = 'The Content-Type header has no boundary, or one of more than 256 characters.';
    throw new ApiError('BAD_REQUEST', message, { cause });
  }
}

async function* bytesOf(file: BusboyFileStream, maxFileBytes: number): AsyncGenerator<Buffer> {
  try {
    yield* file;
  } catch (error) {
    throw toRefusal(error);
  }
  if (file.truncated) throw tooLarge(maxFileBytes);
}

type Arrived = { field: string; value: string } | (Omit<FilePart, 'bytes'> & { file: BusboyFileStream });

/** Streams the parts in the order of arrival; fails if the body or the form is invalid. */
function openParts(request: FastifyRequest, body: Readable, limits: FormLimits): Readable {
  const parser = openParser(request, limits);
  const parts = new Readable({ objectMode: true, read: () => undefined });
  let open: BusboyFileStream | undefined;
  let text = 0;
  function fail(error: unknown): void {
    const refusal = toRefusal(error);
    open?.destroy(refusal);
    parts.destroy(refusal);
  }
  const push = (part: Arrived) => parts.push(part);
  // A part may lack a name, despite the types.
  parser.on('field', (field = '', value, _isNameCut, isCut) => {
    text += value.length;
    if (isCut || text > MAX_TEXT) fail(tooMuchText);
    else push({ field, value });
  });
  parser.on('file', (field = '', file, filename = '', _encoding, mimeType) => {
    open = file;
    // The file's reader receives the error; an unread file is skipped.
    file.on('error', () => undefined);
    push({ field, filename, mimeType, file });
  });
  for (const limit of ['partsLimit', 'filesLimit', 'fieldsLimit'] as const) {
    parser.on(limit, () => fail(tooMany(limits.maxFiles)));
  }
  pipeline(body, parser, (error) => {
    if (error) fail(error);
    else parts.push(null);
  });
  return parts;
}

/** The parts of a form as they arrive. An unread file is skipped; one that is too large throws at its end. */
export async function* readParts(request: FastifyRequest, limits: FormLimits): AsyncGenerator<FormPart> {
  const { maxFileBytes, maxFiles } = limits;
  const length = Number(request.headers['content-length']);
  if (length > maxFiles * maxFileBytes + MAX_FIELDS * MAX_FIELD_BYTES) throw tooLarge(maxFileBytes);
  if (!(request.body instanceof Readable)) return;
  const parts: AsyncIterable<Arrived> = openParts(request, request.body, limits);
  for await (const part of parts) {
    if ('value' in part) yield part;
    else {
      const { file, ...named } = part;
      yield { ...named, bytes: bytesOf(file, maxFileBytes) };
      if (!file.readableEnded) file.resume();
    }
  }
}
