import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import type { FileHeaders } from '../../kit/engines/files/store.ts';
import type { Context } from '../../kit/operation/context.ts';
import { errorBody, notFound, toApiError } from '../../kit/values/errors.ts';
import { logFailure } from '../../kit/values/log.ts';
import type { Metrics } from '../../kit/values/metrics.ts';
import { toPlainText } from '../../kit/values/text.ts';
import { readFileToken as readJobFileToken } from '../../platform/jobs/job-files.ts';
import { findFile as findJobFileOf } from '../../platform/jobs/jobs.ts';
import { findAssetFile } from '../../workflow/assets/assets.ts';
import { isShown, readFileToken } from '../../workflow/assets/files.ts';
import { type Part, parseRange } from './range.ts';

const Params = z.object({ token: z.string() });

interface ServedFile extends FileHeaders {
  storageKey: string;
  /** Undefined for a thumbnail, which is always sent whole. */
  sizeBytes: number | undefined;
  etag: string;
  maxAgeSeconds: number;
}

/** A name for every client: plain ASCII, and the full name for clients that support RFC 6266. */
function toDisposition(isInline: boolean, stored: string): string {
  const name = toPlainText(stored);
  const plain = name.replace(/[^\x20-\x7e]|["\\%]/gu, '_');
  const whole = encodeURIComponent(name).replace(/['()*]/g, (c) => `%${c.charCodeAt(0).toString(16)}`);
  return `${isInline ? 'inline' : 'attachment'}; filename="${plain}"; filename*=UTF-8''${whole}`;
}

/** A file of a job, which is downloaded. */
async function findJobFile(context: Context, text: string): Promise<ServedFile | undefined> {
  const token = readJobFileToken(context, text);
  const jobFile = token && (await findJobFileOf(context.postgres.db, token.jobId, token.number, context.clock.now()));
  if (!jobFile || jobFile.storageKey === null) return undefined;
  const { name, mimeType: contentType, storageKey, sizeBytes, sha256 } = jobFile;
  const headers = { contentType, contentDisposition: toDisposition(false, name) };
  return { ...headers, storageKey, sizeBytes, etag: `"${sha256.toString('hex').slice(0, 32)}"`, maxAgeSeconds: 0 };
}

async function findFile(context: Context, text: string): Promise<ServedFile | undefined> {
  const token = readFileToken(context, text);
  const asset = token && (await findAssetFile(context.postgres.db, token.assetId));
  if (!asset) return undefined;
  const { name, mimeType, storageKey, thumbnailKey, sizeBytes, sha256 } = asset;
  const maxAgeSeconds = Math.max(0, Math.floor((token.endsAt.getTime() - context.clock.now().getTime()) / 1_000));
  const hash = sha256.toString('hex').slice(0, 32);
  if (token.form === 'thumbnail') {
    if (thumbnailKey === null) return undefined;
    const headers = { contentType: 'image/webp', contentDisposition: toDisposition(true, `${name}.webp`) };
    return { ...headers, storageKey: thumbnailKey, sizeBytes: undefined, etag: `"${hash}-t"`, maxAgeSeconds };
  }
  const isInline = isShown(asset);
  // Only types that may be displayed are named; browsers download all others.
  const contentType = isInline ? mimeType : 'application/octet-stream';
  const headers = { contentType, contentDisposition: toDisposition(isInline, name) };
  return { ...headers, storageKey, sizeBytes, etag: `"${hash}"`, maxAgeSeconds };
}

const toHeaders = ({ contentType, contentDisposition, etag, maxAgeSeconds, sizeBytes }: ServedFile) => ({
  'content-type': contentType,
  'content-disposition': contentDisposition,
  'x-content-type-options': 'nosniff',
  'content-security-policy': "default-src 'none'; sandbox",
  'cross-origin-resource-policy': 'cross-origin',
  'referrer-policy': 'no-referrer',
  'cache-control': `private, max-age=${maxAgeSeconds}`,
  etag,
  ...(sizeBytes === undefined ? {} : { 'accept-ranges': 'bytes' }),
});

/** The requested part; the whole file if `If-Range` shows that the caller has another version. */
function wantedPart({ headers }: FastifyRequest, { sizeBytes, etag }: ServedFile): Part {
  const condition = headers['if-range'];
  const isSame = condition === undefined || condition === etag;
  return sizeBytes === undefined || !isSame ? 'whole' : parseRange(headers.range, sizeBytes);
}

async function sendFile(context: Context, file: ServedFile, request: FastifyRequest, reply: FastifyReply) {
  const { storageKey, sizeBytes, etag } = file;
  const address = await context.files.presignAddress(storageKey, file);
  // A presigned URL expires sooner than this one.
  if (address !== undefined) return reply.header('cache-control', 'no-store').redirect(address, 302);
  reply.headers(toHeaders(file));
  if (request.headers['if-none-match'] === etag) return await reply.code(304).send();
  const part = wantedPart(request, file);
  if (part === 'unsatisfiable') return await reply.code(416).header('content-range', `bytes */${sizeBytes}`).send();
  if (part === 'whole') {
    if (sizeBytes !== undefined) reply.header('content-length', sizeBytes);
    return await reply.send(await context.files.read(storageKey));
  }
  reply.code(206).header('content-range', `bytes ${part.start}-${part.end}/${sizeBytes}`);
  reply.header('content-length', part.end - part.start + 1);
  return await reply.send(await context.files.read(storageKey, part));
}

/** Signed URLs of assets' files, and of files of jobs. They are not part of the API and need no key, only the URL. */
export function fileRoutes(app: FastifyInstance, context: Context, metrics: Metrics): void {
  async function answerError(error: FastifyError, request: FastifyRequest, reply: FastifyReply): Promise<void> {
    const answer = toApiError(error);
    logFailure(context.log, answer, request.id);
    metrics.refusals.inc({ door: 'files', code: answer.code });
    reply.code(answer.status).headers({ ...answer.headers, 'cache-control': 'no-store' });
    await reply.type('application/json; charset=utf-8').send(JSON.stringify(errorBody(answer, request.id)));
  }

  app.get('/files/:token', { errorHandler: answerError }, async (request, reply) => {
    const { token } = Params.parse(request.params);
    const file = (await findJobFile(context, token)) ?? (await findFile(context, token));
    if (!file) throw notFound('file');
    return await sendFile(context, file, request, reply);
  });
}
