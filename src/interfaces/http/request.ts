import { isUtf8 } from 'node:buffer';
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import type { FastifyRequest } from 'fastify';
import { z } from 'zod';
import type { AddressLimit } from '../../kit/access/rate-limit.ts';
import type { RawInput } from '../../kit/operation/input.ts';
import { NDJSON, type Operation } from '../../kit/operation/operation.ts';
import type { Clock } from '../../kit/values/clock.ts';
import { ApiError, errorBody, ignoreFailure, validationError } from '../../kit/values/errors.ts';
import { newId } from '../../kit/values/ids.ts';
import type { Metrics } from '../../kit/values/metrics.ts';
import { assertShallow } from '../../kit/values/nesting.ts';
import { preferredType } from './accepted.ts';
import type { BoundedRequests } from './bounded-requests.ts';

/** A query of 10 kB of emoji makes a URL of 30 kB. It fits, so that the response is a 422 with the reason. */
export const MAX_HEADER_BYTES = 64 * 1024;

/** Timeout for the request's headers, and for its body, so that a silent client cannot hold a connection for ever. */
export const HEAD_WITHIN_MS = 60_000;
export const REQUEST_WITHIN_MS = 300_000;
/** A refused client must close the connection within this time. */
const CLOSED_WITHIN_MS = 2_000;

const REQUEST_ID = /^[A-Za-z0-9][\w.:/=+@-]{0,199}$/;

export function getRequestId(headers: IncomingHttpHeaders, clock: Clock): string {
  const own = headers['x-request-id'];
  return typeof own === 'string' && REQUEST_ID.test(own) ? own : newId('req', clock.now().getTime());
}

export const baseHeaders = (requestId: string) => ({
  'x-request-id': requestId,
  'x-content-type-options': 'nosniff',
  'cache-control': 'no-store',
});

const Params = z.record(z.string(), z.string()).catch({});

const isTextOrTexts = (value: unknown): boolean =>
  typeof value === 'string' || (Array.isArray(value) && value.every((item) => typeof item === 'string'));
/** Not z.record, which drops `__proto__`; in Fastify's query it is a name like any other. */
const Query = z
  .custom<RawInput['query']>(
    (query) => typeof query === 'object' && query !== null && Object.values(query).every(isTextOrTexts),
  )
  .catch({});

type Formats = Pick<Operation, 'hasCsv' | 'csvProfiles' | 'isStreamFor'>;

const PROFILE = /text\/csv\s*;[^,]*?\bprofile\s*=\s*"?([\w-]+)/i;

/** CSV as spreadsheets of Windows read it. */
const EXCEL = 'excel';

/** The response format of this operation that the caller prefers. */
function chooseAnswer(accept: string | undefined, { hasCsv, csvProfiles }: Formats) {
  const type = preferredType(accept, hasCsv ? (['application/json', 'text/csv'] as const) : ['application/json']);
  const profile = type === 'text/csv' ? PROFILE.exec(accept ?? '')?.[1]?.toLowerCase() : undefined;
  if (type === 'text/csv' && profile === undefined) return { answer: 'csv' as const };
  if (profile === EXCEL) return { answer: 'csv' as const, csv: { bom: true, lineEnd: '\r\n' as const } };
  if (profile !== undefined && csvProfiles.includes(profile)) return { answer: 'csv' as const, profile };
  if (type === 'application/json') return { answer: 'json' as const };
  const csv = ['text/csv', ...[EXCEL, ...csvProfiles].map((name) => `text/csv; profile=${name}`)];
  const forms = ['application/json', ...(hasCsv ? csv : [])].join(' or ');
  throw new ApiError('NOT_ACCEPTABLE', `This returns ${forms}, not ${JSON.stringify(accept?.slice(0, 100))}.`);
}

function chooseStream(accept: string | undefined) {
  const type = preferredType(accept, [NDJSON, 'text/csv'] as const);
  if (type === undefined) {
    const message = `A walk is answered as ${NDJSON} or text/csv, not ${JSON.stringify(accept?.slice(0, 100))}.`;
    throw new ApiError('NOT_ACCEPTABLE', message);
  }
  return { answer: type === 'text/csv' ? ('csv' as const) : ('ndjson' as const) };
}

