import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Random } from '../../src/directory/imports/indexing/random.ts';
import { seededRandom } from '../../src/directory/imports/indexing/random.ts';
import { CreatorSearchQuery, PlainSearchQuery } from '../../src/directory/search/search.shapes.ts';
import { call, keysInTurn, ledgerOf, makeBrand, send, startApp, type TestApp, unique } from '../harness/app.ts';
import { creator, putDirectory } from '../harness/directory/directory.ts';
import { connectAgent, errorOf } from '../harness/interfaces/agent.ts';
import { randomRuns, testSeed } from '../harness/kit/random-runs.ts';

const COUNT = 300;
/** Every tenth creator shares an agency's address. */
const emailOf = (pk: number) => (pk % 10 === 0 ? 'Agency@Example.com' : `c${pk}@example.com`);
const rows = Array.from({ length: COUNT }, (_, i) =>
  creator(i + 1, {
    username: i % 7 === 0 ? `Zoë.${i + 1}` : `creator${i + 1}`,
    extracted_email: i % 4 === 3 ? null : emailOf(i + 1),
    follower_count: 1_000_000 - i,
    country: i % 3 === 0 ? 'DE' : 'US',
  }),
);
const first = rows[0];

let app: TestApp;
let nextKey: () => string;
beforeAll(async () => {
  const alias = unique('lookup');
  app = await startApp({ alias });
  const idn = [
    creator(9_001, { extracted_email: 'ana@bücher.example' }),
    creator(9_002, { extracted_email: 'Bo@xn--bcher-kva.example' }),
  ];
  await putDirectory(app.context.elastic, alias, [...rows, ...idn]);
  nextKey = await keysInTurn(await makeBrand(app.context), 40);
});
afterAll(() => app?.close());

const search = async (query: Record<string, string>, key = nextKey()) =>
  await call(`${app.url}/v1/creators/search?${new URLSearchParams(query)}`, key);
const pksOf = (body: { data: { pk: number }[] }) => body.data.map(({ pk }) => pk);

/** The creators that single look-ups find, each once, in the request's order. */
function expected(pks: readonly number[], usernames: readonly string[], emails: readonly string[]) {
  const lower = (text: string | null) => text?.toLowerCase().replace('ë', 'e').replace('@', '') ?? null;
  const found = [
    ...pks.map((pk) => rows.filter((row) => row.pk === pk)),
    ...usernames.map((name) => rows.filter((row) => lower(row.username) === lower(name))),
    ...emails.map((email) => rows.filter((row) => lower(row.extracted_email) === lower(email))),
  ];
  return {
    found: [...new Set(found.flat().map(({ pk }) => pk))],
    missing: found.filter((one) => one.length === 0).length,
  };
}

function draw(random: Random) {
  const some = <T>(make: (pk: number) => T) =>
    Array.from({ length: random.below(12) }, () => make(1 + random.below(COUNT + 60)));
  const pks = some((pk) => pk);
  const usernames = some((pk) => (random.chance(0.3) ? `@CREATOR${pk}` : (rows[pk - 1]?.username ?? `nobody${pk}`)));
  const emails = some((pk) => (random.chance(0.5) ? emailOf(pk).toUpperCase() : emailOf(pk)));
  return { pks, usernames, emails };
}

