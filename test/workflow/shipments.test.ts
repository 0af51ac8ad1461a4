import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { trackParcels } from '../../src/workflow/shipments/tracking.ts';
import { call, made, makeBrand, send, startApp, type TestApp, unique } from '../harness/app.ts';
import { makeDatabase, type TestDatabase } from '../harness/database.ts';
import { email } from '../harness/platform/people.ts';
import { type ProfileProvider, startProvider } from '../harness/workflow/provider.ts';

const HOUR_MS = 3_600_000;

/** Parcels of all brands are tracked, and other tests' are not to be touched. */
let database: TestDatabase;
let carrier: ProfileProvider;
let app: TestApp;
let nowMs = Date.now();

beforeAll(async () => {
  [carrier, database] = await Promise.all([startProvider(), makeDatabase('shipments')]);
  app = await startApp({
    urls: { postgres: database.url },
    clock: { now: () => new Date(nowMs) },
    env: { TRACKING_PROVIDER_URL: carrier.url, TRACKING_PROVIDER_KEY: 'as-key' },
  });
});
afterEach(() => {
  carrier.answer = carrier.unknown;
});
afterAll(async () => {
  await app?.close();
  await carrier?.close();
  await database?.drop();
});

async function desk() {
  const key = await (await makeBrand(app.context)).key('brand');
  const creator = email();
  await made(`${app.url}/v1/roster`, key, { creator_email: creator });
  const ship = (input: object = {}) => made(`${app.url}/v1/shipments`, key, { creator_email: creator, ...input });
  const read = async (id: string) => (await call(`${app.url}/v1/shipments/${id}`, key)).body.data;
  const patch = (id: string, body: object) => send(`${app.url}/v1/shipments/${id}`, key, 'PATCH', body);
  return { key, creator, ship, read, patch };
}

describe('POST /v1/shipments', () => {
  it('keeps the carrier in lower case and an address in the form it came', async () => {
    const { ship, creator } = await desk();
    const fields = await ship({
      ...{ carrier: ' UPS ', tracking_number: '1Z999', product_description: 'Serum', notes: 'fragile' },
      shipping_address: { street: '1 Main St', city: 'Oakland', state: 'CA' },
    });
    expect(fields).toMatchObject({
      ...{ creator_email: creator, status: 'created', carrier: 'ups', tracking_number: '1Z999' },
      shipping_address: { street: '1 Main St', line2: null, city: 'Oakland', state: 'CA', zip: null, country: null },
      ...{ tracking_status: null, creator_confirmed_receipt: false, shipped_at: null },
    });
    expect((await ship({ shipping_address: '1 Main St, Oakland' })).shipping_address).toBe('1 Main St, Oakland');
  });

  it('describes products that have no description of their own', async () => {
    const { ship } = await desk();
    const products = [{ name: 'Serum', sku: 'SKU-1', quantity: 2 }, { name: 'Brush' }];
    const shipment = await ship({ products });
    expect(shipment.product_description).toBe('2 × Serum (SKU-1), 1 × Brush');
    expect(shipment.products[1]).toEqual({ name: 'Brush', sku: null, quantity: 1 });
  });

  it('refuses strangers, other brands’ campaigns and invalid dates, all at once, and stores nothing', async () => {
    const { key } = await desk();
    const body = { creator_email: 'nobody@example.com', campaign_id: 'cmp_no' };
    const refused = await send(`${app.url}/v1/shipments`, key, 'POST', body);
    expect(refused.status).toBe(422);
    expect(refused.body.details.map(({ field, code }: { field: string; code: string }) => [field, code])).toEqual([
      ['creator_email', 'not_on_roster'],
      ['campaign_id', 'not_found'],
    ]);
    const odd = await send(`${app.url}/v1/shipments`, key, 'POST', { ...body, estimated_arrival: '24.12.2026' });
    expect([odd.status, odd.body.details[0].field]).toEqual([422, 'estimated_arrival']);
    expect((await call(`${app.url}/v1/shipments`, key)).body.pagination.total).toBe(0);
  });
});

describe('PATCH /v1/shipments/{id}', () => {
  it('moves any status to any other, records the time, and clears it when the status goes back', async () => {
    const { ship, patch, key } = await desk();
    const { id } = await ship();
    expect((await patch(id, { status: 'shipped' })).body.data.shipped_at).toBe(new Date(nowMs).toISOString());
    const delivered = (await patch(id, { status: 'delivered' })).body.data;
    expect([delivered.status, delivered.delivered_at]).toEqual(['delivered', new Date(nowMs).toISOString()]);
    expect((await patch(id, { status: 'shipped' })).body.data.delivered_at).toBeNull();
    expect((await patch(id, { status: 'pending' })).body.data.shipped_at).toBeNull();
    const created = await patch(id, { status: 'created' });
    expect([created.status, created.body.details[0].field]).toEqual([422, 'status']);
    const pending = await call(`${app.url}/v1/shipments?status=pending`, key);
    expect(pending.body.data.map((one: { id: string }) => one.id)).toEqual([id]);
  });

  it('sets, keeps and clears: null clears the address', async () => {
    const { ship, patch } = await desk();
    const { id } = await ship({ shipping_address: { city: 'Oakland' }, notes: 'a' });
    expect((await patch(id, { notes: 'b' })).body.data).toMatchObject({
      notes: 'b',
      shipping_address: { city: 'Oakland' },
    });
    expect((await patch(id, { shipping_address: null })).body.data).toMatchObject({
      notes: 'b',
      shipping_address: null,
    });
  });
});

