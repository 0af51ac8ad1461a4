import { createHash, createHmac } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { buffer } from 'node:stream/consumers';

export const S3_KEY = 'test-key';
export const S3_SECRET = 'not-a-secret';
export const S3_BUCKET = 'library';

export interface TestS3 {
  /** For ASSETS_URL. */
  url: string;
  endpoint: string;
  objects: Map<string, { bytes: Buffer; type: string }>;
  /** Parts of uploads that are not completed, by upload id. */
  uploads: Map<string, { key: string; parts: Map<number, Buffer> }>;
  requests: string[];
  /** Answers the next requests with 503. */
  failures: number;
  /** Answers 403, as for a key that lost its permission. */
  refusing: boolean;
  close(): Promise<void>;
}

const hmac = (key: string | Buffer, text: string) => createHmac('sha256', key).update(text).digest();
const sha256 = (bytes: Buffer | string) => createHash('sha256').update(bytes).digest('hex');
const encode = (text: string) =>
  encodeURIComponent(text).replace(/[!'()*]/g, (c) => `%${c.charCodeAt(0).toString(16).toUpperCase()}`);

interface Signed {
  credential: string;
  signedHeaders: string;
  signature: string;
  date: string;
  payload: string;
  /** The query's parameters that are signed. */
  query: [string, string][];
}

/** What a request says of its signature: in its query when it is presigned, else in its headers. */
function readSigned(request: IncomingMessage, url: URL): Signed | undefined {
  const query = [...url.searchParams];
  const presigned = url.searchParams.get('X-Amz-Signature');
  if (presigned !== null) {
    const parameter = (name: string) => url.searchParams.get(`X-Amz-${name}`) ?? '';
    const [credential, signedHeaders, date] = [parameter('Credential'), parameter('SignedHeaders'), parameter('Date')];
    const signed = query.filter(([name]) => name !== 'X-Amz-Signature');
    return { credential, signedHeaders, signature: presigned, date, payload: 'UNSIGNED-PAYLOAD', query: signed };
  }
  const found = /Credential=([^,]+), *SignedHeaders=([^,]+), *Signature=(\w+)/.exec(
    request.headers.authorization ?? '',
  );
  const [, credential, signedHeaders, signature] = found ?? [];
  if (!credential || !signedHeaders || !signature) return undefined;
  const text = (name: string) => String(request.headers[name] ?? '');
  return {
    credential,
    signedHeaders,
    signature,
    date: text('x-amz-date'),
    payload: text('x-amz-content-sha256'),
    query,
  };
}

/** Signature Version 4, computed anew from what arrived. */
function isSigned(request: IncomingMessage, url: URL, body: Buffer): boolean {
  const signed = readSigned(request, url);
  if (!signed) return false;
  const { credential, signedHeaders, date, payload, query } = signed;
  const [accessKey = '', day = '', region = '', service = ''] = credential.split('/');
  if (/^[0-9a-f]{64}$/.test(payload) && payload !== sha256(body)) return false;
  const canonicalQuery = query
    .map(([name, value]) => `${encode(name)}=${encode(value)}`)
    .toSorted()
    .join('&');
  const headers = signedHeaders.split(';').map((name) => `${name}:${String(request.headers[name] ?? '').trim()}\n`);
  const path = url.pathname.split('/').map((part) => encode(decodeURIComponent(part)));
  const canonical = [request.method, path.join('/'), canonicalQuery, headers.join(''), signedHeaders, payload];
  const scope = `${day}/${region}/${service}/aws4_request`;
  const toSign = ['AWS4-HMAC-SHA256', date, scope, sha256(canonical.join('\n'))].join('\n');
  const key = hmac(hmac(hmac(hmac(`AWS4${S3_SECRET}`, day), region), service), 'aws4_request');
  return accessKey === S3_KEY && hmac(key, toSign).toString('hex') === signed.signature;
}

function xml(response: ServerResponse, status: number, text: string): void {
  response.writeHead(status, { 'content-type': 'application/xml' }).end(`<?xml version="1.0"?>${text}`);
}

function read(server: TestS3, request: IncomingMessage, response: ServerResponse, url: URL, key: string): void {
  const object = server.objects.get(key);
  if (!object) {
    xml(response, 404, '<Error><Code>NoSuchKey</Code></Error>');
    return;
  }
  const [, from, to] = /^bytes=(\d+)-(\d*)$/.exec(request.headers.range ?? '') ?? [];
  const { bytes } = object;
  const end = to ? Number(to) + 1 : bytes.length;
  const part = from === undefined ? bytes : bytes.subarray(Number(from), end);
  response.writeHead(from === undefined ? 200 : 206, {
    'content-type': url.searchParams.get('response-content-type') ?? object.type,
    'content-length': part.length,
    etag: `"${sha256(bytes)}"`,
    ...(url.searchParams.has('response-content-disposition')
      ? { 'content-disposition': url.searchParams.get('response-content-disposition') ?? '' }
      : {}),
  });
  response.end(request.method === 'HEAD' ? undefined : part);
}

function listUploads(server: TestS3, prefix: string): string {
  const found = [...server.uploads].filter(([, { key }]) => key.startsWith(prefix));
  const items = found.map(([id, { key }]) => `<Upload><Key>${key}</Key><UploadId>${id}</UploadId></Upload>`);
  return `<ListMultipartUploadsResult>${items.join('')}</ListMultipartUploadsResult>`;
}

function multipart(
  server: TestS3,
  request: IncomingMessage,
  response: ServerResponse,
  url: URL,
  key: string,
  body: Buffer,
) {
  const id = url.searchParams.get('uploadId') ?? `upload-${server.requests.length}`;
  if (url.searchParams.has('uploads')) {
    server.uploads.set(id, { key, parts: new Map() });
    return xml(
      response,
      200,
      `<InitiateMultipartUploadResult><UploadId>${id}</UploadId></InitiateMultipartUploadResult>`,
    );
  }
  const upload = server.uploads.get(id);
  if (!upload) return xml(response, 404, '<Error><Code>NoSuchUpload</Code></Error>');
  if (request.method === 'PUT') {
    upload.parts.set(Number(url.searchParams.get('partNumber')), body);
    return void response.writeHead(200, { etag: `"${sha256(body)}"` }).end();
  }
  server.uploads.delete(id);
  if (request.method === 'DELETE') return void response.writeHead(204).end();
  const bytes = Buffer.concat([...upload.parts].toSorted(([a], [b]) => a - b).map(([, part]) => part));
  server.objects.set(key, { bytes, type: 'application/octet-stream' });
  return xml(
    response,
    200,
    `<CompleteMultipartUploadResult><Key>${key}</Key><ETag>"x"</ETag></CompleteMultipartUploadResult>`,
  );
}

async function answer(server: TestS3, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const url = new URL(request.url ?? '/', `http://${request.headers.host}`);
  const body = await buffer(request);
  server.requests.push(`${request.method} ${url.pathname}${url.searchParams.has('uploadId') ? ' part' : ''}`);
  if (server.failures > 0) {
    server.failures -= 1;
    return xml(response, 503, '<Error><Code>SlowDown</Code></Error>');
  }
  if (!isSigned(request, url, body)) return xml(response, 403, '<Error><Code>SignatureDoesNotMatch</Code></Error>');
  if (server.refusing) return xml(response, 403, '<Error><Code>AccessDenied</Code></Error>');
  const [, bucket, ...rest] = decodeURIComponent(url.pathname).split('/');
  const key = rest.join('/');
  if (bucket !== S3_BUCKET) return xml(response, 404, '<Error><Code>NoSuchBucket</Code></Error>');
  if (key === '') return xml(response, 200, listUploads(server, url.searchParams.get('prefix') ?? ''));
  if (url.searchParams.has('uploads') || url.searchParams.has('uploadId')) {
    return void multipart(server, request, response, url, key, body);
  }
  if (request.method === 'PUT') {
    server.objects.set(key, { bytes: body, type: request.headers['content-type'] ?? '' });
    return void response.writeHead(200, { etag: `"${sha256(body)}"` }).end();
  }
  if (request.method === 'DELETE') {
    server.objects.delete(key);
    return void response.writeHead(204).end();
  }
  return read(server, request, response, url, key);
}

/** A server that speaks S3's protocol for one bucket, and checks every signature. */
export async function startS3(): Promise<TestS3> {
  const http = createServer((request, response) => {
    answer(server, request, response).catch((error: unknown) =>
      response.destroy(error instanceof Error ? error : undefined),
    );
  });
  http.listen(0, '127.0.0.1');
  await once(http, 'listening');
  const address = http.address();
  const endpoint = `http://127.0.0.1:${typeof address === 'object' && address ? address.port : 0}`;
  const url = new URL(`s3://${S3_BUCKET}/files?endpoint=${encodeURIComponent(endpoint)}&region=eu-central-1`);
  Object.assign(url, { username: S3_KEY, password: S3_SECRET });
  const server: TestS3 = {
    ...{ url: url.href, endpoint, objects: new Map(), uploads: new Map(), requests: [], failures: 0, refusing: false },
    close: async () => {
      http.closeAllConnections();
      http.close();
      await once(http, 'close');
    },
  };
  return server;
}
