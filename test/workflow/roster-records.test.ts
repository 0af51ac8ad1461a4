import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  call,
  made as madeAt,
  makeBrand,
  send as sendTo,
  startApp,
  type TestApp,
  type TestBrand,
  unique,
} from '../harness/app.ts';
import { email, handle, TIME } from '../harness/platform/people.ts';

let app: TestApp;
let brand: TestBrand;
let key: string;

beforeAll(async () => {
  app = await startApp();
  brand = await makeBrand(app.context);
  key = await brand.key('brand');
});
afterAll(() => app?.close());

const send = (method: string, path: string, body?: unknown, by = key) => sendTo(`${app.url}${path}`, by, method, body);
const get = (path: string, by = key) => call(`${app.url}${path}`, by);
const made = (path: string, input: object, by = key) => madeAt(`${app.url}${path}`, by, input);

describe('PATCH /v1/roster/{id}', () => {
  it('sets named fields, keeps omitted ones, and clears null ones', async () => {
    const { id } = await made('/v1/roster/add', { ig_handle: handle(), name: 'Ana', tags: ['a'] });
    const creator_email = email();
    const set = await send('PATCH', `/v1/roster/${id}`, { creator_email, note: 'n', tags: ['b', 'c'] });
    expect(set.status).toBe(200);
    expect(set.body.data).toMatchObject({
      id,
      creator_email,
      creator_name: 'Ana',
      note: 'n',
      tags: ['b', 'c'],
      status: 'hired',
      updated_at: expect.stringMatching(TIME),
    });
    const cleared = await send('PATCH', `/v1/roster/${id}`, { name: null, tags: null, note: null, status: 'paused' });
    expect(cleared.body.data).toMatchObject({
      creator_email,
      creator_name: null,
      tags: [],
      note: null,
      status: 'paused',
    });
    expect((await send('PATCH', `/v1/roster/${id}`, { creator_email: null })).status).toBe(422);
    expect((await send('PATCH', `/v1/roster/${id}`, { status: 'hired' })).status).toBe(422);
  });

  it('loses nothing in concurrent patches of different fields', async () => {
    const { id } = await made('/v1/roster/add', { ig_handle: handle() });
    const creator_email = email();
    const patches = [{ name: 'Ana' }, { tags: ['a'] }, { note: 'n' }, { status: 'paused' }, { creator_email }];
    await Promise.all(patches.map((patch) => send('PATCH', `/v1/roster/${id}`, patch)));
    expect((await get(`/v1/roster/${id}`)).body.data).toMatchObject({
      creator_name: 'Ana',
      tags: ['a'],
      note: 'n',
      status: 'paused',
      creator_email,
    });
  });

  it('refuses an email address that another creator of the brand has, and changes nothing', async () => {
    const creator_email = email();
    const other = await made('/v1/roster', { creator_email });
    const { id } = await made('/v1/roster/add', { ig_handle: handle() });
    const patch = { creator_email: creator_email.toUpperCase(), note: 'lost' };
    const { status, body } = await send('PATCH', `/v1/roster/${id}`, patch);
    expect([status, body.code, body.existing_id]).toEqual([409, 'CONFLICT', other.id]);
    expect((await get(`/v1/roster/${id}`)).body.data).toMatchObject({ creator_email: null, note: null });
    expect((await send('PATCH', `/v1/roster/${other.id}`, { creator_email })).status).toBe(200);
  });

  it('gives one address to one of 10 creators when all request it at once', async () => {
    const entries = await Promise.all(
      Array.from({ length: 10 }, () => made('/v1/roster/add', { ig_handle: handle() })),
    );
    const creator_email = email();
    const answers = await Promise.all(entries.map(({ id }) => send('PATCH', `/v1/roster/${id}`, { creator_email })));
    expect(answers.map(({ status }) => status).sort()).toEqual([200, ...Array(9).fill(409)]);
  });
});