describe('the carrier', () => {
  /** Speaks AfterShip's protocol; `said` has what was asked of one parcel. */
  function follow(number: string, tag: () => string, said: string[] = []): void {
    carrier.answer = async (request, response) => {
      const chunks: Buffer[] = [];
      for await (const chunk of request) chunks.push(chunk);
      const sent = Buffer.concat(chunks).toString();
      if (!`${sent}${request.url}`.includes(number)) {
        response.writeHead(404).end(JSON.stringify({ meta: { code: 4004 }, data: {} }));
        return;
      }
      said.push(`${request.method} ${request.url} ${request.headers['as-api-key']}`);
      const data = { id: `trk-${number}`, tag: tag(), checkpoints: [{ message: 'seen', tag: tag() }] };
      const made = request.method === 'POST';
      response.writeHead(made ? 201 : 200, { 'content-type': 'application/json' });
      response.end(JSON.stringify({ meta: { code: made ? 201 : 200 }, data }));
    };
  }

  it('gets the number once, is polled every two hours, and moves a shipped parcel to delivered once', async () => {
    const { ship, patch, read, key } = await desk();
    const said: string[] = [];
    let tag = 'InTransit';
    follow('1ZONE', () => tag, said);
    const { id } = await ship({ carrier: 'UPS', tracking_number: '1ZONE' });
    await patch(id, { status: 'shipped' });
    await trackParcels.run(app.context);
    expect(await read(id)).toMatchObject({ tracking_status: 'in_transit', status: 'shipped' });
    await trackParcels.run(app.context);
    tag = 'Delivered';
    nowMs += 2 * HOUR_MS;
    await trackParcels.run(app.context);
    expect(await read(id)).toMatchObject({
      ...{ tracking_status: 'delivered', status: 'delivered', delivered_at: new Date(nowMs).toISOString() },
      tracking_events: [{ status: 'delivered', message: 'seen' }],
    });
    nowMs += 48 * HOUR_MS;
    await trackParcels.run(app.context);
    expect(said).toEqual(['POST /v2/trackings as-key', 'GET /v2/trackings/trk-1ZONE as-key']);
    const { data } = (await call(`${app.url}/v1/audit-log?resource_id=${id}`, key)).body;
    expect(data[0]).toMatchObject({ operation: 'track_shipment', key_id: null });
  });

  it('changes nothing when it does not answer', async () => {
    const { ship, read } = await desk();
    const { id } = await ship({ carrier: 'UPS', tracking_number: unique('1Z') });
    carrier.answer = (_request, response) => void response.writeHead(500).end('no JSON');
    await trackParcels.run(app.context);
    expect(await read(id)).toMatchObject({ tracking_status: null, status: 'created', updated_at: null });
  });

  it('says why it does not track a parcel, and is not queried about it again until the number changes', async () => {
    const { ship, read, patch } = await desk();
    const number = unique('1Z');
    let requests = 0;
    carrier.answer = async (request, response) => {
      const chunks: Buffer[] = [];
      for await (const chunk of request) chunks.push(chunk);
      if (Buffer.concat(chunks).toString().includes(number)) requests += 1;
      const meta = { code: 4005, message: 'The value of `tracking_number` is invalid.' };
      response.writeHead(400).end(JSON.stringify({ meta, data: {} }));
    };
    const { id, tracking_error: before } = await ship({ carrier: 'UPS', tracking_number: number });
    await trackParcels.run(app.context);
    expect(before).toBeNull();
    expect(await read(id)).toMatchObject({
      ...{ tracking_status: null, status: 'created', tracking_error: 'The value of `tracking_number` is invalid.' },
    });
    expect(requests).toBe(1);
    nowMs += 48 * HOUR_MS;
    await trackParcels.run(app.context);
    expect(requests).toBe(1);
    follow('1ZFOUR', () => 'InTransit');
    expect((await patch(id, { tracking_number: '1ZFOUR' })).body.data.tracking_error).toBeNull();
    await trackParcels.run(app.context);
    expect(await read(id)).toMatchObject({ tracking_status: 'in_transit', tracking_error: null });
  });

  it('is queried at most five times a second', async () => {
    const { ship } = await desk();
    let calls = 0;
    carrier.answer = (_request, response) => {
      calls += 1;
      response.writeHead(201).end(JSON.stringify({ meta: { code: 201 }, data: { id: 'trk', tag: 'InTransit' } }));
    };
    for (let i = 0; i < 12; i += 1) await ship({ tracking_number: unique('1Z') });
    const from = performance.now();
    await trackParcels.run(app.context);
    expect(calls).toBeGreaterThanOrEqual(12);
    // Twelve at five a second take two seconds; at ten a second they would take one.
    expect(performance.now() - from).toBeGreaterThan(1_500);
  });

  it('is polled again after the number changes: the new parcel starts without a tracking status', async () => {
    const { ship, patch, read } = await desk();
    follow('1ZTWO', () => 'Exception');
    const { id } = await ship({ tracking_number: '1ZTWO' });
    await trackParcels.run(app.context);
    expect((await read(id)).tracking_status).toBe('exception');
    expect((await patch(id, { tracking_number: '1Z3' })).body.data.tracking_status).toBeNull();
  });
});