describe('a search for given creators', () => {
  it('finds in random requests what single look-ups find, in the order of the request', async () => {
    const random = seededRandom(testSeed);
    for (let i = 0; i < randomRuns(60); i += 1) {
      const { pks, usernames, emails } = draw(random);
      const { status, body } = await search({
        pks: pks.join(),
        usernames: usernames.join(' , '),
        emails: emails.join(),
      });
      if (pks.length + usernames.length + emails.length === 0) continue;
      expect(status).toBe(200);
      const { found, missing } = expected(pks, usernames, emails);
      expect([i, pksOf(body), body.pagination.total]).toEqual([i, found, found.length]);
      const { not_found: lacks } = body.meta;
      const distinctMissing = new Set([...lacks.pks, ...lacks.usernames, ...lacks.emails]).size;
      expect(distinctMissing).toBeLessThanOrEqual(missing);
      expect(missing === 0).toBe(distinctMissing === 0);
    }
  });

  it('finds an address at a domain in another script in either form', async () => {
    for (const email of [
      'ANA@bücher.example',
      'ana@xn--bcher-kva.example',
      'bo@BÜCHER.example',
      'bo@xn--bcher-kva.example',
    ]) {
      const { body } = await search({ emails: email });
      expect([pksOf(body), body.meta.not_found.emails]).toEqual([[email.startsWith('bo') ? 9_002 : 9_001], []]);
    }
  });

  it('names what the directory lacks, not what a filter excludes', async () => {
    const { body } = await search({
      pks: '1,2,9999',
      usernames: '@zoe.1,Nobody',
      emails: 'none@example.com',
      country: 'US',
    });
    expect(pksOf(body)).toEqual([2]);
    expect(body.meta.not_found).toEqual({ pks: [9999], usernames: ['Nobody'], emails: ['none@example.com'] });
    expect(body.meta.interpretation.filters).toMatchObject({ pks: [1, 2, 9999], usernames: ['zoe.1', 'Nobody'] });
    expect(body.pagination).toEqual({ page: 1, limit: 100, total: 1, has_more: false });
  });

  it('costs 10 credits if the directory has any of the creators, and nothing otherwise', async () => {
    const brand = await makeBrand(app.context, { plan: 'enterprise', credits: 100_000 });
    const key = await brand.key('data');
    const cost = async (query: Record<string, string>) => {
      const { status, headers } = await search(query, key);
      return [status, headers.get('x-credits-charged'), headers.get('x-credits-remaining')];
    };
    expect(await cost({ pks: '9999' })).toEqual([200, '0', '100000']);
    expect(await cost({ pks: '9999,1' })).toEqual([200, '10', '99990']);
    // From here on the search starts before its debit.
    expect(await cost({ usernames: 'nobody' })).toEqual([200, '0', '99990']);
    expect(await cost({ emails: 'C2@example.com', country: 'FR' })).toEqual([200, '10', '99980']);
    expect(await cost({ pks: '1', preview: 'true' })).toEqual([200, '0', '99980']);
    expect(await cost({ pks: '1', page: '1' })).toEqual([422, '0', '99980']);
    const { remaining, charged, refunded } = await ledgerOf(app.context, brand);
    expect([remaining, charged - refunded]).toEqual([99_980, 20]);
  });

  it('has a preview that names its price', async () => {
    const { body } = await search({ pks: '1,9999', preview: 'true' });
    expect([body.pagination.total, body.preview.pages, body.preview.credits_to_fetch_all]).toEqual([1, 1, 10]);
    expect(body.meta.not_found.pks).toEqual([9999]);
    const none = await search({ pks: '9999', preview: 'true' });
    expect([none.body.preview.pages, none.body.preview.credits_to_fetch_all]).toEqual([0, 0]);
  });

  it.each([
    [{ pks: '1', page: '1' }, 'page', /pks/],
    [{ usernames: 'a', sort: 'followers' }, 'sort', /usernames/],
    [{ emails: 'a@example.com', offset: '0' }, 'offset', /emails/],
    [{ pks: '1,x' }, 'pks', /whole numbers/],
    [{ usernames: 'a,,b' }, 'usernames', /blank/],
    [{ pks: Array.from({ length: 99 }, (_, i) => i).join(), usernames: 'a,b' }, 'usernames', /at most 100/],
  ])('refuses %j with 422 naming both sides', async (query, field, message) => {
    const { status, body } = await search(query);
    expect([status, body.details[0].field]).toEqual([422, field]);
    expect(body.details[0].message).toMatch(message);
  });

  it('is a tool of agents too', async () => {
    const client = await connectAgent(app.url, nextKey());
    const found = await client.callTool({
      name: 'search_creators',
      arguments: { usernames: '@creator2', emails: 'x@example.com' },
    });
    expect(found.structuredContent).toMatchObject({
      data: [{ pk: 2 }],
      meta: { not_found: { emails: ['x@example.com'] } },
    });
    const refused = errorOf(await client.callTool({ name: 'search_creators', arguments: { pks: 'x' } }));
    expect(refused).toMatchObject({ code: 'VALIDATION_ERROR', details: [{ field: 'pks' }] });
    await client.close();
  });
});

describe('a look-up by a brand', () => {
  const lookUp = async (body: object, key = nextKey()) =>
    await send(`${app.url}/v1/creators/lookup`, key, 'POST', body);

  it('finds up to 1,000 creators in the order of the request, and names what is missing', async () => {
    const pks = Array.from({ length: 998 }, (_, i) => 998 - i);
    const { status, body, headers } = await lookUp({ pks, usernames: ['@Zoe.1'], emails: ['none@example.com'] });
    expect([status, headers.get('x-credits-charged')]).toEqual([200, null]);
    expect(pksOf(body)).toEqual(rows.map(({ pk }) => pk).reverse());
    expect(body.data.at(-1)).toEqual(
      (({ following_count: _f, media_count: _m, gender: _g, age: _a, ...card }) => card)(first ?? creator(0)),
    );
    expect(body.meta.not_found.pks).toHaveLength(698);
    expect(body.meta.not_found).toMatchObject({ usernames: [], emails: ['none@example.com'] });
  });

  it('is refused without a value, with more than 1,000, and with a data key', async () => {
    expect((await lookUp({})).body.details[0]).toMatchObject({
      field: 'pks',
      message: expect.stringMatching(/usernames/),
    });
    const pks = Array.from({ length: 1_001 }, (_, i) => i);
    expect((await lookUp({ pks })).body.details[0].message).toMatch(/1000/);
    const data = await (await makeBrand(app.context)).key('data');
    expect((await lookUp({ pks: [1] }, data)).status).toBe(403);
  });
});

it('The older interface ignores every parameter that is newer than it, and names it', async () => {
  const newer = Object.keys(CreatorSearchQuery.shape).filter((name) => !(name in PlainSearchQuery.shape));
  expect(newer).toEqual(expect.arrayContaining(['pks', 'usernames', 'emails', 'typos', 'facets', 'not_city']));
  const total = (await call(`${app.url}/api/v1/creators/search`, nextKey())).body.pagination.total;
  for (let i = 0; i < newer.length; i += 20) {
    const names = newer.slice(i, i + 20);
    const query = new URLSearchParams(Object.fromEntries(names.map((name) => [name, 'x'])));
    const { status, body, headers } = await call(`${app.url}/api/v1/creators/search?${query}`, nextKey());
    expect([status, body.pagination.total, headers.get('x-ignored-params')]).toEqual([200, total, names.join(', ')]);
  }
});
