import { randomInt } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { findCreatorPage } from '../../src/workflow/creators/creators.ts';
import { approved, get, makePayer, type Payer } from '../harness/affiliates/paying.ts';
import { makeAssignment } from '../harness/affiliates/sales.ts';
import { jobOf, rowsOf, runJobs, startExport, storeClicks } from '../harness/analytics/exporting.ts';
import { sync } from '../harness/analytics/figures.ts';
import { call, send, startApp, type TestApp } from '../harness/app.ts';
import { makeDatabase, ownRedis, type TestDatabase } from '../harness/database.ts';

/**
 * 2 April, 07:00 in Sydney, which is eleven hours ahead until 5 April. At another moment in each run: ClickHouse drops a
 * batch that has the number and time of an earlier one.
 */
const clock = { at: Date.parse('2026-04-01T20:00:00Z') + randomInt(3_600_000), now: () => new Date(clock.at) };
const LAST = new Date('2026-03-31T12:59:59.999Z');
const FIRST = new Date('2026-03-31T13:00:00.000Z');
const SYDNEY = 'Australia/Sydney';

let database: TestDatabase;
let app: TestApp;
let owner: Payer;
let march: string;
let april: string;

beforeAll(async () => {
  database = await makeDatabase('local_days');
  app = await startApp({ urls: { postgres: database.url, redis: ownRedis() }, clock });
  owner = await makePayer(app);
  owner.ann = await makeAssignment(app.context, owner.brand, { holdDays: 0 });
  await setZone(SYDNEY);
  march = (await approved(owner, { occurredAt: LAST, amountMinor: 10_000 })).orderId;
  april = (await approved(owner, { occurredAt: FIRST, amountMinor: 20_000 })).orderId;
  await storeClicks(app.context, owner.brand.id, 1, FIRST.getTime());
  await sync(app, owner.brand.id);
});
afterAll(async () => {
  await app?.close();
  await database?.drop();
});

const setZone = (time_zone: string) => send(`${app.url}/v1/brand`, owner.key, 'PATCH', { settings: { time_zone } });
const post = (path: string, body: object) => send(`${app.url}${path}`, owner.key, 'POST', body);
const ordersOn = async (query: string): Promise<string[]> =>
  (await get(owner, `/v1/orders?sort=oldest&${query}`)).body.data.map(({ order_id }: { order_id: string }) => order_id);

