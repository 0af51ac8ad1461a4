import { once } from 'node:events';
import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createKey } from '../../../src/platform/keys/keys.ts';
import { call, makeBrand, startApp, type TestApp, type TestBrand } from '../../harness/app.ts';
import { BEHIND_PROXY, someAddress } from '../../harness/workflow/applying.ts';

let shiftMs = 0;
const clock = { now: () => new Date(Date.now() + shiftMs) };
let app: TestApp;
let brand: TestBrand;

beforeAll(async () => {
  app = await startApp({ env: BEHIND_PROXY, clock });
  brand = await makeBrand(app.context);
});
afterAll(() => app?.close());

const BASE = { 'x-content-type-options': 'nosniff', 'cache-control': 'no-store' };
const LARGE = { method: 'POST', body: 'x'.repeat(1_100_000), headers: { 'content-type': 'application/json' } };

function expectBase({ headers, body }: Awaited<ReturnType<typeof call>>): void {
  expect(Object.fromEntries(headers)).toMatchObject(BASE);
  expect(headers.get('x-request-id')).toBe(body.request_id);
}

describe('what the HTTP layer refuses under /v1, /api/v1 and /api/brand', () => {
  const cases: [what: string, path: string, init: RequestInit, status: number, code: string][] = [
    ['a path that is no text', '/v1/creators/%zz', {}, 404, 'NOT_FOUND'],
    ['a part of the path of 600 digits', `/v1/creators/${'1'.repeat(600)}`, {}, 414, 'REQUEST_TOO_LONG'],
    ['a path of the older interface that is none', '/api/v1/nope', {}, 404, 'NOT_FOUND'],
    ['the root of the older interface', '/api/v1', {}, 404, 'NOT_FOUND'],
    ['a path of the brand that is none', '/api/brand/nope', {}, 404, 'NOT_FOUND'],
    ['a body over 1 MB', '/v1/campaigns', LARGE, 413, 'PAYLOAD_TOO_LARGE'],
  ];

  it.each(cases)(
    '%s is 401 without a key, 403 with a data key, and counted',
    async (_what, path, init, status, code) => {
      const from = { ...init, headers: { ...init.headers, 'x-forwarded-for': someAddress() } };
      const kinds = [undefined, await brand.key('data'), await brand.key('brand')];
      const reported: unknown[] = [];
      for (const key of kinds) {
        const answer = await call(app.url + path, key, from);
        reported.push([answer.status, answer.body.code]);
        expectBase(answer);
        expect(answer.headers.get('x-ratelimit-remaining')).toBe('99');
        expect((await call(app.url + path, key, from)).headers.get('x-ratelimit-remaining')).toBe('98');
      }
      expect(reported).toEqual([
        [401, 'AUTH_REQUIRED'],
        [403, 'BRAND_KEY_REQUIRED'],
        [status, code],
      ]);
    },
  );

  it('is 429 for a key that is over its rate limit', async () => {
    const key = await brand.key('data');
    for (let i = 0; i < 100; i += 1) await call(`${app.url}/v1/nope`, key);
    for (const [, path, init] of cases) {
      const answer = await call(app.url + path, key, init);
      expect([answer.status, answer.body.code]).toEqual([429, 'RATE_LIMITED']);
    }
  });

  it('is 404 elsewhere, in the same format, counted by address', async () => {
    const answer = await call(`${app.url}/%zz`, undefined, { headers: { 'x-forwarded-for': someAddress() } });
    expect([answer.status, answer.body.code, answer.headers.get('x-ratelimit-remaining')]).toEqual([
      404,
      'NOT_FOUND',
      '99',
    ]);
    expectBase(answer);
  });
});

/** Sends bytes as they are; answers what came until the connection was closed. */
async function exchange(lines: string[]): Promise<{ status: number; head: string; body: unknown }> {
  const socket = connect(Number(new URL(app.url).port), '127.0.0.1');
  let raw = '';
  socket.on('data', (chunk: Buffer) => {
    raw += chunk.toString();
  });
  socket.write(`${lines.join('\r\n')}\r\n\r\n`);
  await once(socket, 'close');
  const end = raw.indexOf('\r\n\r\n');
  return { status: Number(raw.split(' ')[1]), head: raw.slice(0, end), body: JSON.parse(raw.slice(end + 4)) };
}

