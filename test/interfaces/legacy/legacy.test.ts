import { once } from 'node:events';
import { get as httpGet } from 'node:http';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { differences } from '../../../src/interfaces/legacy/differences.ts';
import { legacyOperations, SERVED } from '../../../src/interfaces/legacy/operations.ts';
import { operations } from '../../../src/interfaces/nouns.ts';
import { eventNames } from '../../../src/kit/outbox/events.ts';
import { makeSale } from '../../harness/affiliates/sales.ts';
import { call, made, makeBrand, send, startApp, type TestApp, type TestBrand, unique } from '../../harness/app.ts';
import { creator, putDirectory } from '../../harness/directory/directory.ts';
import { email } from '../../harness/platform/people.ts';

let app: TestApp;
let brand: TestBrand;
let key: string;
const alias = unique('legacy');

beforeAll(async () => {
  app = await startApp({ alias });
  await putDirectory(app.context.elastic, alias, [
    creator(1, { city: 'New York', state: 'NY', gender: 'female' }),
    creator(2, { city: 'York', state: 'PA', gender: 'Female' }),
    creator(3, { city: 'Brooklyn', state: 'NY', gender: 'male' }),
  ]);
  brand = await makeBrand(app.context, { plan: 'scale' });
});
/** A key has 100 calls a minute, and this file makes more. */
beforeEach(async () => {
  key = await brand.key('brand');
});
afterAll(() => app?.close());

const get = async (path: string) => await call(`${app.url}${path}`, key);
const post = async (path: string, body: object, more = {}) => await send(`${app.url}${path}`, key, 'POST', body, more);
const patch = async (path: string, body: object) => await send(`${app.url}${path}`, key, 'PATCH', body);

