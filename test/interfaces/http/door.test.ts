import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { newApiKey } from '../../../src/kit/access/keys/key-form.ts';
import { type Answer, call, makeBrand, startApp, type TestApp, type TestBrand, unique } from '../../harness/app.ts';
import { creator, putDirectory } from '../../harness/directory/directory.ts';
import { someAddress } from '../../harness/workflow/applying.ts';

const alias = unique('door');
let app: TestApp;
let brand: TestBrand;

beforeAll(async () => {
  app = await startApp({ alias, env: { TRUSTED_PROXIES: '127.0.0.1' } });
  await putDirectory(app.context.elastic, alias, [
    creator(1, { city: 'Brooklyn', state: 'NY' }),
    creator(2, { gender: null, age: null, following_count: null, media_count: null }),
  ]);
  brand = await makeBrand(app.context);
});
afterAll(() => app?.close());

/** An address of its own for each call: those without a key are limited by address, over all tests of a minute. */
const from = (more: Record<string, string> = {}): RequestInit => ({
  headers: { 'x-forwarded-for': someAddress(), ...more },
});

function expectEveryHeader(answer: Answer): void {
  expect(answer.headers.get('x-ratelimit-limit')).toBe('100');
  expect(Number(answer.headers.get('x-ratelimit-remaining'))).toBeGreaterThanOrEqual(0);
  const reset = Number(answer.headers.get('x-ratelimit-reset'));
  expect(reset - Date.now() / 1000).toBeGreaterThan(-10);
  expect(reset - Date.now() / 1000).toBeLessThan(62);
  expect(answer.headers.get('x-request-id')).toMatch(/^req_/);
  if (answer.status >= 400) {
    expect(answer.body).toMatchObject({ error: expect.any(String), code: expect.any(String) });
    expect(answer.body.request_id).toBe(answer.headers.get('x-request-id'));
  }
}

