import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { call, makeBrand, startApp, type TestApp, until } from '../../harness/app.ts';

let app: TestApp;
beforeAll(async () => {
  app = await startApp({ isOwn: true });
});
afterAll(() => app?.close());

/** Sends bytes; answers what came until the connection was closed. */
async function exchange(bytes: string, patienceMs = 60_000): Promise<string> {
  const socket = connect(Number(new URL(app.url).port), '127.0.0.1');
  const chunks: Buffer[] = [];
  socket.on('data', (chunk: Buffer) => void chunks.push(chunk));
  socket.on('error', () => undefined);
  socket.write(bytes);
  const late = setTimeout(() => socket.destroy(), patienceMs);
  await once(socket, 'close');
  clearTimeout(late);
  return Buffer.concat(chunks).toString('latin1');
}

const statuses = (said: string) => [...said.matchAll(/HTTP\/1\.1 (\d{3}) /g)].map(([, status]) => Number(status));
const get = (path: string, more = '') => `GET ${path} HTTP/1.1\r\nhost: x\r\n${more}\r\n`;

describe('the OpenAPI document', () => {
  it('is compressed once for clients that accept it, and not sent again to clients that have it', async () => {
    const plain = await fetch(`${app.url}/openapi.json`, { headers: { 'accept-encoding': 'identity' } });
    const etag = plain.headers.get('etag') ?? '';
    expect(plain.headers.get('content-encoding')).toBeNull();
    const text = await plain.text();
    const zipped = await exchange(get('/openapi.json', 'accept-encoding: br, gzip;q=0.5\r\nconnection: close\r\n'));
    expect(zipped).toMatch(/^content-encoding: gzip\r$/m);
    const body = Buffer.from(zipped.slice(zipped.indexOf('\r\n\r\n') + 4), 'latin1');
    expect(gunzipSync(body).toString()).toBe(text);
    const again = await fetch(`${app.url}/openapi.json`, { headers: { 'if-none-match': etag } });
    expect([again.status, again.headers.get('etag'), await again.text()]).toEqual([304, etag, '']);
    const refused = await fetch(`${app.url}/openapi.json`, { headers: { 'accept-encoding': 'gzip;q=0' } });
    expect(refused.headers.get('content-encoding')).toBeNull();
  });
});

describe('one connection', () => {
  let key: string;
  beforeAll(async () => {
    key = await (await makeBrand(app.context)).key('brand');
  });

  it('that requests thousands of documents at once gets a hundred, in order, and is closed', async () => {
    const before = process.memoryUsage().rss;
    const said = await exchange(get('/openapi.json', 'accept-encoding: gzip\r\n').repeat(1_000));
    expect(statuses(said)).toEqual(Array(100).fill(200));
    expect(said).toMatch(/connection: close\r\n(?![\s\S]*connection: close)/i);
    expect(process.memoryUsage().rss - before).toBeLessThan(100 * 1024 * 1024);
  });

  it('that does not read responses never exceeds its limit', async () => {
    const sockets: Socket[] = [];
    const before = process.memoryUsage().rss;
    for (let i = 0; i < 10; i += 1) {
      const socket = connect(Number(new URL(app.url).port), '127.0.0.1').pause();
      socket.on('error', () => undefined);
      socket.write(get('/openapi.json', 'accept-encoding: identity\r\n').repeat(1_200));
      sockets.push(socket);
    }
    await until('an answer to somebody else', async () => (await call(`${app.url}/healthz`)).status === 200);
    expect(process.memoryUsage().rss - before).toBeLessThan(150 * 1024 * 1024);
    for (const socket of sockets) socket.destroy();
  });

  it('gets the responses to its valid requests before its malformed one is refused', async () => {
    const own = `authorization: Bearer ${key}\r\n`;
    const said = await exchange(`${get('/v1/campaigns', own).repeat(3)}GET / HTTP/9\r\n\r\n`);
    expect(statuses(said)).toEqual([200, 200, 200, 400]);
    expect(said).toContain('"code":"BAD_REQUEST"');
  });

  it.each([
    ['malformed HTTP', 'GET / HTTP/9\r\n\r\n', 400, 'BAD_REQUEST'],
    ['a missing Host', 'GET /healthz HTTP/1.1\r\n\r\n', 400, 'BAD_REQUEST'],
    ['a method of RTSP', 'DESCRIBE /v1/campaigns RTSP/1.0\r\nhost: x\r\n\r\n', 401, 'AUTH_REQUIRED'],
    ['a method of RTSP elsewhere', 'DESCRIBE /docs RTSP/1.0\r\nhost: x\r\n\r\n', 404, 'NOT_FOUND'],
    [
      'a method of RTSP over HTTP',
      'ANNOUNCE /v1/campaigns HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n',
      400,
      'BAD_REQUEST',
    ],
    ['NUL in a path of the docs', get('/docs/static/%00', 'connection: close\r\n'), 404, 'NOT_FOUND'],
    ['a long path in the docs', get(`/docs/static/${'a'.repeat(5_000)}`, 'connection: close\r\n'), 404, 'NOT_FOUND'],
    ['a way up out of the docs', get('/docs/static/..%2f..%2fpackage.json', 'connection: close\r\n'), 404, 'NOT_FOUND'],
  ])('with %s gets an error that says so', async (_what, bytes, status, code) => {
    const said = await exchange(bytes);
    expect([statuses(said), /"code":"(\w+)"/.exec(said)?.[1]]).toEqual([[status], code]);
  });
});

describe('an Accept header', () => {
  it.each([
    ['text/csv;q=0.5, application/json;q=0.9', 'application/json'],
    ['application/json;q=0.5, text/csv', 'text/csv'],
    ['*/*;q=0.1, text/csv;q=0.2', 'text/csv'],
    ['text/*, application/json;q=0.9', 'text/csv'],
    ['application/json;q=0, */*', 'text/csv'],
    ['text/csv, */*', 'text/csv'],
    ['*/*', 'application/json'],
    ['application/json; charset=utf-8', 'application/json'],
    ['application/json; version=1; q=0.5, text/csv; header=present; q=0.9', 'text/csv'],
    ['', 'application/json'],
  ])('%s gets the response type %s', async (accept, type) => {
    const key = await (await makeBrand(app.context)).key('brand');
    const { headers } = await call(`${app.url}/v1/campaigns`, key, { headers: { accept } });
    expect(headers.get('content-type')).toBe(`${type}; charset=utf-8`);
  });

  it('that accepts neither type gets 406', async () => {
    const key = await (await makeBrand(app.context)).key('brand');
    for (const accept of ['image/png', 'application/json;q=0, text/csv;q=0.0']) {
      expect((await call(`${app.url}/v1/campaigns`, key, { headers: { accept } })).status).toBe(406);
    }
  });
});
