import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { call, ledgerOf, makeBrand, startApp, type TestApp, type TestBrand, unique } from '../harness/app.ts';
import { creator, putDirectory } from '../harness/directory/directory.ts';

const alias = unique('paidonce');
let app: TestApp;
/** Another process beside it. */
let other: TestApp;

beforeAll(async () => {
  app = await startApp({ alias });
  other = await startApp({ alias, isOwn: true });
  await putDirectory(app.context.elastic, alias, [creator(1), creator(2), creator(3)]);
});
afterAll(async () => {
  await Promise.all([app?.close(), other?.close()]);
});

interface Asked {
  id: Record<string, string>;
  query?: string;
  path?: string;
  at?: TestApp;
}

async function openDesk(credits = 1_000) {
  const brand = await makeBrand(app.context, { plan: 'starter', credits });
  const key = await brand.key('data');
  const ask = async ({ id, query = 'limit=1', path = '/v1/creators/search', at = app }: Asked, by = key) => {
    const { status, headers, body } = await call(`${at.url}${path}?${query}`, by, { headers: id });
    const facts = [status, headers.get('x-credits-charged'), headers.get('idempotency-replayed')];
    return { facts, body, remaining: headers.get('x-credits-remaining') };
  };
  return { brand, ask };
}

const charged = async (brand: TestBrand) => {
  const { charged: all, refunded } = await ledgerOf(app.context, brand);
  return all - refunded;
};

