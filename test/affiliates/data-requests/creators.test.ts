import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { endDataRequests } from '../../../src/affiliates/data-requests/data-requests.jobs.ts';
import { verifyRecords } from '../../../src/affiliates/ledger/verify-ledger.ts';
import { insertSuppression } from '../../../src/kit/mail/mails.ts';
import { sendDueMails } from '../../../src/kit/mail/sender.ts';
import { type Assignment, daysAgo, makeAssignment, makeSale } from '../../harness/affiliates/sales.ts';
import { send, startApp, type TestApp } from '../../harness/app.ts';
import { makeDatabase, ownRedis, type TestDatabase } from '../../harness/database.ts';
import { importFile } from '../../harness/platform/importing.ts';
import { findTraces } from '../../harness/platform/traces.ts';
import { apply, BEHIND_PROXY } from '../../harness/workflow/applying.ts';
import { reply } from '../../harness/workflow/talking.ts';
import { openWorkDesk, type WorkDesk } from '../../harness/workflow/work.ts';
import { submit } from '../../harness/workflow/worked-brand.ts';

let app: TestApp;
let database: TestDatabase;
let desk: WorkDesk;

beforeAll(async () => {
  database = await makeDatabase('erased');
  app = await startApp({ env: BEHIND_PROXY, urls: { redis: ownRedis(), postgres: database.url } });
  desk = await openWorkDesk(app, EMAIL);
});
afterAll(async () => {
  await app?.close();
  await database?.drop();
});

const EMAIL = 'gone.person@creators.example';
/** What the person and the brand wrote of them, by the product's doors. */
const STRINGS = [
  EMAIL,
  'Gone Personowitz',
  'gonemakes',
  'wallet.gone@pay.example',
  'Gonella Legalname',
  'calls at five',
  '1 Own Street',
  'Here is my whole story',
  'Let us talk about shoes',
  'It came with a scratch',
  'gonetag',
  'paid by hand to Gonella',
  'Signed Gonella',
  'Where is my bonus money',
  'second.gone@pay.example',
  'Gonella Secondname',
  'older.gone@creators.example',
];

const traces = () => findTraces(app.context.postgres.db, STRINGS);
const problems = async () => (await verifyRecords(app.context.postgres.db, desk.brand.id)).problems;

async function made(method: string, path: string, body: object) {
  const answer = await desk.send(method, path, body);
  expect(answer.status, `${path} ${JSON.stringify(answer.body)}`).toBeLessThan(300);
  return answer.body.data;
}

const findEntry = async (email: string): Promise<string> =>
  (await desk.get(`/v1/roster?creator_email=${email}`)).body.data[0].id;

/** Somebody who was asked for work, sent goods, paid and talked to. */
async function makePerson(): Promise<{ rosterId: string; creatorId: string }> {
  const rosterId = await findEntry(EMAIL);
  await made('PATCH', `/v1/roster/${rosterId}`, {
    ...{ name: 'Gone Personowitz', note: 'calls at five', ig_handle: '@gonemakes', tags: ['gonetag'] },
  });
  await apply(app, desk.campaign, { email: EMAIL, name: 'Gone Personowitz', message: 'Here is my whole story' });
  await made('POST', '/v1/shipments', {
    ...{ creator_email: EMAIL, product_description: 'Box' },
    shipping_address: { street: '1 Own Street', city: 'Austin', state: 'TX', zip: '78701', country: 'US' },
  });
  await made('POST', '/v1/contracts', {
    ...{ creator_email: EMAIL, campaign_id: desk.campaign, title: 'For Gone Personowitz', send_for_signature: true },
    ...{ deliverables: [{ type: 'reel', platform: 'video_app' }] },
  });
  expect((await desk.fill(await desk.linkTo('sign'), { name: 'Signed Gonella', agree: 'yes' })).status).toBe(303);
  const [{ id }] = await desk.read('/v1/deliverables');
  await submit(desk, id, 1);
  const brief = await made('POST', '/v1/briefs', {
    title: 'For Gone Personowitz',
    creator_email: EMAIL,
    instructions: 'Shoes',
  });
  await made('POST', `/v1/briefs/${brief.id}`, { action: 'send' });
  await made('POST', '/v1/messages', { creator_email: EMAIL, body: 'Let us talk about shoes', send_email: true });
  const talk = (await desk.mails()).flatMap(({ links }) => links).find((link) => link.includes('/talk/'));
  await reply(`${app.url}${new URL(talk ?? '').pathname}`, 'It came with a scratch');
  await made('POST', '/v1/content', { url: 'https://www.instagram.com/reel/Cgonemakes', creator_email: EMAIL });
  await made('PUT', `/v1/roster/${rosterId}/payment`, {
    ...{ method: 'wallet', wallet_email: 'wallet.gone@pay.example', legal_name: 'Gonella Legalname', country: 'US' },
  });
  const { creatorId } = await earn();
  // Waits, because money went to the first address.
  await made('PUT', `/v1/roster/${rosterId}/payment`, {
    ...{ method: 'wallet', wallet_email: 'second.gone@pay.example', legal_name: 'Gonella Secondname' },
  });
  const other = { creator_email: 'older.gone@creators.example' };
  const { id: otherId } = await made('POST', '/v1/roster', other);
  await made('POST', '/v1/messages', { ...other, body: 'Hello', send_email: true });
  await made('POST', `/v1/roster/${otherId}/merge`, { into: creatorId });
  return { rosterId, creatorId };
}