function readBody(request: FastifyRequest): unknown {
  if (!Buffer.isBuffer(request.body) || request.body.length === 0) return undefined;
  const type = request.headers['content-type'] ?? '';
  if (!/^application\/([\w.-]+\+)?json\s*(;|$)/i.test(type)) {
    throw new ApiError(
      'UNSUPPORTED_MEDIA_TYPE',
      `Send the body as application/json, not ${JSON.stringify(type.slice(0, 100))}.`,
    );
  }
  if (!isUtf8(request.body)) throw new ApiError('INVALID_JSON', 'The body is not UTF-8.');
  assertShallow(request.body);
  try {
    // Some Windows tools begin each file with a byte order mark.
    return JSON.parse(request.body.toString('utf8').replace(/^\uFEFF/, ''));
  } catch (error) {
    throw new ApiError(
      'INVALID_JSON',
      `The body is not JSON: ${error instanceof Error ? error.message : 'unreadable'}.`,
    );
  }
}

const withoutHost = new ApiError('BAD_REQUEST', 'An HTTP/1.1 request must have a Host header.', {
  headers: { connection: 'close' },
});
const twoHosts = new ApiError('BAD_REQUEST', 'A request must have one Host header; this one has several.', {
  headers: { connection: 'close' },
});
const unmetExpectation = new ApiError('NOT_ACCEPTABLE', 'The only supported expectation is 100-continue.', {
  status: 417,
  // It is unknown whether a body or another request follows.
  headers: { connection: 'close' },
});
/** The expression that Node uses. */
const CONTINUE = /(?:^|\W)100-continue(?:$|\W)/i;

/** True if there are several Host headers. Node uses the first, and a proxy may use another. */
function hasTwoHosts(rawHeaders: readonly string[]): boolean {
  let hosts = 0;
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i] ?? '';
    if (name.length === 4 && name.toLowerCase() === 'host') hosts += 1;
  }
  return hosts > 1;
}

/** The error for a request that Node would refuse without a body, or would accept although it is not valid HTTP. */
export function refusalOfHead({ headers, rawHeaders, httpVersion }: IncomingMessage): ApiError | undefined {
  if (hasTwoHosts(rawHeaders)) return twoHosts;
  if (httpVersion !== '1.1') return undefined;
  if (headers.host === undefined) return withoutHost;
  return headers.expect === undefined || CONTINUE.test(headers.expect) ? undefined : unmetExpectation;
}

/** `bom`, which every table takes. */
function readMark(bom: unknown): boolean {
  const text = typeof bom === 'string' ? bom.trim().toLowerCase() : bom;
  if (text === undefined || text === '' || text === 'false') return false;
  if (text === 'true') return true;
  const message = `must be one of true, false; got ${JSON.stringify(bom)}.`;
  throw validationError([{ field: 'bom', code: 'invalid_value', message }]);
}

const isDecodable = (text: string): boolean => {
  try {
    return decodeURIComponent(text) !== undefined;
  } catch {
    return false;
  }
};

/** Refuses what is encoded in another way than UTF-8: it would be searched as it stands, `%FC` for an umlaut. A lone `%` is a sign. */
function assertDecodable(url: string): void {
  const query = url.slice(url.indexOf('?') + 1);
  if (!/%[0-9a-f]{2}/i.test(query) || isDecodable(query)) return;
  const parts = query.split('&').filter((part) => /%[0-9a-f]{2}/i.test(part) && !isDecodable(part));
  if (parts.length === 0) return;
  const message = 'must be percent-encoded UTF-8, such as M%C3%BCnchen; a % of its own is %25.';
  throw validationError(
    parts.map((part) => ({ field: part.replace(/=.*$/s, '').slice(0, 100), code: 'invalid_encoding', message })),
  );
}

/** Reads the input of a request, after the caller is identified. */
export function readRaw(request: FastifyRequest, formats: Formats): RawInput {
  assertDecodable(request.url);
  const fullQuery = Query.parse(request.query);
  const { accept } = request.headers;
  const answerType = formats.isStreamFor?.(fullQuery) ? chooseStream(accept) : chooseAnswer(accept, formats);
  // A file for another service never has the mark.
  const isTable = answerType.answer === 'csv' && !('profile' in answerType);
  const { bom, ...query } = fullQuery;
  const style = isTable && readMark(bom) ? { csv: { bom: true, lineEnd: '\n' as const } } : {};
  return {
    ...style,
    ...answerType,
    params: Params.parse(request.params),
    query: isTable ? query : fullQuery,
    body: readBody(request),
  };
}

/** Fastify throws the second for a method that it does not know, such as one of RTSP. */
const UNROUTABLE = ['FST_ERR_ROUTE_MISSING_CONTENT_TYPE', 'FST_ERR_NOT_FOUND'];

/** True if Fastify refused the request's method before routing. */
export const isUnroutable = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && UNROUTABLE.includes(String(error.code));