describe('the older interface', () => {
  it('has every operation of the specification and none of our additions', async () => {
    const older = legacyOperations(() => new Date());
    expect(older.map(({ id }) => id).sort()).toEqual([...SERVED].sort());
    const current = new Set(operations.map(({ id }) => id));
    expect(Object.keys(differences(() => new Date())).filter((id) => !current.has(id))).toEqual([]);
    for (const { path } of older) expect(path).toMatch(/^\/api\/v1\//);
  });

  it.each(operations.filter(({ id }) => !SERVED.has(id)).map(({ id, method, path }) => [id, method, path]))(
    'lacks %s, a later addition',
    async (_id, method, path) => {
      const older = path.replace(/^\/v1\//, '/api/v1/').replace(/\{\w+\}/g, 'x');
      if (!older.startsWith('/api/v1/')) return;
      const { status } = await send(`${app.url}${older}`, key, method, method === 'GET' ? undefined : {});
      expect([404, 405, 422]).toContain(status);
      const isSamePath = legacyOperations(() => new Date()).some((one) =>
        new RegExp(`^${one.path.replace(/\{\w+\}/g, '[^/]+')}$`).test(older),
      );
      if (!isSamePath) expect(status).toBe(404);
    },
  );

  it('says on every response, including errors, that it is deprecated and where its successor is', async () => {
    for (const path of ['/api/v1/brand', '/api/v1/campaigns/none?x=1', '/api/v1/nothing']) {
      const { headers } = await get(path);
      expect(headers.get('deprecation')).toMatch(/^@\d+$/);
      expect(headers.get('link')).toBe(`<${path.replace('/api', '').split('?')[0]}>; rel="successor-version"`);
    }
    const nobody = await call(`${app.url}/api/v1/brand`);
    expect([nobody.status, nobody.body.code, nobody.headers.has('deprecation')]).toEqual([401, 'AUTH_REQUIRED', true]);
    expect((await get('/v1/brand')).headers.has('deprecation')).toBe(false);
  });

  it('has no plans: a change with mode=plan is refused and not made', async () => {
    const who = email();
    await made(`${app.url}/v1/roster`, key, { creator_email: who });
    const planned = await Promise.all([
      post('/api/v1/campaigns?mode=plan', { name: 'Planned' }),
      post('/api/v1/payouts?mode=plan', { creator_email: who, amount: 5, method: 'manual' }),
      post('/api/v1/commissions?mode=plan', { creator_email: who, amount: 5 }),
      post('/api/v1/webhooks?mode=plan', { url: 'https://receiver.invalid/', events: ['commission.paid'] }),
    ]);
    expect(planned.map(({ status, body }) => [status, body.details?.[0].field])).toEqual(
      planned.map(() => [422, 'mode']),
    );
    expect((await get(`/v1/payouts?creator_email=${who}`)).body.pagination.total).toBe(0);
    expect((await get(`/v1/commissions?creator_email=${who}`)).body.pagination.total).toBe(0);
  });

  it('has a separate document', async () => {
    const { body } = await call(`${app.url}/openapi-legacy.json`);
    expect(Object.keys(body.paths).every((path) => path.startsWith('/api/v1/'))).toBe(true);
    expect(body.paths['/api/v1/content/{id}'].post.operationId).toBe('refresh_content');
    const reviewed = body.paths['/api/v1/commissions'].post.responses;
    expect(reviewed['200'].content['application/json'].schema).not.toEqual(
      reviewed['201'].content['application/json'].schema,
    );
    expect(reviewed['201'].content['application/json'].example.data.commission_amount).toBeTypeOf('number');
    expect(Object.keys(body.webhooks)).toEqual(eventNames('legacy'));
    expect(JSON.stringify(body.paths)).not.toContain('components/parameters/Mode');
  });
});

describe('a dedicated host for the older interface', () => {
  it('serves only that, and other hosts serve the current one', async () => {
    const own = await startApp({ env: { LEGACY_URL: 'http://old.example', API_URL: 'https://api.example' } });
    try {
      const ask = async (host: string, path: string) =>
        await call(`${own.url}${path}`, key, { headers: { 'x-forwarded-host': host } });
      const here = await ask('ignored', '/v1/brand');
      expect(here.status).toBe(200);
      const older = await ask('ignored', '/api/v1/brand');
      expect([older.status, older.body.code]).toEqual([404, 'NOT_FOUND']);
      expect(older.headers.get('link')).toBe('<https://api.example/v1/brand>; rel="successor-version"');
      const requested = async (path: string) => {
        const request = httpGet(`${own.url}${path}`, {
          headers: { host: 'old.example', authorization: `Bearer ${key}` },
        });
        const [response] = await once(request, 'response');
        response.resume();
        return response.statusCode;
      };
      expect(await requested('/api/v1/brand')).toBe(200);
      expect(await requested('/v1/brand')).toBe(404);
      for (const path of ['/openapi-legacy.json', '/docs/legacy/']) expect(await requested(path), path).toBe(200);
      expect((await ask('ignored', '/openapi-legacy.json')).status).toBe(200);
    } finally {
      await own.close();
    }
  });
});

describe('campaigns', () => {
  it('read `live` and `organic_ugc`, and accept the current words too', async () => {
    const created = await post('/api/v1/campaigns', { name: 'One', status: 'live', type: 'organic_ugc' });
    expect([created.status, created.body.data.status, created.body.data.campaign_type]).toEqual([
      ...[201, 'live', 'organic_ugc'],
    ]);
    const { id } = created.body.data;
    const { body } = await get(`/v1/campaigns/${id}`);
    expect([body.data.status, body.data.campaign_type]).toEqual(['active', 'ugc']);
    expect((await get('/api/v1/campaigns?status=live')).body.data.map((one: { id: string }) => one.id)).toContain(id);
    expect((await patch(`/api/v1/campaigns/${id}`, { status: 'paused' })).body.data.status).toBe('paused');
    expect((await patch(`/api/v1/campaigns/${id}`, { status: 'active' })).body.data.status).toBe('live');
    expect((await get(`/api/v1/campaigns/${id}`)).body.data.status).toBe('live');
  });

  it('give one Idempotency-Key the same response in both interfaces, each with its own values', async () => {
    const again = { 'idempotency-key': unique('key') };
    const older = await post('/api/v1/campaigns', { name: 'Twice', status: 'live' }, again);
    const current = await post('/v1/campaigns', { name: 'Twice', status: 'active' }, again);
    expect([current.status, current.body.data.id, current.body.data.status]).toEqual([
      ...[201, older.body.data.id, 'active'],
    ]);
    expect([older.body.data.status, current.headers.get('idempotency-replayed')]).toEqual(['live', 'true']);
  });
});

describe('links', () => {
  it('have code and status in place of value, rate and active', async () => {
    const creatorEmail = email();
    await made(`${app.url}/v1/roster`, key, { creator_email: creatorEmail });
    const code = unique('OLD').toUpperCase();
    const { status, body } = await post('/api/v1/affiliates/links', { creator_email: creatorEmail, code });
    expect(status).toBe(201);
    expect(body.data).toMatchObject({ code, status: 'active', discount_percent: null, expires_at: null, url: null });
    for (const gone of ['value', 'commission_rate', 'active']) expect(body.data).not.toHaveProperty(gone);
    const off = await patch(`/api/v1/affiliates/links/${body.data.id}`, { status: 'disabled' });
    expect(off.body.data.status).toBe('disabled');
    for (const path of ['/api/v1/affiliates', '/api/v1/affiliates/links']) {
      const row = (await get(path)).body.data.find((one: { id: string }) => one.id === body.data.id);
      expect(row, path).toMatchObject({ code, status: 'disabled' });
      expect(row).not.toHaveProperty('value');
    }
    const destination = {
      creator_email: creatorEmail,
      value: unique('old'),
      type: 'link',
      destination_url: 'https://shop.example/summer',
    };
    const link = await post('/api/v1/affiliates/links', destination);
    const item = (await get('/api/v1/affiliates/links')).body.data.find(
      (one: { id: string }) => one.id === link.body.data.id,
    );
    expect([link.body.data.destination_url, item.destination_url]).toEqual(Array(2).fill(destination.destination_url));
    const both = await post('/api/v1/affiliates/links', { creator_email: creatorEmail, code: 'A', value: 'B' });
    expect([both.status, both.body.details[0].field]).toEqual([422, 'code']);
    const odd = await patch(`/api/v1/affiliates/links/${body.data.id}`, { status: 'expired' });
    expect([odd.status, odd.body.details[0].field]).toEqual([422, 'status']);
  });
});

describe('commissions', () => {
  it('have exactly eleven fields, and are filtered by their time of creation', async () => {
    await makeSale(app.context, brand, { email: email() });
    const { body } = await get('/api/v1/commissions');
    expect(Object.keys(body.data[0]).sort()).toEqual(
      [
        ...['id', 'creator_email', 'creator_name', 'order_id', 'order_amount', 'commission_amount'],
        ...['commission_rate', 'status', 'source', 'code', 'created_at'],
      ].sort(),
    );
    expect(body.data[0].source).toMatch(/^(discount_code|link)$/);
    expect(typeof body.data[0].commission_rate).toBe('number');
    const day = body.data[0].created_at.slice(0, 10);
    expect((await get(`/api/v1/commissions?from=${day}&to=${day}`)).body.pagination.total).toBe(1);
    expect((await get(`/api/v1/affiliates/commissions?to=2000-01-01`)).body.pagination.total).toBe(0);
    const turned = await get(`/api/v1/commissions?from=2026-01-02&to=2026-01-01`);
    expect([turned.status, turned.body.details[0].field]).toEqual([422, 'from']);
    expect((await get(`/api/v1/commissions?from=soon`)).status).toBe(422);
  });
});

describe('a commission recorded by hand', () => {
  it('is recorded if the body names a creator, and reviewed if it names events', async () => {
    const creatorEmail = email();
    await made(`${app.url}/v1/roster`, key, { creator_email: creatorEmail });
    const input = { creator_email: creatorEmail, amount: 12.5, description: 'bonus' };
    const { status, body } = await post('/api/v1/commissions', input);
    expect([status, body.data.source, body.data.status]).toEqual([201, 'manual', 'pending']);
    expect(body.data).toMatchObject({
      commission_amount: 12.5,
      order_id: null,
      code: null,
      creator_email: creatorEmail,
    });
    const reviewed = await post('/api/v1/commissions', { event_id: body.data.id, status: 'approved' });
    expect([reviewed.status, reviewed.body]).toEqual([200, { data: { updated: 1 } }]);
    const both = await post('/api/v1/commissions', { ...input, event_id: body.data.id });
    expect([both.status, both.body.details[0].code]).toEqual([422, 'ambiguous']);
    expect((await post('/api/v1/commissions', { ...input, status: 'paid' })).status).toBe(422);
    expect((await post('/v1/commissions', input)).status).toBe(422);
  });
});

describe('webhooks', () => {
  it('have their own names, fields and secret, and are listed on both interfaces', async () => {
    const input = { url: 'https://receiver.example/hook', events: ['campaign.created'], secret: 'my-own-secret' };
    const { status, body } = await post('/api/v1/webhooks', input);
    expect([status, body.data.secret, body.data.status, body.data.last_triggered]).toEqual([
      ...[201, 'my-own-secret', 'active', null],
    ]);
    expect(body.data).not.toHaveProperty('active');
    const foreign = await post('/api/v1/webhooks', { ...input, events: ['application.approved'] });
    expect([foreign.status, foreign.body.details[0].code, foreign.body.allowed.length]).toEqual([
      422,
      'unknown_event',
      17,
    ]);
    expect((await post('/v1/webhooks', { ...input, events: ['campaign.created'] })).status).toBe(422);
    const [older] = (await get('/api/v1/webhooks')).body.data;
    expect([older.id, older.secret, older.status]).toEqual([body.data.id, '…et', 'active']);
    const current = (await get('/v1/webhooks')).body.data.find((one: { id: string }) => one.id === body.data.id);
    expect([current.variant, current.active]).toEqual(['legacy', true]);
    const gone = await send(`${app.url}/api/v1/webhooks/${body.data.id}`, key, 'DELETE');
    expect(gone.body).toEqual({ deleted: true, id: body.data.id });
  });

  it('of the two interfaces never share an answer under one Idempotency-Key', async () => {
    const input = { url: 'https://receiver.example/both', events: ['commission.approved'] };
    for (const first of ['/v1/webhooks', '/api/v1/webhooks']) {
      const second = first === '/v1/webhooks' ? '/api/v1/webhooks' : '/v1/webhooks';
      const once = { 'idempotency-key': unique('key') };
      const made = await post(first, input, once);
      const other = await post(second, input, once);
      expect([made.status, other.status, other.body.code]).toEqual([201, 409, 'IDEMPOTENCY_KEY_REUSED']);
      const again = await post(first, input, once);
      expect([again.headers.get('idempotency-replayed'), again.body]).toEqual(['true', made.body]);
    }
  });
});

describe('shipments', () => {
  it('have an address of three fields, and accept one', async () => {
    const creatorEmail = email();
    await made(`${app.url}/v1/roster`, key, { creator_email: creatorEmail });
    const products = [{ name: 'Serum', sku: 'SKU-1', quantity: 2 }];
    const address = { city: 'Oakland', state: 'CA' };
    const input = { creator_email: creatorEmail, products, address, notify_creator: true };
    const { status, body } = await post('/api/v1/shipments', input);
    expect([status, body.data.product_description]).toEqual([201, '2 × Serum (SKU-1)']);
    expect(body.data).toMatchObject({ products, address: { ...address, country: null }, shipped_at: null });
    const asText = await patch(`/api/v1/shipments/${body.data.id}`, { shipping_address: 'Main St' });
    expect(asText.body.data.address).toEqual({ city: null, state: null, country: null });
    expect((await get('/api/v1/shipments')).body.data[0].address).toEqual({ city: null, state: null, country: null });
  });
});

describe('a tracked post', () => {
  it('is refreshed by POST /api/v1/content/{id}', async () => {
    const { data } = (await post('/api/v1/content', { url: `https://photo.app/p/${unique('p')}` })).body;
    expect((await post(`/api/v1/content/${data.id}`, {})).body.data.status).toBe('refreshing');
    expect((await post(`/api/v1/content/${data.id}/refresh`, {})).status).toBe(404);
  });
});

describe('the search', () => {
  const pks = async (query: string) =>
    (await get(`/api/v1/creators/search?${query}`)).body.data.map((one: { pk: number }) => one.pk).sort();

  it('matches city and state as parts of what is stored, and gender exactly', async () => {
    expect(await pks('city=york')).toEqual([1, 2]);
    expect(await pks('city=NYC')).toEqual([]);
    expect(await pks('state=NY')).toEqual([1, 3]);
    expect(await pks('state=New%20York')).toEqual([]);
    expect(await pks('gender=Female')).toEqual([2]);
    expect(await pks('q=Brooklyn')).toEqual([3]);
    const current = await get('/v1/creators/search?city=NYC');
    expect(current.body.data.map((one: { pk: number }) => one.pk).sort()).toEqual([1, 3]);
  });

  it('reports how it read the query, lists unknown parameters, and costs a data key the same', async () => {
    const data = await brand.key('data');
    const { body, headers } = await call(`${app.url}/api/v1/creators/search?city=york&preview=true`, data);
    expect([body.meta.interpretation.matching, headers.get('x-ignored-params')]).toEqual(['legacy', 'preview']);
    expect([headers.get('x-credits-charged'), body.data.length]).toEqual(['10', 2]);
    expect((await call(`${app.url}/api/v1/brand`, data)).body.code).toBe('BRAND_KEY_REQUIRED');
  });
});