describe('the roster', () => {
  it('is listed by status and time; the hired count as active', async () => {
    const mine = await (await makeBrand(app.context)).key('brand');
    const first = await made('/v1/roster', { creator_email: email() }, mine);
    const second = await made('/v1/roster/add', { ig_handle: handle() }, mine);
    const third = await made('/v1/roster', { creator_email: email() }, mine);
    await send('PATCH', `/v1/roster/${third.id}`, { status: 'paused' }, mine);
    const ids = async (query: string) =>
      (await get(`/v1/roster?${query}`, mine)).body.data.map(({ id }: { id: string }) => id);
    expect(await ids('')).toEqual([third.id, second.id, first.id]);
    expect(await ids('sort=oldest&limit=2')).toEqual([first.id, second.id]);
    expect(await ids('limit=2&page=2')).toEqual([first.id]);
    expect(await ids('status=active')).toEqual([second.id, first.id]);
    expect(await ids('status=paused')).toEqual([third.id]);
    expect(await ids('status=removed')).toEqual([]);
    expect(await ids('created_after=2099-01-01')).toEqual([]);
    expect((await get('/v1/roster?status=hired', mine)).status).toBe(422);
    const csv = await call(`${app.url}/v1/roster?sort=oldest`, mine, { headers: { accept: 'text/csv' } });
    expect(csv.body.split('\n').map((line: string) => line.split(',')[0])).toEqual([
      'id',
      first.id,
      second.id,
      third.id,
      '',
    ]);
  });

  it('counts the completed campaigns a creator was accepted for', async () => {
    const creator_email = email();
    const { id } = await made('/v1/roster', { creator_email });
    const { creator_id } = (await get(`/v1/roster/${id}`)).body.data;
    const apply = async (campaignStatus: string, status: 'accepted' | 'rejected') => {
      const campaign = await made('/v1/campaigns', { name: 'x', status: campaignStatus });
      const now = app.context.clock.now();
      await app.context.postgres.db
        .insertInto('applications')
        .values({
          id: unique('app'),
          brandId: brand.id,
          campaignId: campaign.id,
          creatorId: creator_id,
          creatorEmail: creator_email,
          status,
          appliedAt: now,
        })
        .execute();
    };
    await apply('completed', 'accepted');
    await apply('completed', 'accepted');
    await apply('completed', 'rejected');
    await apply('active', 'accepted');
    expect((await get(`/v1/roster/${id}`)).body.data.campaigns_completed).toBe(2);
  });

  it('audits each add once, and each change with old and new values', async () => {
    const owner = await makeBrand(app.context);
    const mine = await owner.key('brand');
    const { id } = await made('/v1/roster/add', { ig_handle: handle() }, mine);
    await send('PATCH', `/v1/roster/${id}`, { note: 'n', name: 'Ana' }, mine);
    await send('DELETE', `/v1/roster/${id}`, undefined, mine);
    await send('DELETE', `/v1/roster/${id}`, undefined, mine);
    await send('PATCH', `/v1/roster/${id}`, { status: 'active' }, mine);
    const { db } = app.context.postgres;
    const events = await db.selectFrom('outbox').selectAll().where('brandId', '=', owner.id).orderBy('seq').execute();
    expect(events.map(({ event, data }) => [event, data])).toEqual([
      ['roster.creator_added', expect.objectContaining({ id, status: 'hired' })],
      ['roster.creator_removed', expect.objectContaining({ id, status: 'removed' })],
      ['roster.creator_added', expect.objectContaining({ id, status: 'active' })],
    ]);
    const audit = await db
      .selectFrom('auditLog')
      .selectAll()
      .where('brandId', '=', owner.id)
      .where('resourceId', '=', id)
      .orderBy('at')
      .orderBy('id')
      .execute();
    const statusOf = (values: Record<string, unknown> | null) => values?.status ?? null;
    expect(
      audit.map(({ operation, oldValues, newValues }) => [operation, statusOf(oldValues), statusOf(newValues)]),
    ).toEqual([
      ['add_to_roster_by_handle', null, 'hired'],
      ['update_roster_creator', 'hired', 'hired'],
      ['remove_from_roster', 'hired', 'removed'],
      ['update_roster_creator', 'removed', 'active'],
    ]);
    const named = await db
      .selectFrom('auditLog')
      .selectAll()
      .where('brandId', '=', owner.id)
      .where('resourceId', 'like', 'crt_%')
      .where('operation', '=', 'update_roster_creator')
      .execute();
    expect(named).toMatchObject([{ oldValues: { name: null }, newValues: { name: 'Ana' } }]);
  });

  it("shows another brand's entry as one that does not exist", async () => {
    const stranger = await (await makeBrand(app.context)).key('brand');
    const { id } = await made('/v1/roster', { creator_email: email() });
    for (const [method, body] of [['GET'], ['PATCH', { note: 'x' }], ['DELETE']] as const) {
      const foreign = await send(method, `/v1/roster/${id}`, body, stranger);
      const missing = await send(method, '/v1/roster/rst_missing', body, stranger);
      expect([foreign.status, foreign.body.code]).toEqual([404, 'NOT_FOUND']);
      expect({ ...foreign.body, request_id: '' }).toEqual({ ...missing.body, request_id: '' });
    }
    expect((await get(`/v1/roster/${id}`)).body.data.status).toBe('active');
  });

  it('refuses data keys', async () => {
    const data = await brand.key('data');
    for (const path of ['/v1/roster', '/v1/roster/rst_x', '/v1/creators']) {
      expect((await get(path, data)).body.code).toBe('BRAND_KEY_REQUIRED');
    }
  });
});
