import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Context } from '../../src/kit/operation/context.ts';
import { inWork } from '../../src/kit/operation/work.ts';
import { ensureCreator } from '../../src/workflow/creators/creators.ts';
import { call, made, makeBrand, startApp, type TestApp, type TestBrand } from '../harness/app.ts';
import { email, handle } from '../harness/platform/people.ts';

let app: TestApp;
let context: Context;
let nowMs = Date.now();

beforeAll(async () => {
  app = await startApp({ clock: { now: () => new Date(nowMs) } });
  context = app.context;
});
afterAll(() => app?.close());

async function brandWithKey() {
  const brand = await makeBrand(context);
  return { brand, key: await brand.key('brand') };
}

const post = (path: string, key: string, input: object) => made(`${app.url}${path}`, key, input);
const read = async (key: string, id: string) => (await call(`${app.url}/v1/roster/${id}`, key)).body.data;
const list = async (key: string, query = '') => (await call(`${app.url}/v1/creators?${query}`, key)).body;

describe('GET /v1/creators', () => {
  it('shows each creator of the roster in the shape of a creator, latest first', async () => {
    const { key } = await brandWithKey();
    const address = email();
    await post('/v1/roster', key, { creator_email: address });
    nowMs += 1_000;
    const ig = handle();
    const entry = await post('/v1/roster/add', key, { ig_handle: `@${ig}`, name: 'Ana', tags: ['vip'] });
    const { data, pagination } = await list(key);
    expect(pagination).toEqual({ page: 1, limit: 20, total: 2, has_more: false });
    expect(data[0]).toEqual({
      id: expect.stringMatching(/^crt_/),
      name: 'Ana',
      email: null,
      ...{ note: null, on_roster: true, roster_id: expect.stringMatching(/^rst_/) },
      photo_app: ig,
      video_app: null,
      followers: null,
      engagement_rate: null,
      performance: { clicks: 0, conversions: 0, revenue: 0, commissions_earned: 0, by_currency: [] },
      tags: ['vip'],
      joined_at: new Date(nowMs).toISOString(),
    });
    expect(data[1]).toMatchObject({ email: address, joined_at: new Date(nowMs - 1_000).toISOString() });
    expect((await list(key, 'sort=oldest')).data[0].email).toBe(address);
    expect((await list(key, 'limit=1&page=2')).data[0].email).toBe(address);
    expect(await read(key, data[0].id)).toMatchObject({ id: entry.id, creator_id: data[0].id });
    const csv = await call(`${app.url}/v1/creators`, key, { headers: { accept: 'text/csv' } });
    expect(csv.body.split('\n')).toEqual([
      expect.stringMatching(/^id,name,/),
      expect.stringContaining(ig),
      expect.stringContaining(address),
      '',
    ]);
  });

  it('finds by part of a name or email address in any case, and matches wildcards as characters', async () => {
    const { key } = await brandWithKey();
    await post('/v1/roster/add', key, { ig_handle: handle(), name: 'Ana 100%' });
    await post('/v1/roster/add', key, { ig_handle: handle(), name: 'Bob' });
    await post('/v1/roster', key, { creator_email: 'Carla_S@example.com' });
    const names = async (search: string) =>
      (await list(key, `search=${encodeURIComponent(search)}`)).data.map(
        (row: { name: string | null; email: string | null }) => row.name ?? row.email,
      );
    expect(await names('aNA')).toEqual(['Ana 100%']);
    expect(await names('carla_s@EXAMPLE')).toEqual(['Carla_S@example.com']);
    expect(await names('%')).toEqual(['Ana 100%']);
    expect(await names('_')).toEqual(['Carla_S@example.com']);
    expect(await names('\\')).toEqual([]);
    expect(await names('nobody')).toEqual([]);
  });

  it('filters by platform and by its followers', async () => {
    const { brand, key } = await brandWithKey();
    const both = await post('/v1/roster/add', key, { ig_handle: handle(), tt_handle: handle() });
    const one = await post('/v1/roster/add', key, { tt_handle: handle() });
    await post('/v1/roster', key, { creator_email: email() });
    const followers = context.postgres.db.updateTable('creators').where('brandId', '=', brand.id);
    await followers.set({ igFollowers: 500 }).where('igHandle', 'is not', null).execute();
    await followers.set({ ttFollowers: 9_000 }).where('ttHandle', 'is not', null).execute();
    const ids = async (query: string) =>
      await Promise.all((await list(key, query)).data.map(async ({ id }: { id: string }) => (await read(key, id)).id));
    const unordered = async (query: string) => new Set(await ids(query));
    expect((await list(key, 'platform=photo_app')).data[0].followers).toBe(9_000);
    expect(await unordered('platform=photo_app')).toEqual(new Set([both.id]));
    expect(await unordered('platform=video_app')).toEqual(new Set([both.id, one.id]));
    expect(await unordered('platform=stream_app')).toEqual(new Set());
    expect(await unordered('min_followers=501')).toEqual(new Set([both.id, one.id]));
    expect(await unordered('min_followers=501&platform=photo_app')).toEqual(new Set());
    expect(await unordered('min_followers=500&platform=photo_app')).toEqual(new Set([both.id]));
    expect(await unordered('min_followers=9001')).toEqual(new Set());
    for (const query of ['platform=tiktok', 'min_followers=-1', 'sort=best']) {
      expect((await call(`${app.url}/v1/creators?${query}`, key)).status).toBe(422);
    }
  });

  it("never shows another brand's creators", async () => {
    const [mine, theirs] = [await brandWithKey(), await brandWithKey()];
    await post('/v1/roster', mine.key, { creator_email: 'shared@example.com' });
    await post('/v1/roster', theirs.key, { creator_email: 'shared@example.com' });
    expect((await list(mine.key)).pagination.total).toBe(1);
    expect((await list(theirs.key)).data[0].id).not.toBe((await list(mine.key)).data[0].id);
  });
});