describe('the headers and the error body of every response', () => {
  const search = '/v1/creators/search';
  const cases: [string, number, string | undefined, () => Promise<Answer>][] = [
    ['no key', 401, 'AUTH_REQUIRED', () => call(app.url + search, undefined, from())],
    ['no key on an unknown path', 401, 'AUTH_REQUIRED', () => call(`${app.url}/v1/nope`, undefined, from())],
    ['a key that was never issued', 401, 'INVALID_API_KEY', () => call(app.url + search, newApiKey(), from())],
    ['a key with a typo', 401, 'INVALID_API_KEY', () => call(app.url + search, `svk_${'a'.repeat(40)}`, from())],
    [
      'another scheme',
      401,
      'INVALID_API_KEY',
      () => call(app.url + search, undefined, from({ authorization: 'Basic abc' })),
    ],
    ['an unknown path outside the API', 404, 'NOT_FOUND', () => call(`${app.url}/nope`, undefined, from())],
    ['an unknown path of the API', 404, 'NOT_FOUND', async () => call(`${app.url}/v1/nope`, await brand.key('brand'))],
    [
      'a data key elsewhere',
      403,
      'BRAND_KEY_REQUIRED',
      async () => call(`${app.url}/v1/usage`, await brand.key('data')),
    ],
    [
      'a data key on an unknown path',
      403,
      'BRAND_KEY_REQUIRED',
      async () => call(`${app.url}/v1/nope`, await brand.key('data')),
    ],
    [
      'a data key with another method',
      403,
      'BRAND_KEY_REQUIRED',
      async () => call(app.url + search, await brand.key('data'), { method: 'POST' }),
    ],
    [
      'another method',
      405,
      'METHOD_NOT_ALLOWED',
      async () => call(app.url + search, await brand.key('brand'), { method: 'DELETE' }),
    ],
    [
      'an answer nobody accepts',
      406,
      'NOT_ACCEPTABLE',
      async () => call(app.url + search, await brand.key('brand'), { headers: { accept: 'text/csv' } }),
    ],
    ['a bad value', 422, 'VALIDATION_ERROR', async () => call(`${app.url}${search}?limit=x`, await brand.key('data'))],
    [
      'a creator that does not exist',
      404,
      'NOT_FOUND',
      async () => call(`${app.url}/v1/creators/99`, await brand.key('data')),
    ],
    [
      'a pk that is no integer',
      422,
      'VALIDATION_ERROR',
      async () => call(`${app.url}/v1/creators/abc`, await brand.key('data')),
    ],
    ['a search', 200, undefined, async () => call(app.url + search, await brand.key('data'))],
    [
      'a creator of whom little is known',
      200,
      undefined,
      async () => call(`${app.url}/v1/creators/2`, await brand.key('data')),
    ],
    ['a creator', 200, undefined, async () => call(`${app.url}/v1/creators/1`, await brand.key('data'))],
  ];
  it.each(cases)('are right for %s: %i %s', async (_name, status, code, request) => {
    const answer = await request();
    expect(answer.status).toBe(status);
    expect(answer.body.code).toBe(code);
    expectEveryHeader(answer);
  });

  it('follow the order key, class, method also for a method that Fastify does not know', async () => {
    const query = (key?: string) => call(`${app.url}/v1/creators/1`, key, { method: 'QUERY', ...from() });
    const answers = [await query(), await query(await brand.key('data')), await query(await brand.key('brand'))];
    expect(answers.map(({ status, body }) => [status, body.code])).toEqual([
      [401, 'AUTH_REQUIRED'],
      [403, 'BRAND_KEY_REQUIRED'],
      [405, 'METHOD_NOT_ALLOWED'],
    ]);
    for (const answer of answers) expectEveryHeader(answer);
  });

  it('name the allowed methods in a 405', async () => {
    const answer = await call(`${app.url}/v1/creators/1`, await brand.key('brand'), { method: 'PUT' });
    expect(answer.headers.get('allow')).toBe('GET');
  });

  it('do not list methods that only web app sessions may call', async () => {
    const answer = await call(`${app.url}/v1/affiliates/integrations`, await brand.key('brand'), { method: 'PATCH' });
    expect([answer.status, answer.headers.get('allow')]).toEqual([405, 'GET']);
  });

  it('do not offer HEAD for operations that cost credits', async () => {
    const answer = await call(`${app.url}${search}`, await brand.key('brand'), { method: 'HEAD' });
    expect(answer.status).toBe(405);
  });

  it('are the same when the HTTP parser refuses the request', async () => {
    const { hostname, port } = new URL(app.url);
    const raw = await new Promise<string>((resolve, reject) => {
      // Its headers are not read, so it comes from an address of its own itself.
      const from = { host: hostname, port: Number(port), localAddress: someAddress().replace(/^\d+/, '127') };
      const socket = connect(from, () => {
        socket.write(`GET /v1/creators/search?q=${'a'.repeat(70_000)} HTTP/1.1\r\nHost: x\r\n\r\n`);
      });
      let text = '';
      socket.on('data', (chunk) => {
        text += chunk.toString();
      });
      socket.on('close', () => resolve(text));
      socket.on('error', reject);
    });
    expect(raw).toMatch(/^HTTP\/1\.1 431 /);
    expect(raw).toMatch(/x-ratelimit-limit: 100/);
    expect(JSON.parse(raw.slice(raw.indexOf('\r\n\r\n') + 4))).toMatchObject({ code: 'REQUEST_TOO_LONG' });
  });

  it('are right for a body over 1 MB, which is 413', async () => {
    const init = { method: 'POST', body: 'x'.repeat(1_100_000), headers: { 'content-type': 'application/json' } };
    const answer = await call(app.url + search, await brand.key('brand'), init);
    expect([answer.status, answer.body.code]).toEqual([413, 'PAYLOAD_TOO_LARGE']);
    expectEveryHeader(answer);
  });

  it('keep a caller’s own request id and replace one that is malformed', async () => {
    const key = await brand.key('brand');
    const kept = await call(`${app.url}/v1/usage`, key, { headers: { 'x-request-id': 'my-request-0001' } });
    expect(kept.headers.get('x-request-id')).toBe('my-request-0001');
    const replaced = await call(`${app.url}/v1/usage`, key, { headers: { 'x-request-id': '<script>' } });
    expect(replaced.headers.get('x-request-id')).toMatch(/^req_/);
  });

  it('contain no rate limits outside the API', async () => {
    for (const path of ['/healthz', '/readyz', '/metrics', '/openapi.json']) {
      const answer = await call(app.url + path);
      expect(answer.status, path).toBe(200);
      expect(answer.headers.get('x-ratelimit-limit'), path).toBeNull();
    }
  });
});