/** Maps errors of the HTTP layer to our codes; returns anything else unchanged. */
export function unreadable(error: unknown): unknown {
  if (error instanceof ApiError || !(error instanceof Error) || !('code' in error)) return error;
  switch (error.code) {
    case 'FST_ERR_CTP_BODY_TOO_LARGE':
    case 'FST_ERR_CTP_INVALID_CONTENT_LENGTH':
      return new ApiError('PAYLOAD_TOO_LARGE', 'The body is larger than 1 MB.');
    case 'FST_ERR_CTP_INVALID_MEDIA_TYPE':
      return new ApiError('UNSUPPORTED_MEDIA_TYPE', 'The Content-Type header is not a media type.');
    case 'FST_ERR_MAX_PARAM_LENGTH':
    case 'FST_ERR_MAX_LIMIT_URL_PARAM_EXCEEDED':
      return new ApiError('REQUEST_TOO_LONG', 'A part of the path is too long.', { status: 414 });
    case 'FST_ERR_BAD_URL':
    case 'FST_ERR_ROUTE_METHOD_NOT_SUPPORTED':
    // For an invalid file name under /docs.
    case 'FST_STATIC_FORBIDDEN_PATH':
      return new ApiError('NOT_FOUND', 'No such path; see /docs.');
    default:
      return isHangUp(error) ? new ApiError('BAD_REQUEST', 'The body is incomplete.') : error;
  }
}

/** True if the caller disconnected in the middle of the body. Fastify marks errors of the body's stream with a 400. */
const isHangUp = (error: Error & { code: unknown }): boolean =>
  error.code === 'ECONNRESET' && 'statusCode' in error && error.statusCode === 400;

function toRefusal(code: string | undefined): [reason: string, refusal: ApiError] {
  if (code === 'HPE_HEADER_OVERFLOW') {
    const message = `The URL and headers are longer than ${MAX_HEADER_BYTES} bytes.`;
    return ['Request Header Fields Too Large', new ApiError('REQUEST_TOO_LONG', message)];
  }
  if (code === 'HPE_INVALID_METHOD') {
    const headers = { allow: 'DELETE, GET, PATCH, POST' };
    return ['Method Not Allowed', new ApiError('METHOD_NOT_ALLOWED', 'This is not an HTTP method.', { headers })];
  }
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') {
    return ['Request Timeout', new ApiError('REQUEST_TIMEOUT', 'The request did not arrive completely in time.')];
  }
  return ['Bad Request', new ApiError('BAD_REQUEST', 'This is not a well-formed HTTP request.')];
}

type ParserError = Error & { code?: string };

interface Unreadable {
  addresses: AddressLimit;
  metrics: Metrics;
  clock: Clock;
}

/** Responds to requests that the HTTP parser rejects, in the API's error format, and closes the connection. */
function answerUnreadable(error: ParserError, socket: Socket, { addresses, metrics, clock }: Unreadable): void {
  if (!socket.writable || error.code === 'ECONNRESET') {
    socket.destroy();
    return;
  }
  const [reason, refusal] = toRefusal(error.code);
  const requestId = newId('req', clock.now().getTime());
  const lines: string[] = [];
  const write = (answer: ApiError) => {
    metrics.refusals.inc({ door: 'unreadable', code: answer.code });
    const body = JSON.stringify(errorBody(answer, requestId));
    const status = `HTTP/1.1 ${answer.status} ${answer === refusal ? reason : 'Too Many Requests'}`;
    const fixedHeaders = [
      'content-type: application/json; charset=utf-8',
      `content-length: ${Buffer.byteLength(body)}`,
      'connection: close',
    ];
    setTimeout(() => socket.destroy(), CLOSED_WITHIN_MS).unref();
    socket.end(
      [
        status,
        `x-request-id: ${requestId}`,
        ...Object.entries(answer.headers).map(([name, value]) => `${name}: ${value}`),
        ...lines,
        ...fixedHeaders,
        '',
        body,
      ].join('\r\n'),
    );
  };
  addresses
    .count(socket.remoteAddress ?? '', (name, value) => void lines.push(`${name}: ${value}`))
    .then((limited) => write(limited ?? refusal))
    .catch(ignoreFailure('the connection is already gone'));
}

/** Responds once to an unparsable request, after the connection's outstanding responses. */
export function openUnreadable(
  bounded: BoundedRequests,
  options: Unreadable,
): (error: ParserError, socket: Socket) => void {
  const refusedSockets = new WeakSet<Socket>();
  return (error, socket) => {
    if (refusedSockets.has(socket)) return;
    refusedSockets.add(socket);
    bounded.whenAnswered(socket, () => answerUnreadable(error, socket, options));
  };
}