describe('a creator of the brand', () => {
  const ensure = (brand: TestBrand, person: Partial<Parameters<typeof ensureCreator>[1]>) => {
    const actor = { brandId: brand.id, keyId: null, operation: 'test', requestId: null };
    const whole = { email: email(), name: null, igHandle: null, ttHandle: null, ...person };
    return inWork(context.postgres.db, context.clock, actor, (work) => ensureCreator(work, whole));
  };
  const stored = async (id: string) =>
    await context.postgres.db.selectFrom('creators').selectAll().where('id', '=', id).executeTakeFirstOrThrow();

  it('is recognized by email address in any case; what is missing is filled in, nothing is overwritten', async () => {
    const { brand, key } = await brandWithKey();
    const [address, ig, tt] = [email(), handle(), handle()];
    const id = await ensure(brand, { email: address, igHandle: ig });
    expect(await ensure(brand, { email: address.toUpperCase(), name: 'Ana', igHandle: handle(), ttHandle: tt })).toBe(
      id,
    );
    expect(await ensure(brand, { email: address, name: 'Other' })).toBe(id);
    expect(await stored(id)).toMatchObject({ email: address, name: 'Ana', igHandle: ig, ttHandle: tt });
    expect((await list(key)).data).toEqual([]);
  });

  it('does not get a handle that another creator of the brand has, but still gets a free one', async () => {
    const { brand } = await brandWithKey();
    const [ig, tt] = [handle(), handle()];
    await ensure(brand, { igHandle: ig });
    const id = await ensure(brand, { igHandle: ig.toUpperCase(), ttHandle: tt });
    expect(await stored(id)).toMatchObject({ igHandle: null, ttHandle: tt });
  });

  it('is one row, however many callers request the same at once', async () => {
    const { brand } = await brandWithKey();
    const person = { email: email(), igHandle: handle(), ttHandle: handle() };
    const ids = await Promise.all(Array.from({ length: 20 }, () => ensure(brand, person)));
    expect(new Set(ids).size).toBe(1);
  });
});
