import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { LINKS, problemsOf } from '../../harness/affiliates/affiliates.ts';
import { call, makeBrand, send, startApp, type TestApp, unique } from '../../harness/app.ts';
import { creator, putDirectory } from '../../harness/directory/directory.ts';

const SHOP = 'https://shop.example';
const EMAIL = 'creator_email required';
const PERFORMANCE = '/v1/affiliates/performance';
const alias = unique('input');
let app: TestApp;
let key: string;

beforeAll(async () => {
  app = await startApp({ alias });
  await putDirectory(app.context.elastic, alias, [creator(1)]);
  key = await (await makeBrand(app.context)).key('brand');
});
afterAll(() => app?.close());

const get = (path: string) => call(app.url + path, key);
const patchBrand = (body: object) => send(`${app.url}/v1/brand`, key, 'PATCH', body);

describe('unknown body fields are named', () => {
  it('inside objects too, by their path', async () => {
    const { status, headers } = await patchBrand({ titel: 'x', settings: { curency: 'USD', currency: 'USD' } });
    expect([status, headers.get('x-ignored-params')]).toEqual([200, 'body.titel, body.settings.curency']);
  });

  it('inside the objects of an array, up to 20', async () => {
    await send(`${app.url}/v1/roster`, key, 'POST', { creator_email: 'ana@mail.example' });
    const selected = { creators: [{ email: 'ana@mail.example', mail: 'x' }] };
    const one = await send(`${app.url}/v1/affiliates/links/bulk`, key, 'POST', selected);
    expect([one.status, one.headers.get('x-ignored-params')]).toEqual([200, 'body.creators.0.mail']);
    const many = Object.fromEntries(Array.from({ length: 500 }, (_, i) => [`f${i}`, i]));
    const named = (await patchBrand({ settings: many })).headers.get('x-ignored-params');
    expect(named?.split(', ')).toEqual(Array.from({ length: 20 }, (_, i) => `body.settings.f${i}`));
  });

  it('even if they have the name of a property that every object has', async () => {
    const headers = { 'content-type': 'application/json', authorization: `Bearer ${key}` };
    const body = '{"__proto__": {"name": "x"}, "constructor": 1}';
    const answer = await call(`${app.url}/v1/brand`, undefined, { method: 'PATCH', body, headers });
    expect([answer.status, answer.headers.get('x-ignored-params')]).toEqual([200, 'body.__proto__, body.constructor']);
  });

  it('only as far as their object is declared: not inside null, absent or plain values', async () => {
    const { status, headers } = await send(`${app.url}/v1/campaigns`, key, 'POST', {
      ...{ name: 'x', compensation: null },
      requirements: { platforms: ['photo_app'], min_followers: 5 },
    });
    expect([status, headers.get('x-ignored-params')]).toEqual([201, null]);
  });
});

describe('ignored names', () => {
  it('include query parameters with the name of a property that every object has', async () => {
    const { status, headers } = await get('/v1/usage?__proto__=a&constructor=b&__proto__=c&toString=d');
    expect([status, headers.get('x-ignored-params')]).toEqual([200, '__proto__, constructor, toString']);
  });

  it.each([
    ['ten emoji', '😀'.repeat(10), '😀'.repeat(5)],
    ['letters that are two bytes', 'é'.repeat(40), 'é'.repeat(10)],
    ['plain letters', 'a'.repeat(70), 'a'.repeat(64)],
    ['a comma', 'a,b', 'a,b'],
  ])('of %s are cut at a whole character', async (_what, name, shown) => {
    const { headers } = await get(`/v1/usage?${encodeURIComponent(name)}=1`);
    const header = headers.get('x-ignored-params') ?? '';
    expect(header.length).toBeLessThanOrEqual(64);
    expect(decodeURIComponent(header)).toBe(shown);
  });
});

describe('a query that is not encoded as UTF-8', () => {
  it.each(['city=M%FCnchen', 'q=caf%E9+berlin&city=M%C3%BCnchen', 'q=100%25+%C3', 'q=100%+M%C3%BCnchen'])(
    'is refused by name and free, instead of being searched as it stands: %s',
    async (query) => {
      const dataKey = await (await makeBrand(app.context, { plan: 'starter' })).key('data');
      const answer = await call(`${app.url}/v1/creators/search?${query}`, dataKey);
      expect([answer.status, answer.headers.get('x-credits-charged')]).toEqual([422, '0']);
      expect(problemsOf(answer)).toEqual([`${query.split('=')[0]} invalid_encoding`]);
    },
  );

  it('is not one with a percent sign of its own', async () => {
    for (const query of ['q=100%', 'q=50%25', 'city=M%C3%BCnchen&q=5%+off'])
      expect((await get(`/v1/creators/search?${query}&preview=true`)).status).toBe(200);
  });
});