/** Paid for one sale with a note and a question about it; another is due. */
async function earn(): Promise<Assignment> {
  const assignment = await makeAssignment(app.context, desk.brand, {
    email: EMAIL,
    name: 'Gone Personowitz',
    holdDays: 0,
  });
  for (const days of [70, 60]) {
    const sale = await makeSale(app.context, desk.brand, { assignment, occurredAt: daysAgo(days) });
    await made('PATCH', `/v1/affiliates/commissions/${sale.id}`, {
      status: 'approved',
      note: 'by hand for Gone Personowitz',
    });
    if (days === 70) {
      const paid = { creator_email: EMAIL, method: 'wallet', amount: 10, note: 'paid by hand to Gonella' };
      await made('POST', '/v1/payouts', { ...paid, commission_ids: [sale.id] });
    }
  }
  const day = (days: number) => daysAgo(days).toISOString().slice(0, 10);
  const statement = await made('POST', '/v1/statements', { creator_email: EMAIL, from: day(80), to: day(0) });
  const { pathname, search } = new URL(statement.url);
  const line =
    /name="line" value="(\w+)"/.exec(await (await fetch(`${app.url}${pathname}${search}`)).text())?.[1] ?? '';
  const asked = await desk.fill(statement.url, { line, message: 'Where is my bonus money' });
  expect(asked.status, asked.text).toBe(303);
  return assignment;
}

const sums = async () => ({
  balance: (await desk.get('/v1/affiliates/totals')).body,
  payouts: (await desk.get('/v1/payouts')).body.data.map(({ amount, status, method }: Record<string, unknown>) => [
    amount,
    status,
    method,
  ]),
  ledger: await app.context.postgres.db
    .selectFrom('ledgerEntries')
    .select(['seq', 'kind', 'postings'])
    .where('brandId', '=', desk.brand.id)
    .orderBy('seq')
    .execute(),
});