describe('dates without a time', () => {
  it("of lists are days of the brand's zone, and of `time_zone` where it is sent", async () => {
    expect(await ordersOn('to=2026-03-31')).toEqual([march]);
    expect(await ordersOn('from=2026-04-01')).toEqual([april]);
    expect(await ordersOn('from=2026-03-31&to=2026-03-31&time_zone=UTC')).toEqual([march, april]);
    expect(await ordersOn('from=2026-03-31T13:00:00Z')).toEqual([april]);
    expect(await ordersOn('updated_after=2026-04-02')).toEqual([march, april]);
    expect(await ordersOn('updated_after=2026-04-02&time_zone=UTC')).toEqual([]);
    const refused = await get(owner, '/v1/campaigns?time_zone=%2B05:30');
    expect([refused.status, refused.body.details[0].field]).toEqual([422, 'time_zone']);
    await post('/v1/campaigns', { name: 'Autumn' });
    const campaigns = async (path: string) => (await get(owner, path)).body.data.length;
    expect(await campaigns('/v1/campaigns?created_after=2026-04-02')).toBe(1);
    expect(await campaigns('/v1/campaigns?created_before=2026-04-01')).toBe(0);
    expect(await campaigns('/v1/campaigns?created_before=2026-04-01&time_zone=UTC')).toBe(1);
    const older = await get(owner, '/api/v1/campaigns?created_before=2026-04-01&time_zone=Australia/Sydney');
    expect([older.body.data.length, older.headers.get('x-ignored-params')]).toEqual([1, 'time_zone']);
  });

  it('of clicks are days of that zone too', async () => {
    const clicks = async (query: string) => (await get(owner, `/v1/clicks?${query}`)).body.data.length;
    expect(await clicks('from=2026-04-01&to=2026-04-01')).toBe(1);
    expect(await clicks('to=2026-03-31')).toBe(0);
    expect(await clicks('to=2026-03-31&time_zone=UTC')).toBe(1);
  });

  it('of the journal are days of that zone, which its answer names and its lines are booked on', async () => {
    const read = async (query: string) => (await get(owner, `/v1/affiliates/ledger/journal?${query}`)).body;
    const own = await read('from=2026-04-01&to=2026-04-01&account=sales');
    expect(own.data).toMatchObject([{ date: '2026-04-01', credit: 200, order_id: april }]);
    expect(own.summary.time_zone).toBe(SYDNEY);
    const utc = await read('from=2026-03-31&to=2026-03-31&account=sales&time_zone=UTC');
    expect([utc.summary.time_zone, utc.data.map(({ date }: { date: string }) => date)]).toEqual([
      'UTC',
      ['2026-03-31', '2026-03-31'],
    ]);
    const csv = await call(`${app.url}/v1/affiliates/ledger/journal?from=2026-04-01&account=sales`, owner.key, {
      headers: { accept: 'text/csv' },
    });
    expect(csv.body.trim().split('\n')).toHaveLength(2);
    expect(csv.body).toContain('2026-04-01');
  });

  it('of `as_of` and `cutoff` end with that day', async () => {
    const asOf = async (query: string) => (await get(owner, `/v1/affiliates/ledger?${query}`)).body.summary.as_of;
    expect(await asOf('as_of=2026-03-31')).toBe(LAST.toISOString());
    expect(await asOf('as_of=2026-03-31&time_zone=UTC')).toBe('2026-03-31T23:59:59.999Z');
    const due = async (query: string) =>
      (await get(owner, `/v1/payouts/preview?${query}`)).body.data[0]?.commission_count;
    expect(await due('cutoff=2026-03-31')).toBe(1);
    expect(await due('cutoff=2026-03-31&time_zone=UTC')).toBe(2);
  });

  it('of a statement are days of a zone that it keeps', async () => {
    const period = { creator_email: owner.ann.email, from: '2026-04-01', to: '2026-04-01' };
    const { body } = await post('/v1/statements', period);
    expect([body.data.time_zone, body.data.totals[0].commission]).toEqual([SYDNEY, 20]);
    const utc = await post('/v1/statements', { ...period, time_zone: 'UTC' });
    expect([utc.body.data.time_zone, utc.body.data.totals]).toEqual(['UTC', expect.anything()]);
    expect(utc.body.data.totals[0].commission).toBe(0);
    await setZone('America/New_York');
    const read = (await get(owner, `/v1/statements/${body.data.id}`)).body.data;
    expect([read.time_zone, read.totals[0].commission]).toEqual([SYDNEY, 20]);
    await setZone(SYDNEY);
    const page = await fetch(body.data.url.replace(/^https?:\/\/[^/]+/, app.links));
    expect(await page.text()).toContain(`Days are in ${SYDNEY}.`);
    const backwards = { ...period, from: '2026-04-01T14:00:00Z', to: '2026-04-01' };
    expect((await post('/v1/statements', backwards)).body.details).toMatchObject([{ field: 'from' }]);
    expect((await post('/v1/statements', { ...backwards, time_zone: 'UTC' })).status).toBe(201);
    clock.at += 1_000;
    await post('/v1/statements/batch', { from: '2026-03-31', to: '2026-03-31' });
    await runJobs(app);
    const [newest] = (await get(owner, '/v1/statements?limit=1')).body.data;
    expect([newest.time_zone, newest.totals[0].commission]).toEqual([SYDNEY, 10]);
  });

  it('of exports are days of that zone, as are those of performance', async () => {
    const rowsFor = async (body: object) => {
      const started = await startExport(app, owner.key, { by: 'date', format: 'ndjson', ...body });
      await runJobs(app);
      const job = await jobOf(app, owner.key, started.id);
      expect(job).toMatchObject({ status: 'done' });
      return { rows: await rowsOf(app, job), request: job.request };
    };
    const day = { from: '2026-04-01', to: '2026-04-01' };
    const own = await rowsFor({ of: 'orders', ...day });
    expect([own.request.time_zone, own.rows.map(({ order_id }) => order_id)]).toEqual([SYDNEY, [april]]);
    const performance = await rowsFor({ of: 'performance', from: '2026-03-31', to: '2026-04-01' });
    const sold = performance.rows.filter(({ sales_minor }) => sales_minor !== 0);
    expect(sold.map(({ day: on, sales_minor }) => [on, sales_minor])).toEqual([
      ['2026-03-31', 10_000],
      ['2026-04-01', 20_000],
    ]);
    const utc = await rowsFor({ of: 'performance', ...day, time_zone: 'UTC' });
    expect(utc.rows.filter(({ sales_minor }) => sales_minor !== 0)).toEqual([]);
    const cut = { of: 'performance', from: '2026-04-01T00:00:00Z' };
    expect((await post('/v1/exports', cut)).body.details).toMatchObject([{ field: 'from' }]);
  });

  it('that a creator sees of sales and payments, on pages and in mails, are days of that zone', async () => {
    const paid = { creator_email: owner.ann.email, method: 'manual', amount: 30 };
    const { id } = (await post('/v1/payouts', paid)).body.data;
    const settled = { status: 'paid', paid_at: '2026-04-02' };
    expect((await send(`${app.url}/v1/payouts/${id}`, owner.key, 'PATCH', settled)).status).toBe(200);
    const readPage = async (url: string) => await (await fetch(url.replace(/^https?:\/\/[^/]+/, app.links))).text();
    const payout = await readPage((await get(owner, `/v1/payouts/${id}/statement`)).body.data.page_url);
    const period = { creator_email: owner.ann.email, from: '2026-04-01', to: '2026-04-02' };
    const statement = await readPage((await post('/v1/statements', period)).body.data.url);
    const { db } = app.context.postgres;
    const { creatorId: rowId } = owner.ann;
    const creator = await findCreatorPage(db, rowId);
    const link = { kind: 'me' as const, rowId, version: creator?.linkVersion ?? 0, expiresAt: new Date('2999-01-01') };
    const own = await readPage(app.context.pageLinks.urlOf(link));
    for (const page of [payout, statement, own]) {
      expect(page).toContain('April 1, 2026');
      expect(page).toContain('April 2, 2026');
    }
    expect(payout).toContain('March 31, 2026');
    expect(payout).not.toContain('March 30, 2026');
    const mails = db.selectFrom('mails').select('params').where('kind', '=', 'payout_made');
    expect((await mails.execute()).map(({ params }) => params)).toMatchObject([{ paid_on: '2026-04-02' }]);
  });
});