describe('a request that Node would refuse without a body', () => {
  it.each([
    ['HTTP/1.1 without a Host header', ['GET /v1/creators/search HTTP/1.1'], 400, 'BAD_REQUEST'],
    ['a short link without a Host header', ['GET /r/x HTTP/1.1'], 400, 'BAD_REQUEST'],
    ['an expectation', ['GET /v1/creators/search HTTP/1.1', 'host: x', 'expect: foo'], 417, 'NOT_ACCEPTABLE'],
  ])('is answered in the same format, counted by address: %s', async (_what, lines, status, code) => {
    const from = `x-forwarded-for: ${someAddress()}`;
    const answer = await exchange([...lines, from, 'x-request-id: my-request-0001']);
    expect(answer).toMatchObject({
      status,
      body: { code, error: expect.any(String), request_id: 'my-request-0001' },
    });
    const headers = ['x-request-id: my-request-0001', ...Object.entries(BASE).map((header) => header.join(': '))];
    for (const header of [...headers, 'x-ratelimit-limit: 100', 'x-ratelimit-remaining: 99', 'connection: close']) {
      expect(answer.head.toLowerCase().split('\r\n')).toContain(header);
    }
    expect((await exchange([...lines, from])).head).toContain('x-ratelimit-remaining: 98');
  });

  it('ends the connection if it is CONNECT, because this is no proxy', async () => {
    const socket = connect(Number(new URL(app.url).port), '127.0.0.1');
    let said = '';
    socket.on('data', (chunk: Buffer) => {
      said += chunk.toString();
    });
    socket.write('CONNECT example.com:443 HTTP/1.1\r\nhost: example.com:443\r\n\r\n');
    await once(socket, 'close');
    expect(said).toBe('');
  });

  it('is accepted if it is HTTP/1.0 without a Host header, or expects 100-continue', async () => {
    const old = await exchange(['GET /v1/usage HTTP/1.0', `x-forwarded-for: ${someAddress()}`]);
    expect([old.status, old.body]).toMatchObject([401, { code: 'AUTH_REQUIRED' }]);
    const lines = ['GET /healthz HTTP/1.1', 'host: x', 'connection: close', 'expect: 100-continue'];
    const socket = connect(Number(new URL(app.url).port), '127.0.0.1');
    socket.write(`${lines.join('\r\n')}\r\n\r\n`);
    let raw = '';
    for await (const chunk of socket) raw += chunk;
    expect(raw).toMatch(/^HTTP\/1\.1 100 Continue\r\n\r\nHTTP\/1\.1 200 OK/);
  });
});

describe('the endpoint for stores', () => {
  it.each(['GET', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'QUERY'])('reports that %s is not allowed', async (method) => {
    const answer = await call(`${app.url}/ingest/generic/int_1`, undefined, { method });
    expect([answer.status, answer.body.code, answer.headers.get('allow')]).toEqual([405, 'METHOD_NOT_ALLOWED', 'POST']);
    expect([...answer.headers.keys()].filter((name) => name.startsWith('x-ratelimit'))).toEqual([]);
    expectBase(answer);
  });

  it.each([
    ['another path', '/ingest/generic'],
    ['a deeper path', '/ingest/generic/int_1/more'],
    ['a path that is no text', '/ingest/generic/%zz'],
    ['a long path', `/ingest/generic/${'1'.repeat(600)}`],
  ])('has no rate headers: %s', async (_what, path) => {
    const answer = await call(app.url + path, undefined, { method: 'POST' });
    expect([answer.status, answer.body.code]).toEqual([404, 'NOT_FOUND']);
    expect([...answer.headers.keys()].filter((name) => name.startsWith('x-ratelimit'))).toEqual([]);
    expectBase(answer);
  });
});

describe('a body or a key', () => {
  it('that is not JSON is 400, and changes nothing', async () => {
    const headers = { 'content-type': 'application/json' };
    const init = { method: 'PATCH', body: '{"name": ', headers };
    const answer = await call(`${app.url}/v1/brand`, await brand.key('brand'), init);
    expect([answer.status, answer.body.code]).toEqual([400, 'INVALID_JSON']);
    expectBase(answer);
  });

  it('that expires is 401 from that moment on', async () => {
    const { postgres } = app.context;
    const { id: brandId, subscriptionIds } = brand;
    const expiresAt = new Date(clock.now().getTime() + 60_000);
    const request = { brandId, subscriptionId: subscriptionIds.brand, kind: 'brand', name: 'test', expiresAt } as const;
    const { key } = await createKey(postgres.db, clock, request);
    expect((await call(`${app.url}/v1/usage`, key)).status).toBe(200);
    shiftMs = 61_000;
    const { status, body } = await call(`${app.url}/v1/usage`, key);
    shiftMs = 0;
    expect([status, body.code]).toEqual([401, 'INVALID_API_KEY']);
  });
});