describe('an erasure of a creator', () => {
  it('leaves nothing of the person in PostgreSQL, whatever was done with them, and the ledger as it was', async () => {
    const { rosterId, creatorId } = await makePerson();
    await sendDueMails(app.context);
    expect(await problems()).toEqual([]);
    const there = new Set((await traces()).map((one) => one.slice(one.indexOf(': ') + 2)));
    expect(STRINGS.filter((text) => !there.has(text))).toEqual([]);
    const before = await sums();

    const wish = { kind: 'erasure', creator_email: EMAIL, reason: `Asked by ${STRINGS[1]}` };
    const refused = await desk.send('POST', '/v1/data-requests', wish);
    expect([refused.status, refused.body.code, refused.body.balances]).toEqual([
      ...[409, 'MONEY_DUE'],
      [expect.objectContaining({ currency: 'USD', approved: 10 })],
    ]);
    const answer = await desk.send('POST', '/v1/data-requests', { ...wish, forfeit: true });
    expect(answer.status, JSON.stringify(answer.body)).toBe(201);
    expect(answer.body.data).toMatchObject({ state: 'done', subject: 'creator', source: 'api', creator_id: creatorId });
    await endDataRequests.run(app.context);
    expect(await traces()).toEqual([]);
    expect(await problems()).toEqual([]);
    const after = await sums();
    expect(after.payouts).toEqual(before.payouts);
    expect(after.ledger.slice(0, before.ledger.length)).toEqual(before.ledger);
    expect(after.ledger.slice(before.ledger.length).map(({ kind }) => kind)).toEqual(['rejection']);

    expect((await desk.get(`/v1/roster/${rosterId}`)).status).toBe(404);
    expect((await desk.get('/v1/creators?search=gone')).body.data).toEqual([]);
    expect((await desk.get('/v1/payouts')).body.data).toMatchObject([
      { creator_email: null, creator_name: null, note: null },
    ]);
  });

  it('is done with nothing removed for the same person again, and for one whom nobody knows', async () => {
    for (const creator_email of [EMAIL, 'nobody@creators.example']) {
      const { body } = await desk.send('POST', '/v1/data-requests', { kind: 'erasure', creator_email });
      expect(body.data).toMatchObject({ state: 'done', removed: {}, creator_id: null });
    }
  });

  it('is refused for two people at once, and for nobody', async () => {
    const both = { kind: 'erasure', creator_email: EMAIL, customer_email: EMAIL };
    for (const body of [both, { kind: 'erasure' }, { kind: 'access', creator_id: 'crt_x', creator_handle: 'x' }]) {
      expect((await desk.send('POST', '/v1/data-requests', body)).status).toBe(422);
    }
  });

  it('is refused, instead of done with nothing removed, for ids of another kind', async () => {
    const kind = 'erasure';
    for (const [field, body] of [
      ['creator_id', { kind, creator_id: 'rst_0Uo3xK2mVdT2aXs7LpRb' }],
      ['order_ids.0', { kind, order_ids: ['#1001'] }],
      ['order_ids.1', { kind, order_ids: ['1001', ' '] }],
    ] as const) {
      const { status, body: answer } = await desk.send('POST', '/v1/data-requests', body);
      expect([status, answer.details?.[0].field]).toEqual([422, field]);
    }
  });

  it('leaves alone who shares a word or a part of an address with the person, and answers kept for repeated calls', async () => {
    const [email, other] = ['anna.lee@creators.example', 'hanna.lee@creators.example'];
    for (const [one, patch] of [
      [email, { name: 'Anna', tags: ['sale'] }],
      [other, { name: 'Hanna Lee', tags: ['sale'] }],
    ] as const) {
      await desk.onRoster(one);
      await made('PATCH', `/v1/roster/${await findEntry(one)}`, patch);
    }
    const assignment = await makeAssignment(app.context, desk.brand, { email: other, name: 'Hanna Lee', holdDays: 0 });
    await makeSale(app.context, desk.brand, { assignment, occurredAt: daysAgo(3) });
    const post = async () => {
      const body = { title: `As ${email} has it`, creator_email: other };
      return await send(`${app.url}/v1/briefs`, await desk.brand.key('brand'), 'POST', body, {
        'idempotency-key': 'as-anna-has-it',
      });
    };
    const first = await post();
    expect(first.status, JSON.stringify(first.body)).toBe(201);
    const told = async () =>
      await app.context.postgres.db
        .selectFrom('outbox')
        .select('data')
        .where('brandId', '=', desk.brand.id)
        .where(sql<boolean>`data::text like ${`%${other}%`}`)
        .orderBy('id')
        .execute();
    const before = await told();
    expect(before.length).toBeGreaterThan(0);
    await made('POST', '/v1/data-requests', { kind: 'erasure', creator_email: email });
    expect(await told()).toEqual(before);
    const again = await post();
    expect([again.status, again.body.data.id, again.body.data.title]).toEqual([201, first.body.data.id, null]);
  });

  it('is of the creator with a handle or a profile’s address, and asks whom a handle means that two have', async () => {
    const erase = (creator_handle: string) =>
      desk.send('POST', '/v1/data-requests', { kind: 'erasure', creator_handle });
    await made('POST', '/v1/roster/add', { ig_handle: '@onlyone' });
    await made('POST', '/v1/roster/add', { ig_handle: '@samehandle' });
    await made('POST', '/v1/roster/add', { tt_handle: '@samehandle' });
    const { status, body } = await erase('samehandle');
    expect([status, body.details]).toEqual([
      422,
      [expect.objectContaining({ field: 'creator_handle', code: 'ambiguous' })],
    ]);
    const one = await erase('https://instagram.com/OnlyOne');
    expect(one.body.data).toMatchObject({ state: 'done', removed: { creators: 1 } });
  });

  it('asks for whom an address is that is another spelling of a creator’s, instead of being done with nothing removed', async () => {
    const erase = (creator_email: string) => desk.send('POST', '/v1/data-requests', { kind: 'erasure', creator_email });
    for (const [own, asked] of [
      ['spelled.this.way@gmail.com', 'spelledthisway@googlemail.com'],
      ['spelled+work@creators.example', 'spelled@creators.example'],
    ] as const) {
      await desk.onRoster(own);
      const { status, body } = await erase(asked);
      const message = expect.stringContaining(`${own} reaches the same mailbox`);
      expect([status, body.details]).toEqual([422, [{ field: 'creator_email', code: 'ambiguous', message }]]);
      expect((await erase(own)).body.data).toMatchObject({ state: 'done', removed: { creators: 1 } });
      expect((await erase(asked)).body.data).toMatchObject({ state: 'done', removed: {} });
    }
  });

  it('keeps that somebody wants no mails, who comes back under the same address', async () => {
    const email = 'no.mails@creators.example';
    await desk.onRoster(email);
    await insertSuppression(app.context.postgres.db, desk.brand.id, email, new Date());
    await made('POST', '/v1/data-requests', { kind: 'erasure', creator_email: email });
    expect(await findTraces(app.context.postgres.db, [email])).toEqual([]);
    await desk.onRoster(email);
    const brief = await made('POST', '/v1/briefs', { title: 'Shoes', creator_email: email });
    const { body } = await desk.send('POST', `/v1/briefs/${brief.id}`, { action: 'send' });
    expect(JSON.stringify(body)).toContain('suppressed');
  });

  it('lets the address be a new creator’s', async () => {
    await desk.onRoster(EMAIL);
    const { data } = (await desk.get(`/v1/creators?creator_email=${EMAIL}`)).body;
    expect(data).toMatchObject([{ name: null, tags: [] }]);
  });

  it('takes somebody who applied and never became a creator, whose file was empty else, and finds one by an earlier address', async () => {
    const [email, name, message] = ['only.applied@mail.example', 'Onlya Applicantova', 'applied with a long story'];
    await apply(app, desk.campaign, { email, name, message });
    const ask = (kind: string) => made('POST', '/v1/data-requests', { kind, creator_email: email.toUpperCase() });
    expect((await ask('access')).removed).toMatchObject({ applications: 1 });
    expect((await ask('erasure')).removed).toMatchObject({ applications: 1, outbox: 1 });
    await endDataRequests.run(app.context);
    expect(await findTraces(app.context.postgres.db, [email, name, message])).toEqual([]);
    expect((await ask('erasure')).removed).toEqual({});

    const addresses = ['earlier.mail@mail.example', 'later.mail@mail.example'];
    const { id } = await made('POST', '/v1/roster', { creator_email: addresses[0] });
    await made('PATCH', `/v1/roster/${id}`, { creator_email: addresses[1] });
    await made('POST', '/v1/data-requests', { kind: 'erasure', creator_email: addresses[0] });
    expect(await findTraces(app.context.postgres.db, addresses)).toEqual([]);
    expect(await problems()).toEqual([]);
  });

  it('empties the whole line of an import that names them, also as a sample, and imports are listed as before', async () => {
    const csv =
      'Name,Email,Instagram,Notes\nImporta Personova,imported.one@mail.example,importahandle,likes importednuts\n';
    await importFile(app, await desk.brand.key('brand'), 'roster', csv);
    await made('POST', '/v1/data-requests', { kind: 'erasure', creator_email: 'imported.one@mail.example' });
    const texts = ['imported.one@mail.example', 'Importa Personova', 'importahandle', 'importednuts'];
    expect(await findTraces(app.context.postgres.db, texts)).toEqual([]);
    const listed = await desk.get('/v1/imports');
    expect(listed.status, JSON.stringify(listed.body)).toBe(200);
    const [{ id }] = listed.body.data;
    expect((await desk.get(`/v1/imports/${id}`)).status).toBe(200);
    expect((await desk.get(`/v1/imports/${id}/lines`)).status).toBe(200);
  });
});
