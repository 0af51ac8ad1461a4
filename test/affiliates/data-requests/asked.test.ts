import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { endDataRequests } from '../../../src/affiliates/data-requests/data-requests.jobs.ts';
import { verifyRecords } from '../../../src/affiliates/ledger/verify-ledger.ts';
import { DAY_MS, YEAR_MS } from '../../../src/kit/values/duration.ts';
import { daysAgo, makeAssignment, makeSale } from '../../harness/affiliates/sales.ts';
import { startApp, type TestApp } from '../../harness/app.ts';
import { makeDatabase, ownRedis, type TestDatabase } from '../../harness/database.ts';
import { mailsOf } from '../../harness/kit/mail.ts';
import { signIn } from '../../harness/platform/session.ts';
import { findTraces } from '../../harness/platform/traces.ts';
import { BEHIND_PROXY } from '../../harness/workflow/applying.ts';
import { openWorkDesk, type WorkDesk } from '../../harness/workflow/work.ts';

const clock = { at: Date.now(), now: () => new Date(clock.at) };
let app: TestApp;
let database: TestDatabase;
beforeAll(async () => {
  database = await makeDatabase('asked');
  app = await startApp({ env: BEHIND_PROXY, urls: { redis: ownRedis(), postgres: database.url }, clock });
});
afterAll(async () => {
  await app?.close();
  await database?.drop();
});

/** A creator with a page, whose brand has an owner. */
async function openPage(email: string) {
  const desk = await openWorkDesk(app, email);
  await signIn(app, desk.brand.id);
  await desk.post('/v1/messages', { creator_email: email, body: 'Hello', send_email: true });
  const mails = await mailsOf(app.context, desk.brand.id);
  const me = mails.flatMap(({ links }) => links).find((link) => /\/me\/\w+$/.test(link));
  if (me === undefined) throw new Error('The creator was mailed no link to their page.');
  return { desk, me };
}

const requests = async (desk: WorkDesk) => (await desk.get('/v1/data-requests')).body.data;
const ofKind = async (desk: WorkDesk, kind: string) =>
  (await mailsOf(app.context, desk.brand.id)).filter((mail) => mail.kind === kind);

describe("a creator's page", () => {
  it('gives a copy of everything at once, and tells the brand', async () => {
    const { desk, me } = await openPage('copy@creators.example');
    const form = new FormData();
    form.append('creator_email', 'copy@creators.example');
    form.append('file', new Blob(['their own words'], { type: 'text/plain' }), 'words.txt');
    const headers = { authorization: `Bearer ${await desk.brand.key('brand')}` };
    expect((await fetch(`${app.url}/v1/assets`, { method: 'POST', body: form, headers })).status).toBe(201);
    const page = await desk.open(me);
    expect(page.text).toContain('Download a copy');
    const file = await desk.fill(me, { ask: 'copy' });
    expect(file.status).toBe(200);
    const copy = JSON.parse(file.text);
    expect(copy.tables.creators).toMatchObject([{ email: 'copy@creators.example' }]);
    expect(copy.tables.messages).toMatchObject([{ body: 'Hello' }]);
    expect(copy.files).toMatchObject([{ name: 'words.txt' }]);
    const { pathname } = new URL(copy.files[0].url);
    expect(await (await fetch(`${app.url}${pathname}`)).text()).toBe('their own words');
    expect(await requests(desk)).toMatchObject([{ kind: 'access', source: 'page', state: 'done' }]);
  });

  it('says what goes and what stays, and files one wish to be erased, which owners are mailed', async () => {
    const { desk, me } = await openPage('wish@creators.example');
    const page = await desk.open(`${me}?ask=erasure`);
    for (const text of ['What goes', 'What stays', 'has 30 days']) expect(page.text).toContain(text);
    for (const _twice of [1, 2]) expect((await desk.fill(me, { ask: 'erasure' })).status).toBe(303);
    const [request, ...others] = await requests(desk);
    expect(others).toEqual([]);
    expect(request).toMatchObject({ kind: 'erasure', source: 'page', state: 'open', subject: 'creator', kept: [] });
    expect(Date.parse(request.due_at) - Date.parse(request.created_at)).toBe(30 * DAY_MS);
    const [mail, ...more] = await ofKind(desk, 'data_request');
    expect(more).toEqual([]);
    expect(mail?.links).toContainEqual(expect.stringContaining(`/app/rights?open=${request.id}`));
    expect((await desk.open(me)).text).toMatch(/You asked to be erased on .* has until/s);
    expect((await desk.open(me)).text).not.toContain('>Ask to be erased<');

    const done = await desk.send('POST', `/v1/data-requests/${request.id}/carry-out`, {});
    expect(done.body.data).toMatchObject({ state: 'done', removed: { creators: 1 } });
    await endDataRequests.run(app.context);
    expect((await desk.open(me)).status).toBe(404);
    expect(await findTraces(app.context.postgres.db, ['wish@creators.example'])).toEqual([]);
    expect((await verifyRecords(app.context.postgres.db, desk.brand.id)).problems).toEqual([]);
  });

  it('shows that the brand refused and why, which is mailed, and lets them ask again', async () => {
    const { desk, me } = await openPage('refused@creators.example');
    await desk.fill(me, { ask: 'erasure' });
    const [{ id }] = await requests(desk);
    const refuse = () => desk.send('POST', `/v1/data-requests/${id}/refuse`, { reason: 'A claim is open in court.' });
    expect((await refuse()).body.data).toMatchObject({ state: 'refused', refusal: 'A claim is open in court.' });
    expect(await refuse()).toMatchObject({ status: 409, body: { code: 'INVALID_STATE_TRANSITION' } });
    expect((await desk.open(me)).text).toContain('A claim is open in court.');
    expect(await ofKind(desk, 'data_request_refused')).toMatchObject([{ to: 'refused@creators.example' }]);
    clock.at += 1_000;
    await desk.fill(me, { ask: 'erasure' });
    expect((await requests(desk)).map(({ state }: { state: string }) => state)).toEqual(['open', 'refused']);
  });
});