describe('the order of checks', () => {
  it('an address without a valid key is rate-limited before it learns that the key is invalid', async () => {
    const init = from();
    const statuses = [];
    for (let i = 0; i < 101; i += 1) statuses.push((await call(`${app.url}/v1/usage`, undefined, init)).status);
    expect(statuses.slice(0, 100).every((status) => status === 401)).toBe(true);
    expect(statuses[100]).toBe(429);
    const answer = await call(`${app.url}/v1/usage`, newApiKey(), init);
    expect([answer.status, answer.body.code]).toEqual([429, 'RATE_LIMITED']);
    expect(Number(answer.headers.get('retry-after'))).toBeGreaterThanOrEqual(1);
    expect((await call(`${app.url}/v1/usage`, await brand.key('brand'), init)).status).toBe(200);
  });

  it('the rate is checked before the class, the class before the plan, the plan before the shape, and the shape before credits', async () => {
    const free = await makeBrand(app.context, { plan: 'free' });
    const brandKey = await free.key('brand');
    const bad = `${app.url}/v1/creators/search?limit=x`;
    expect((await call(bad, brandKey)).body.code).toBe('SUBSCRIPTION_REQUIRED');

    const broke = await makeBrand(app.context, { plan: 'starter', credits: 0 });
    const dataKey = await broke.key('data');
    expect((await call(`${app.url}/v1/usage?limit=x`, dataKey)).body.code).toBe('BRAND_KEY_REQUIRED');
    expect((await call(bad, dataKey)).body.code).toBe('VALIDATION_ERROR');
    expect((await call(`${app.url}/v1/creators/search`, dataKey)).body.code).toBe('CREDITS_EXHAUSTED');
    for (let i = 0; i < 97; i += 1) await call(bad, dataKey);
    expect((await call(`${app.url}/v1/usage`, dataKey)).body.code).toBe('RATE_LIMITED');
  });

  it('a data key of an inactive subscription is 401, and a brand key of one is 403', async () => {
    const lapsed = await makeBrand(app.context, { status: 'past_due' });
    const data = await call(`${app.url}/v1/creators/search`, await lapsed.key('data'));
    expect([data.status, data.body.code]).toEqual([401, 'INVALID_API_KEY']);
    const brandKey = await lapsed.key('brand');
    expect((await call(`${app.url}/v1/creators/search`, brandKey)).body.code).toBe('SUBSCRIPTION_REQUIRED');
    expect((await call(`${app.url}/v1/usage`, brandKey)).status).toBe(200);
  });

  it('a trialing brand and a design partner in any status may use the directory', async () => {
    const trialing = await makeBrand(app.context, { status: 'trialing' });
    const partner = await makeBrand(app.context, { plan: 'design_partner', status: 'canceled' });
    for (const owner of [trialing, partner]) {
      expect((await call(`${app.url}/v1/creators/search`, await owner.key('brand'))).status).toBe(200);
    }
  });
});

describe('input', () => {
  it('is answered with every problem at once: field, code and a message with the value', async () => {
    const query = 'limit=0&page=1.5&offset=-1&sort=age&has_email=yes&city=a&city=b';
    const { status, body } = await call(`${app.url}/v1/creators/search?${query}`, await brand.key('brand'));
    expect(status).toBe(422);
    const fields = body.details.map((detail: { field: string }) => detail.field).sort();
    expect(fields).toEqual(['city', 'has_email', 'limit', 'offset', 'page', 'sort']);
    expect(body.details).toContainEqual({
      field: 'sort',
      code: 'invalid_value',
      message:
        'must be one of followers, engagement, followers_asc, engagement_asc, posts, recent, relevance; got "age".',
    });
  });

  it('may have blank values, which are ignored, and unknown parameters, which are named even if they are not ASCII', async () => {
    const key = await brand.key('brand');
    const answer = await call(`${app.url}/v1/creators/search?city=&q=%20&citty=NYC&f%C3%B6o=1`, key);
    expect(answer.status).toBe(200);
    expect(answer.headers.get('x-ignored-params')).toBe('citty, f%C3%B6o');
    expect(answer.body.meta.interpretation.ignored).toEqual(['citty', 'föo']);
  });

  it('has its limit clamped to 100, and offset wins over page', async () => {
    const key = await brand.key('brand');
    const clamped = await call(`${app.url}/v1/creators/search?limit=5000`, key);
    expect(clamped.body.pagination).toEqual({ page: 1, limit: 100, total: 2, has_more: false });
    const offset = await call(`${app.url}/v1/creators/search?limit=10&offset=25&page=9`, key);
    expect(offset.body.pagination).toEqual({ page: 3, limit: 10, total: 2, has_more: false });
    expect(offset.body.data).toEqual([]);
  });
});