describe('a search with an id of its caller’s', () => {
  it.each([[{ 'idempotency-key': 'once' }], [{ 'x-request-id': 'my-request-1' }]])(
    'is paid once and answered again: %j',
    async (id) => {
      const { brand, ask } = await openDesk();
      const first = await ask({ id });
      expect(first.facts).toEqual([200, '10', null]);
      const again = await ask({ id, query: 'page=1&limit=1', at: other });
      expect([again.facts, again.body, again.remaining]).toEqual([[200, '0', 'true'], first.body, '990']);
      expect(await charged(brand)).toBe(10);
    },
  );

  it('is another call with another filter, page or key; under the same Idempotency-Key it is refused, uncharged', async () => {
    const { brand, ask } = await openDesk();
    await ask({ id: { 'idempotency-key': 'k1', 'x-request-id': 'proxy-sends-this' } });
    const refused = await ask({ id: { 'idempotency-key': 'k1' }, query: 'limit=1&page=2' });
    expect([refused.facts, refused.body.code]).toEqual([[409, '0', null], 'IDEMPOTENCY_KEY_REUSED']);
    const byId = { 'x-request-id': 'proxy-sends-this' };
    expect((await ask({ id: byId })).facts).toEqual([200, '0', 'true']);
    expect((await ask({ id: byId, query: 'limit=1&page=2' })).facts).toEqual([200, '10', null]);
    expect((await ask({ id: { 'idempotency-key': 'k1' } }, await brand.key('data'))).facts).toEqual([200, '10', null]);
    expect((await ask({ id: {} })).facts).toEqual([200, '10', null]);
    expect(await charged(brand)).toBe(40);
  });

  it('that was sent with both ids is paid once under each, also where the other one paid', async () => {
    const { brand, ask } = await openDesk();
    const [key, id] = [{ 'idempotency-key': 'both' }, { 'x-request-id': 'both-1' }];
    expect((await ask({ id: { ...key, ...id } })).facts).toEqual([200, '10', null]);
    for (const again of [
      id,
      key,
      { ...key, ...id },
      { ...key, 'x-request-id': 'both-2' },
      { 'x-request-id': 'both-2' },
    ]) {
      expect((await ask({ id: again, at: other })).facts, JSON.stringify(again)).toEqual([200, '0', 'true']);
    }
    // A new key under a request id that was paid is answered, and refuses another search from then on.
    expect((await ask({ id: { 'idempotency-key': 'later', ...id } })).facts).toEqual([200, '0', 'true']);
    expect((await ask({ id: { 'idempotency-key': 'later' }, query: 'limit=2' })).body.code).toBe(
      'IDEMPOTENCY_KEY_REUSED',
    );
    expect(await charged(brand)).toBe(10);
  });

  it('that was sent with both ids and refunded leaves no mark under either', async () => {
    const { brand, ask } = await openDesk();
    const [key, id] = [{ 'idempotency-key': 'none' }, { 'x-request-id': 'none-1' }];
    for (const ids of [{ ...key, ...id }, key, id]) {
      expect((await ask({ id: ids, query: 'usernames=nobody_has_this' })).facts).toEqual([200, '0', null]);
    }
    expect(await charged(brand)).toBe(0);
  });

  it('is answered again after the last credit, and after a 402 it leaves no mark', async () => {
    const { brand, ask } = await openDesk(10);
    const id = { 'idempotency-key': 'last' };
    expect((await ask({ id })).facts).toEqual([200, '10', null]);
    expect((await ask({ id })).facts).toEqual([200, '0', 'true']);
    for (let i = 0; i < 2; i += 1) expect((await ask({ id: { 'idempotency-key': 'poor' } })).facts[0]).toBe(402);
    expect(await charged(brand)).toBe(10);
  });

  it('is refused, uncharged, under a key that is none', async () => {
    const { ask } = await openDesk();
    const { facts, body } = await ask({ id: { 'idempotency-key': 'k'.repeat(256) } });
    expect([facts, body.details[0].field]).toEqual([[422, '0', null], 'Idempotency-Key']);
  });

  it('that was refunded leaves no mark', async () => {
    const { brand, ask } = await openDesk();
    const id = { 'idempotency-key': 'nobody' };
    for (let i = 0; i < 2; i += 1) {
      expect((await ask({ id, query: 'usernames=nobody_has_this' })).facts).toEqual([200, '0', null]);
    }
    expect(await charged(brand)).toBe(0);
  });

  it('is paid once in the older interface, too, apart from the same search of this one', async () => {
    const { brand, ask } = await openDesk();
    const id = { 'x-request-id': 'older-interface' };
    const path = '/api/v1/creators/search';
    expect((await ask({ id, path })).facts).toEqual([200, '10', null]);
    expect((await ask({ id, path })).facts).toEqual([200, '0', 'true']);
    expect((await ask({ id })).facts).toEqual([200, '10', null]);
    expect(await charged(brand)).toBe(20);
  });

  it('reads the version that it was paid for, while that is kept', async () => {
    const { ask } = await openDesk();
    const id = { 'idempotency-key': 'version' };
    const first = await ask({ id });
    await putDirectory(app.context.elastic, alias, [creator(1), creator(2), creator(3), creator(4)]);
    expect((await ask({ id })).body.pagination).toEqual(first.body.pagination);
  });

  it('costs each different search once, however often and in which order 200 of them come to two processes', async () => {
    const { brand, ask } = await openDesk(100_000);
    const keys = await Promise.all(Array.from({ length: 6 }, () => brand.key('data')));
    const calls = Array.from({ length: 90 }, (_, i) => i).flatMap((i) =>
      Array.from({ length: 1 + (i % 4) }, (_, turn) => ({ i, at: turn % 2 === 0 ? app : other })),
    );
    calls.sort((a, b) => ((a.i * 7919) % 31) - ((b.i * 7919) % 31));
    const answers = await Promise.all(
      calls.map(({ i, at }) =>
        ask({ id: { 'idempotency-key': `many-${i}` }, query: `limit=1&follower_min=${i}`, at }, keys[i % keys.length]),
      ),
    );
    expect(new Set(answers.map(({ facts }) => facts[0]))).toEqual(new Set([200]));
    expect(answers.filter(({ facts }) => facts[1] === '10')).toHaveLength(90);
    expect(await charged(brand)).toBe(900);
  });
});
