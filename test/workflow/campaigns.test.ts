import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  call,
  made as madeAt,
  makeBrand,
  send as sendTo,
  startApp,
  type TestApp,
  type TestBrand,
} from '../harness/app.ts';
import { makeDatabase } from '../harness/database.ts';

let app: TestApp;
let brand: TestBrand;
let key: string;

beforeAll(async () => {
  app = await startApp();
  brand = await makeBrand(app.context);
  key = await brand.key('brand');
});
afterAll(() => app?.close());

const send = (method: string, path: string, body: unknown, headers: Record<string, string> = {}, caller = key) =>
  sendTo(`${app.url}${path}`, caller, method, body, headers);
const made = (input: object) => madeAt(`${app.url}/v1/campaigns`, key, input);
const read = async (id: string) => (await call(`${app.url}/v1/campaigns/${id}`, key)).body.data;

describe('a campaign', () => {
  it('is created from the input names and returned under the stored ones', async () => {
    const data = await made({
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
    expect((await made({ name: 'x', compensation })).compensation_label).toBe(label);
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
    const { status, body } = await send('POST', '/v1/campaigns', input);
    expect([status, body.code]).toEqual([422, 'VALIDATION_ERROR']);
    expect(body.details.map((detail: { field: string }) => detail.field)).toContain(field);
  });

  it('is patched: a patch sets, omits and clears, also inside compensation and requirements', async () => {
    const { id } = await made({
      name: 'x',
      description: 'old',
      deadline: '2027-01-31',
      compensation: { type: 'fixed', amount: 500, currency: 'EUR' },
      requirements: { platforms: ['photo_app'], min_followers: 1_000 },
    });
    await send('PATCH', `/v1/campaigns/${id}`, {
      compensation: { amount: 750 },
      requirements: { min_followers: null },
    });
    expect(await read(id)).toMatchObject({
      description: 'old',
      compensation: { type: 'fixed', amount: 750, currency: 'EUR' },
      requirements: { platforms: ['photo_app'], min_followers: null, content_types: null, deliverables_count: null },
      deadline: '2027-01-31T00:00:00.000Z',
    });
    const { body } = await send('PATCH', `/v1/campaigns/${id}`, {
      status: 'paused',
      description: null,
      compensation: null,
    });
    expect(body.data).toMatchObject({ status: 'paused', compensation_label: null, updated_at: expect.any(String) });
    expect(await read(id)).toMatchObject({
      description: null,
      compensation: null,
      deadline: '2027-01-31T00:00:00.000Z',
      apply_url: `https://go.example/apply/${id}`,
    });
  });

  it('loses nothing in concurrent patches of different fields', async () => {
    const { id } = await made({ name: 'x' });
    const patches = [
      { name: 'new' },
      { type: 'ugc' },
      { description: 'd' },
      { status: 'paused' },
      { compensation: { type: 'commission', amount: 10 } },
      { requirements: { min_followers: 5 } },
      { requirements: { deliverables_count: 2 } },
    ];
    await Promise.all(patches.map((patch) => send('PATCH', `/v1/campaigns/${id}`, patch)));
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
    const owner = await makeBrand(app.context);
    const caller = await owner.key('brand');
    const ids: string[] = [];
    for (let i = 0; i < 7; i += 1) {
      const { body } = await send(
        'POST',
        '/v1/campaigns',
        { name: `c${i}`, status: i % 2 ? 'draft' : 'active' },
        {},
        caller,
      );
      ids.unshift(body.data.id);
    }
    const list = async (query: string) => (await call(`${app.url}/v1/campaigns?${query}`, caller)).body;
    const pages = [await list('limit=3'), await list('limit=3&page=2'), await list('limit=3&page=3')];
    expect(pages.flatMap(({ data }) => data.map(({ id }: { id: string }) => id))).toEqual(ids);
    expect(pages[2].pagination).toEqual({ page: 3, limit: 3, total: 7, has_more: false });
    expect((await list('status=draft')).pagination.total).toBe(3);
    expect((await list('sort=oldest')).data[0].title).toBe('c0');
    expect((await list('created_after=2099-01-01')).data).toEqual([]);
  });
});

describe('Idempotency-Key', () => {
  it('makes 20 concurrent identical calls create one campaign, and all get its answer', async () => {
    const answers = await Promise.all(
      Array.from({ length: 20 }, () =>
        send('POST', '/v1/campaigns', { name: 'twin' }, { 'idempotency-key': 'twin-1' }),
      ),
    );
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([201]));
    expect(new Set(answers.map(({ body }) => body.data.id)).size).toBe(1);
    expect(answers.filter(({ headers }) => headers.get('idempotency-replayed') === 'true')).toHaveLength(19);
  });

  it('reused with another body is 409 and changes nothing', async () => {
    const headers = { 'idempotency-key': 'reused-1' };
    await send('POST', '/v1/campaigns', { name: 'first' }, headers);
    const { status, body } = await send('POST', '/v1/campaigns', { name: 'second' }, headers);
    expect([status, body.code]).toEqual([409, 'IDEMPOTENCY_KEY_REUSED']);
  });

  it('is forgotten after a failed call: the same key works once the input is right', async () => {
    const headers = { 'idempotency-key': 'retry-1' };
    const id = 'cmp_unknown';
    expect((await send('PATCH', `/v1/campaigns/${id}`, { name: 'x' }, headers)).status).toBe(404);
    expect((await send('POST', '/v1/campaigns', { name: 'x' }, headers)).status).toBe(201);
  });

  it('is scoped to the brand: another brand’s same key is another call', async () => {
    const other = await (await makeBrand(app.context)).key('brand');
    const headers = { 'idempotency-key': 'shared-1' };
    const first = await send('POST', '/v1/campaigns', { name: 'a' }, headers);
    const second = await send('POST', '/v1/campaigns', { name: 'a' }, headers, other);
    expect(second.body.data.id).not.toBe(first.body.data.id);
  });

  it.each(['/v1/campaigns', '/v1/campaigns?mode=plan'])('that is not visible ASCII is 422 at %s', async (path) => {
    const { status, body } = await send('POST', path, { name: 'x' }, { 'idempotency-key': 'a b' });
    expect([status, body.details[0].field]).toEqual([422, 'Idempotency-Key']);
  });
});

describe('Accept: text/csv', () => {
  it('streams every row of the list in its order, for one unit of the rate, with no cell that is a formula', async () => {
    const owner = await makeBrand(app.context);
    const caller = await owner.key('brand');
    await send('POST', '/v1/campaigns', { name: '=HYPERLINK("x")', type: '+1' }, {}, caller);
    for (let i = 0; i < 25; i += 1) await send('POST', '/v1/campaigns', { name: `a "quoted", name ${i}` }, {}, caller);
    const { status, headers, body } = await call(`${app.url}/v1/campaigns?limit=5`, caller, {
      headers: { accept: 'text/csv' },
    });
    expect([status, headers.get('content-type')]).toEqual([200, 'text/csv; charset=utf-8']);
    const lines = body.trim().split('\n');
    expect(lines).toHaveLength(27);
    expect(lines[0]).toMatch(/^id,title,status,campaign_type,compensation_label,/);
    expect(lines[1]).toContain('"a ""quoted"", name 24"');
    expect(lines[26]).toContain(`"'=HYPERLINK(""x"")",active,'+1,`);
    const before = Number(headers.get('x-ratelimit-remaining'));
    const after = await call(`${app.url}/v1/campaigns`, caller);
    expect(Number(after.headers.get('x-ratelimit-remaining'))).toBe(before - 1);
  });

  it('is 406 for an operation without CSV', async () => {
    const { status, body } = await call(`${app.url}/v1/brand`, key, { headers: { accept: 'text/csv' } });
    expect([status, body.code]).toEqual([406, 'NOT_ACCEPTABLE']);
  });

  it('ends with a closed connection and no last chunk if the stream fails', async () => {
    // A separate database, because its connections are terminated.
    const database = await makeDatabase('campaigns');
    const app = await startApp({ urls: { postgres: database.url } });
    const owner = await makeBrand(app.context);
    const caller = await owner.key('brand');
    const now = new Date();
    const rows = Array.from({ length: 20_000 }, (_, i) => ({
      id: `cmp_${owner.id}_${i}`,
      brandId: owner.id,
      title: 'x'.repeat(150),
      status: 'draft' as const,
      createdAt: now,
    }));
    for (let i = 0; i < rows.length; i += 2_000)
      await app.context.postgres.db
        .insertInto('campaigns')
        .values(rows.slice(i, i + 2_000))
        .execute();
    const response = await fetch(`${app.url}/v1/campaigns`, {
      headers: { accept: 'text/csv', authorization: `Bearer ${caller}` },
    });
    const reader = response.body?.getReader();
    await reader?.read();
    await sql`select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and application_name = 'rollcall' and query like '%from "campaigns"%' and pid <> pg_backend_pid()`.execute(
      app.context.postgres.db,
    );
    const rest = async () => {
      while (!(await reader?.read())?.done);
    };
    await expect(rest()).rejects.toThrow();
    await app.close();
    await database.drop();
  });
});
