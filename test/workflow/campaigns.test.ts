import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { call, made, makeBrand, send, startApp, type TestApp } from '../harness/app.ts';

let app: TestApp;
let campaigns: string;
let key: string;

// The engines are those of all tests, so each file and each test that counts makes a brand of its own.
beforeAll(async () => {
  app = await startApp();
  campaigns = `${app.url}/v1/campaigns`;
  key = await (await makeBrand(app.context)).key('brand');
});
afterAll(() => app?.close());

const create = (input: object) => made(campaigns, key, input);
const read = async (id: string) => (await call(`${campaigns}/${id}`, key)).body.data;
const patch = (id: string, input: object, caller = key) => send(`${campaigns}/${id}`, caller, 'PATCH', input);

describe('A campaign', () => {
  it('is refused without a key, to a data key and to another brand', async () => {
    const { id } = await create({ name: 'Mine' });
    const stranger = await makeBrand(app.context);
    const [theirs, data] = [await stranger.key('brand'), await stranger.key('data')];
    for (const [caller, status, code] of [
      [undefined, 401, 'AUTH_REQUIRED'],
      [data, 403, 'BRAND_KEY_REQUIRED'],
      [theirs, 404, 'NOT_FOUND'],
    ] as const) {
      const answer = await call(`${campaigns}/${id}`, caller);
      expect([answer.status, answer.body.code]).toEqual([status, code]);
    }
    expect((await patch(id, { name: 'Theirs' }, theirs)).status).toBe(404);
    expect(await read(id)).toMatchObject({ title: 'Mine' });
  });

  it.each([
    [{}, 'name'],
    [{ name: ' ' }, 'name'],
    [{ name: 'x', status: 'live' }, 'status'],
    [{ name: 'x', deadline: 'soon' }, 'deadline'],
    [{ name: 'x', compensation: { type: 'fixed', amount: 1.005, currency: 'USD' } }, 'compensation.amount'],
    [{ name: 'x', compensation: { type: 'fixed', amount: 1.5, currency: 'JPY' } }, 'compensation.amount'],
    [{ name: 'x', compensation: { type: 'fixed', amount: 1, currency: 'usd' } }, 'compensation.currency'],
    [{ name: 'x', compensation: { type: 'commission', amount: 101 } }, 'compensation.amount'],
  ])('with %j is 422 naming %s', async (input, field) => {
    const { status, body } = await send(campaigns, key, 'POST', input);
    expect([status, body.code]).toEqual([422, 'VALIDATION_ERROR']);
    expect(body.details.map((detail: { field: string }) => detail.field)).toContain(field);
  });

  it('is created from the input names and returned under the stored ones', async () => {
    const data = await create({
      name: 'Launch',
      type: 'ugc',
      compensation: { type: 'fixed', amount: 500, currency: 'USD' },
    });
    expect(data).toEqual({
      id: expect.stringMatching(/^cmp_/),
      title: 'Launch',
      status: 'active',
      campaign_type: 'ugc',
      compensation_label: '$500 fixed',
      created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
      updated_at: null,
    });
  });

  it.each([
    [{ type: 'fixed', amount: 1_250, currency: 'EUR' }, '€1,250 fixed'],
    [{ type: 'fixed', amount: 99.5, currency: 'USD' }, '$99.50 fixed'],
    [{ type: 'fixed', amount: 9_000, currency: 'JPY' }, '¥9,000 fixed'],
    [{ type: 'fixed' }, 'Fixed'],
    [{ type: 'commission', amount: 15 }, '15% commission'],
    [{ type: 'commission', amount: 12.5 }, '12.5% commission'],
    [{ type: 'product' }, 'Product only'],
    [null, null],
  ])('with the compensation %j is labelled %j', async (compensation, label) => {
    expect((await create({ name: 'x', compensation })).compensation_label).toBe(label);
  });

  it('is changed by a patch where it sets a field, not where it omits one, also inside compensation and requirements', async () => {
    const { id } = await create({
      name: 'x',
      description: 'old',
      deadline: '2027-01-31',
      compensation: { type: 'fixed', amount: 500, currency: 'EUR' },
      requirements: { platforms: ['photo_app'], min_followers: 1_000 },
    });
    await patch(id, { compensation: { amount: 750 }, requirements: { min_followers: null } });
    expect(await read(id)).toMatchObject({
      description: 'old',
      compensation: { type: 'fixed', amount: 750, currency: 'EUR' },
      requirements: { platforms: ['photo_app'], min_followers: null, content_types: null, deliverables_count: null },
      deadline: '2027-01-31T00:00:00.000Z',
    });
  });

  it('loses what a patch sets to null, and keeps its apply link', async () => {
    const terms = { compensation: { type: 'fixed', amount: 500, currency: 'EUR' }, deadline: '2027-01-31' };
    const { id } = await create({ name: 'x', description: 'old', ...terms });
    const { body } = await patch(id, { status: 'paused', description: null, compensation: null });
    expect(body.data).toMatchObject({ status: 'paused', compensation_label: null, updated_at: expect.any(String) });
    expect(await read(id)).toMatchObject({
      description: null,
      compensation: null,
      deadline: '2027-01-31T00:00:00.000Z',
      apply_url: `https://go.example/apply/${id}`,
    });
  });

  it('is announced by an event and a line of the audit log for each change, and by nothing where one is refused', async () => {
    const brand = await makeBrand(app.context);
    const caller = await brand.key('brand');
    const { id } = await made(campaigns, caller, { name: 'Launch' });
    await patch(id, { name: 'Relaunch' }, caller);
    expect((await patch(id, { name: ' ' }, caller)).status).toBe(422);
    const outbox = app.context.postgres.db.selectFrom('outbox').select('event').where('brandId', '=', brand.id);
    const events = (await outbox.orderBy('seq').execute()).map(({ event }) => event);
    expect(events).toEqual(['campaign.created', 'campaign.updated']);
    const { data } = (await call(`${app.url}/v1/audit-log`, caller)).body;
    expect(data).toMatchObject([
      { operation: 'update_campaign', old: { title: 'Launch' }, new: { title: 'Relaunch' } },
      { operation: 'create_campaign', old: null, new: { title: 'Launch' } },
    ]);
  });

  it('that does not exist is 404', async () => {
    const { status, body } = await patch('cmp_unknown', { name: 'x' });
    expect([status, body.code]).toEqual([404, 'NOT_FOUND']);
  });

  it('loses nothing in concurrent patches of different fields', async () => {
    const { id } = await create({ name: 'x' });
    const patches = [
      { name: 'new' },
      { type: 'ugc' },
      { description: 'd' },
      { status: 'paused' },
      { compensation: { type: 'commission', amount: 10 } },
      { requirements: { min_followers: 5 } },
      { requirements: { deliverables_count: 2 } },
    ];
    await Promise.all(patches.map((one) => patch(id, one)));
    expect(await read(id)).toMatchObject({
      title: 'new',
      campaign_type: 'ugc',
      description: 'd',
      status: 'paused',
      compensation_label: '10% commission',
      requirements: { min_followers: 5, deliverables_count: 2 },
    });
  });

  it('is listed by status and time, newest first, and pages neither overlap nor skip', async () => {
    const caller = await (await makeBrand(app.context)).key('brand');
    const ids: string[] = [];
    for (let i = 0; i < 7; i += 1) {
      const { id } = await made(campaigns, caller, { name: `c${i}`, status: i % 2 ? 'draft' : 'active' });
      ids.unshift(id);
    }
    const list = async (query: string) => (await call(`${campaigns}?${query}`, caller)).body;
    const pages = [await list('limit=3'), await list('limit=3&page=2'), await list('limit=3&page=3')];
    expect(pages.flatMap(({ data }) => data.map(({ id }: { id: string }) => id))).toEqual(ids);
    expect(pages[2].pagination).toEqual({ page: 3, limit: 3, total: 7, has_more: false });
    expect((await list('status=draft')).pagination.total).toBe(3);
    expect((await list('sort=oldest')).data[0].title).toBe('c0');
    expect((await list('created_after=2099-01-01')).data).toEqual([]);
  });
});