describe('every problem of a request is named once, with all others', () => {
  it('such as a NUL character together with a bad value', async () => {
    const answer = await get('/v1/creators/search?q=a%00b&limit=x');
    expect(answer.status).toBe(422);
    expect(problemsOf(answer).sort()).toEqual(['limit invalid_format', 'q invalid_character']);
  });

  it.each<[method: 'POST' | 'GET' | 'PATCH', path: string, body: unknown, problems: string[]]>([
    ['POST', LINKS, { type: 'link', value: 'x' }, ['creator_email required', 'destination_url required']],
    ['POST', LINKS, { type: 'link' }, ['creator_email required', 'value required', 'destination_url required']],
    ['POST', LINKS, { type: 'link', value: SHOP }, ['creator_email required']],
    ['POST', LINKS, { type: 'link', value: 'x', destination_url: 5 }, [EMAIL, 'destination_url invalid_type']],
    ['POST', LINKS, { type: 'link', value: 'https://me@shop.example' }, [EMAIL, 'value invalid']],
    [
      'POST',
      LINKS,
      { type: 'coupon', value: 'x', hold_days: -1 },
      [EMAIL, 'hold_days too_small', 'type invalid_value'],
    ],
    ['POST', LINKS, [], ['body invalid_type']],
    [
      'POST',
      `${LINKS}/bulk`,
      { type: 'link', commission_rate: 101 },
      [...['all_missing selector', 'commission_rate too_big', 'destination_url required']],
    ],
    ['POST', `${LINKS}/bulk`, { creators: 5, roster_ids: ['x'] }, ['creators invalid_type', 'roster_ids selector']],
    ['POST', '/v1/commissions', { status: 'nope' }, ['event_id required', 'status invalid_value']],
    ['POST', '/v1/commissions', {}, ['event_id required', 'status required']],
    [
      'POST',
      '/v1/commissions',
      { event_id: 'a', event_ids: 5 },
      [...['event_id ambiguous', 'event_ids invalid_type', 'status required']],
    ],
    ['POST', '/v1/commissions', { event_id: 5 }, ['event_id invalid_type', 'status required']],
    ['POST', '/v1/roster/add', { tags: 'vip' }, ['ig_handle required', 'tags invalid_type']],
    ['POST', '/v1/roster/add', { ig_handle: 5, name: 5 }, ['ig_handle invalid_type', 'name invalid_type']],
    [
      'POST',
      '/v1/campaigns',
      { compensation: { type: 'commission', amount: 101 } },
      [...['compensation.amount invalid', 'name required']],
    ],
    ['POST', '/v1/campaigns', { compensation: { amount: 1.234 } }, ['compensation.type required', 'name required']],
    [
      'GET',
      '/v1/payouts?from=2026-02-02&to=2026-02-01&method=cash',
      undefined,
      [...['from invalid', 'method invalid_value']],
    ],
    ['GET', '/v1/payouts?from=soon&to=2026-02-01', undefined, ['from invalid_union']],
    [
      'GET',
      `${PERFORMANCE}?date_from=2026-02-02&date_to=2026-02-01&limit=x`,
      undefined,
      [...['date_to invalid', 'limit invalid_format']],
    ],
    ['GET', `${PERFORMANCE}?date_from=soon&date_to=2026-02-01`, undefined, ['date_from invalid_union']],
    [
      'GET',
      '/v1/creators/search?follower_min=5&follower_max=1&sort=x',
      undefined,
      [...['follower_min contradiction', 'sort invalid_value']],
    ],
  ])('such as %s in %s %j', async (method, path, body, problems) => {
    const answer = await send(app.url + path, key, method, body);
    expect([answer.status, answer.body.code]).toEqual([422, 'VALIDATION_ERROR']);
    expect(problemsOf(answer).sort()).toEqual([...problems].sort());
  });

  it.each([
    ['a code', { value: 'x'.repeat(300) }],
    ['an address as a code', { value: `${SHOP}/${'x'.repeat(300)}` }],
    ['an address that a link leads to', { type: 'link', value: `${SHOP}/${'x'.repeat(2_000)}` }],
  ])('such as %s that is too long together with a missing field', async (_what, body) => {
    expect(problemsOf(await send(app.url + LINKS, key, 'POST', body))).toEqual([EMAIL, 'value too_big']);
  });

  it.each([
    ['9007199254740993', 'too_big', 'must be at most 9007199254740991; got "9007199254740993".'],
    ['-9007199254740993', 'too_small', 'must be at least 0; got "-9007199254740993".'],
    ['1e3', 'invalid_format', 'must be a whole number; got "1e3".'],
    ['-1.5', 'invalid_format', 'must be a whole number; got "-1.5".'],
  ])('such as min_followers=%s, quoted as it was sent', async (value, code, message) => {
    const { status, body } = await get(`/v1/creators?min_followers=${value}`);
    expect([status, body.details]).toEqual([422, [{ field: 'min_followers', code, message }]]);
  });
});
