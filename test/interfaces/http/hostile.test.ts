import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Answer, call, keysInTurn, makeBrand, startApp, type TestApp, unique } from '../../harness/app.ts';
import { creator, putDirectory } from '../../harness/directory/directory.ts';

const alias = unique('hostile');
let app: TestApp;
let nextKey: () => string;

beforeAll(async () => {
  app = await startApp({ alias });
  await putDirectory(app.context.elastic, alias, [
    creator(1, { city: 'Miami', state: 'FL', niches: 'baking' }),
    creator(2, { country: 'Switzerland' }),
  ]);
  const brand = await makeBrand(app.context);
  nextKey = await keysInTurn(brand, 10);
});
afterAll(() => app?.close());

async function search(query: Record<string, string>): Promise<Answer> {
  return await call(`${app.url}/v1/creators/search?${new URLSearchParams(query)}`, nextKey());
}

describe('hostile input', () => {
  const hostile = [
    '*',
    '?',
    '\\',
    '*:*',
    'a*',
    '/.*/',
    'username:angelina',
    '_exists_:card.pk',
    '(a OR b) AND NOT c',
    '"unbalanced',
    '~2',
    '^5',
    "'; DROP TABLE creators; --",
    '{"match_all":{}}',
    '$'.concat('{jndi:ldap://x}'),
    '<script>alert(1)</script>',
    '\u0000',
    'a\u0000b',
    '\u202Eevil',
    'שלום עולם',
    'مرحبا',
    '😀',
    '😀 a',
    '\uD800',
    'a'.repeat(500),
    'a '.repeat(40),
    '%',
    '%%%',
    '\r\nSet-Cookie: a=b',
    'ﷺ',
    'Z̶a̶l̶g̶o̶',
    '𝕒𝕓𝕔',
  ];
  const fields = [
    'q',
    'city',
    'state',
    'country',
    'category',
    'niche',
    'gender',
    'directory_version',
    'sort',
    'limit',
    'engagement_min',
  ];
  it.each(fields)('in %s gets an answer or a 422', async (field) => {
    for (const text of hostile) {
      const { status, body } = await search({ [field]: text });
      expect([200, 409, 422], `${field}=${JSON.stringify(text)} ${JSON.stringify(body)}`).toContain(status);
    }
  });

  it('such as 10 kB of q, even of emoji, is 422', async () => {
    for (const text of ['a'.repeat(10_000), '😀'.repeat(2_500), 'ab '.repeat(3_400)]) {
      const { status, body } = await search({ q: text });
      expect([status, body.code]).toEqual([422, 'VALIDATION_ERROR']);
      expect(JSON.stringify(body).length).toBeLessThan(2_000);
    }
  });

  it('with wildcards matches them as characters', async () => {
    for (const query of [{ city: 'M*mi' }, { niche: 'b?king' }, { country: 'sw*d' }]) {
      expect((await search(query)).body.pagination.total, JSON.stringify(query)).toBe(0);
    }
    expect((await search({ city: 'Miam' })).body.pagination.total).toBe(1);
  });

  it('in parameter names is reported percent-encoded', async () => {
    const { status, headers } = await call(
      `${app.url}/v1/creators/search?%0d%0aa=1&constructor=2&%F0%9F%98%80=3`,
      nextKey(),
    );
    expect(status).toBe(200);
    expect(headers.get('x-ignored-params')).toBe('%0D%0Aa, constructor, %F0%9F%98%80');
  });
});