describe('the books of an erased creator', () => {
  const NAME = 'Bookkept Personowitz';
  const email = 'books@creators.example';

  /** Paid once, on the day of the clock. */
  async function paid(years?: number) {
    const desk = await openWorkDesk(app, email);
    if (years !== undefined) await desk.send('PATCH', '/v1/brand', { settings: { bookkeeping_years: years } });
    const assignment = await makeAssignment(app.context, desk.brand, { email, name: NAME, holdDays: 0 });
    const sale = await makeSale(app.context, desk.brand, { assignment, occurredAt: daysAgo(60, clock.now()) });
    await desk.send('PATCH', `/v1/affiliates/commissions/${sale.id}`, { status: 'approved' });
    const payout = {
      creator_email: email,
      method: 'wallet',
      wallet_email: 'books@pay.example',
      commission_ids: [sale.id],
    };
    expect((await desk.send('POST', '/v1/payouts', { ...payout, amount: 10 })).status).toBe(201);
    const erased = await desk.send('POST', '/v1/data-requests', {
      kind: 'erasure',
      creator_email: email,
      forfeit: true,
    });
    expect(erased.body.data, JSON.stringify(erased.body)).toMatchObject({ state: 'done' });
    return { desk, request: erased.body.data };
  }

  it('stay sealed for the brand’s years, open for an owner who says why, and then go', async () => {
    const { desk, request } = await paid();
    const end = `${clock.now().getUTCFullYear() + 11}-01-01T00:00:00.000Z`;
    expect(request.books_until).toBe(end);
    expect(request.kept[0]).toMatchObject({ until: end, what: expect.stringContaining('signed contracts') });
    const { db } = app.context.postgres;
    expect(await findTraces(db, [NAME, 'books@pay.example'])).toEqual([]);
    const path = `/v1/data-requests/${request.id}/books`;
    const why = { reason: 'Tax audit' };
    expect((await desk.send('POST', path, why)).status).toBe(403);
    const owner = await signIn(app, desk.brand.id);
    const opened = await owner.send('POST', path, why);
    expect(opened.body.data).toMatchObject({ name: NAME, email, payment_addresses: ['books@pay.example'] });
    const { rows } = await sql<{ told: string }>`
      select new_values ->> 'reason' as told from audit_log
      where brand_id = ${desk.brand.id} and operation = 'open_data_request_books'`.execute(db);
    expect(rows).toEqual([{ told: 'Tax audit' }]);

    clock.at += 12 * YEAR_MS;
    await endDataRequests.run(app.context);
    const left = await db
      .selectFrom('dataRequests')
      .select(['books', 'booksUntil'])
      .where('id', '=', request.id)
      .execute();
    expect(left).toEqual([{ books: null, booksUntil: null }]);
    clock.at -= 12 * YEAR_MS;
  });

  it('are not kept where the brand keeps none', async () => {
    const { request } = await paid(0);
    expect(request.books_until).toBeNull();
  });
});
