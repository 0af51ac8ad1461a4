import { createHash } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { expireDue } from '../../src/workflow/contracts/contracts.jobs.ts';
import { problemsOf } from '../harness/affiliates/affiliates.ts';
import { startApp, type TestApp } from '../harness/app.ts';
import { makeDatabase, type TestDatabase } from '../harness/database.ts';
import { TIME } from '../harness/platform/people.ts';
import { BEHIND_PROXY, listEvents } from '../harness/workflow/applying.ts';
import { openWorkDesk, type WorkDesk } from '../harness/workflow/work.ts';

const DAY_MS = 86_400_000;
/** Contracts of all brands expire, by a clock that is ahead. */
let database: TestDatabase;
let app: TestApp;
let nowMs = Date.now();

beforeAll(async () => {
  database = await makeDatabase('contracts');
  const urls = { postgres: database.url };
  app = await startApp({ env: BEHIND_PROXY, clock: { now: () => new Date(nowMs++) }, urls });
});
afterAll(async () => {
  await app?.close();
  await database?.drop();
});

const TWO_REELS = { type: 'reel', platform: 'photo_app', quantity: 2 };
const inDays = (days: number) => new Date(nowMs + days * DAY_MS).toISOString();

async function draft(desk: WorkDesk, more: object = {}) {
  const input = { creator_email: desk.creator, title: 'Summer', deliverables: [TWO_REELS], ...more };
  const { status, body } = await desk.post('/v1/contracts', input);
  expect(status, JSON.stringify(body)).toBe(201);
  return body.data;
}

const sent = async (desk: WorkDesk, more: object = {}) => await draft(desk, { send_for_signature: true, ...more });
const sign = (desk: WorkDesk, link: string, name = 'Ana Diaz') => desk.fill(link, { name, agree: 'yes' });
const states = async (desk: WorkDesk, id: string) =>
  (await desk.read(`/v1/deliverables?contract_id=${id}`)).map(({ status }: { status: string }) => status);

/** What only the older interface announces: it stands in the outbox. */
async function listSigned({ brand }: WorkDesk) {
  const { db } = app.context.postgres;
  return await db
    .selectFrom('outbox')
    .select(['event', 'data'])
    .where('brandId', '=', brand.id)
    .where('event', '=', 'contract.signed')
    .execute();
}

describe('a contract', () => {
  it('is made as a draft without a link, with one deliverable for each unit', async () => {
    const desk = await openWorkDesk(app);
    const data = await draft(desk, {
      campaign_id: desk.campaign,
      compensation: { type: 'fixed', amount: 500, currency: 'USD' },
      deliverables: [TWO_REELS, { type: 'story', due_date: '2030-05-01' }],
      usage_rights: 'Six months of ads.',
      terms: { channels: ['ads'], days: 180 },
    });
    expect(data).toEqual({
      ...{ id: expect.stringMatching(/^ctr_/), title: 'Summer', status: 'draft', creator_email: desk.creator },
      ...{ created_at: expect.stringMatching(TIME), signature_url: null },
    });
    expect(await desk.read(`/v1/contracts/${data.id}`)).toMatchObject({
      ...{ campaign_id: desk.campaign, compensation: { type: 'fixed', amount: 500, currency: 'USD' } },
      deliverables: [
        { ...TWO_REELS, due_date: null },
        { type: 'story', platform: null, quantity: 1, due_date: '2030-05-01' },
      ],
      terms: { channels: ['ads'], territory: null, days: 180, starts: 'signed', starts_on: null },
      ...{ signed_at: null, signer_name: null, content_sha256: null, expired_reason: null },
    });
    const deliverables = await desk.read(`/v1/deliverables?contract_id=${data.id}`);
    expect(deliverables).toHaveLength(3);
    expect(deliverables[0]).toMatchObject({
      ...{ contract_id: data.id, campaign_id: desk.campaign, creator_email: desk.creator, status: 'pending' },
    });
    expect(await desk.mails()).toEqual([]);
    expect((await desk.get(`/v1/contracts/${data.id}/document`)).status).toBe(404);
  });

  it('is refused with every problem named at once', async () => {
    const desk = await openWorkDesk(app);
    const { status, body } = await desk.post('/v1/contracts', {
      ...{ creator_email: 'stranger@example.com', campaign_id: 'cmp_missing', title: 'x' },
      expires_at: '2020-01-01T00:00:00Z',
    });
    expect(status).toBe(422);
    expect(problemsOf({ body }).sort()).toEqual([
      'campaign_id not_found',
      'creator_email not_on_roster',
      'expires_at past',
    ]);
    const units = Array.from({ length: 3 }, () => ({ type: 'reel', quantity: 100 }));
    const wrong = { creator_email: desk.creator, title: 'x', deliverables: units };
    expect((await desk.post('/v1/contracts', wrong)).body.details[0].field).toBe('deliverables');
    const terms = { starts: 'fixed' };
    expect((await desk.post('/v1/contracts', { ...wrong, deliverables: [], terms })).status).toBe(422);
  });

  it('can be made for an applicant to a campaign, but not for a removed creator', async () => {
    const desk = await openWorkDesk(app);
    const [entry] = await desk.read('/v1/roster');
    await desk.send('DELETE', `/v1/roster/${entry.id}`);
    const { body } = await desk.post('/v1/contracts', { creator_email: desk.creator, title: 'x' });
    expect(problemsOf({ body })).toEqual(['creator_email not_on_roster']);
  });

  it('can be changed with its deliverables while it is a draft, but not once it is sent', async () => {
    const desk = await openWorkDesk(app);
    const other = await desk.onRoster();
    const expires_at = inDays(9);
    const { id } = await draft(desk, { usage_rights: 'old', expires_at });
    const changed = await desk.send('PATCH', `/v1/contracts/${id}`, {
      title: 'New',
      creator_email: other,
      usage_rights: null,
    });
    expect(changed.body.data).toMatchObject({
      title: 'New',
      creator_email: other,
      usage_rights: null,
      expires_at,
    });
    expect((await desk.read(`/v1/deliverables?contract_id=${id}`))[0].creator_email).toBe(other);
    await desk.send('PATCH', `/v1/contracts/${id}`, { deliverables: [{ type: 'story' }] });
    expect(await desk.read(`/v1/deliverables?contract_id=${id}`)).toMatchObject([
      { type: 'story', creator_email: other },
    ]);
    await desk.post(`/v1/contracts/${id}/send`, {});
    const { status, body } = await desk.send('PATCH', `/v1/contracts/${id}`, { title: 'Newer' });
    expect([status, body.code, body.current_status]).toEqual([409, 'INVALID_STATE_TRANSITION', 'sent']);
  });

  it('is mailed with a link; sending it again mails a new link and revokes the first', async () => {
    const desk = await openWorkDesk(app);
    const { id, status, signature_url } = await sent(desk);
    expect(status).toBe('sent');
    expect(await desk.linkTo('sign')).toBe(signature_url);
    const again = (await desk.post(`/v1/contracts/${id}/send`, {})).body.data;
    expect(again).toMatchObject({ id, status: 'sent' });
    expect(again.signature_url).not.toBe(signature_url);
    expect((await desk.open(signature_url)).status).toBe(404);
    expect((await desk.open(again.signature_url)).status).toBe(200);
    expect((await desk.mails()).map(({ kind }) => kind)).toEqual(['contract_sent', 'contract_sent']);
  });

  it('says what became of the mail with its link', async () => {
    const desk = await openWorkDesk(app);
    const { id } = await sent(desk);
    const read = async () => (await desk.read(`/v1/contracts/${id}`)).email_state;
    expect(await read()).toBe('queued');
    const { db } = app.context.postgres;
    const set = (state: 'held' | 'queued' | 'sent', reason: 'brand_limit' | 'imitation' | null) =>
      db
        .updateTable('mails')
        .set({
          ...{ state, reason, nextAttemptAt: state === 'queued' ? new Date() : null },
          sentAt: state === 'sent' ? new Date() : null,
        })
        .where('kind', '=', 'contract_sent')
        .where('brandId', '=', desk.brand.id)
        .execute();
    await set('queued', 'brand_limit');
    expect(await read()).toBe('delayed');
    await set('held', 'imitation');
    expect(await read()).toBe('held');
    await set('sent', null);
    expect(await read()).toBe('sent');
    expect((await desk.post(`/v1/contracts/${id}/void`, {})).body.data.email_state).toBeNull();
  });

  it('can be sent even if it expires thousands of years from now', async () => {
    const desk = await openWorkDesk(app);
    const input = {
      creator_email: desk.creator,
      title: 'For good',
      expires_at: '9999-12-31',
      send_for_signature: true,
    };
    const { status, body } = await desk.post('/v1/contracts', input);
    expect([status, body.data?.status]).toEqual([201, 'sent']);
    expect((await desk.open(await desk.linkTo('sign'))).status).toBe(200);
    expect((await desk.open(body.data.signature_url)).status).toBe(200);
  });

  it('is signed by name and consent: evidence is kept, both sides get a mail, and one event is emitted', async () => {
    const desk = await openWorkDesk(app);
    const { id, signature_url } = await sent(desk, { usage_rights: 'Six months.' });
    const refused = await desk.fill(signature_url, { name: 'A' });
    expect(refused.status).toBe(422);
    expect(refused.text).toContain('Type your full name.');
    expect(refused.text).toContain('Tick this box to sign.');
    expect((await sign(desk, signature_url)).status).toBe(303);
    const contract = await desk.read(`/v1/contracts/${id}`);
    expect(contract).toMatchObject({
      status: 'signed',
      signer_name: 'Ana Diaz',
      signed_at: expect.stringMatching(TIME),
    });
    const document = await desk.read(`/v1/contracts/${id}/document`);
    const sha256 = createHash('sha256').update(document.document).digest('hex');
    expect([document.sha256, contract.content_sha256]).toEqual([sha256, sha256]);
    expect(JSON.parse(document.document)).toMatchObject({ contract_id: id, usage_rights: 'Six months.', version: 1 });
    expect(document.html).toContain('Six months.');
    const signed = (await desk.mails()).filter(({ kind }) => kind.startsWith('contract_signed'));
    expect(signed.map(({ to }) => to).sort()).toEqual([desk.creator, desk.contact].sort());
    for (const { text } of signed) expect(text).toContain(sha256);
    const reported = await listSigned(desk);
    expect(reported).toEqual([{ event: 'contract.signed', data: (await desk.read('/v1/contracts'))[0] }]);
    expect((await desk.open(signature_url)).text).toContain('Signed by Ana Diaz');
  });

  it('seals the evidence of who signed from where, and keeps no link in its rows', async () => {
    const desk = await openWorkDesk(app);
    const { id, signature_url } = await sent(desk);
    await sign(desk, signature_url);
    const { db } = app.context.postgres;
    const row = await db.selectFrom('contracts').selectAll().where('id', '=', id).executeTakeFirstOrThrow();
    const opened = [row.signerIpSealed, row.signerAgentSealed].map((sealed) =>
      app.context.secrets.open(sealed ?? Buffer.alloc(0), `contract ${id}`),
    );
    expect(opened).toEqual([expect.stringMatching(/^10\./), expect.stringContaining('Chrome')]);
    const log = JSON.stringify(await desk.read(`/v1/audit-log?resource_id=${id}`));
    const token = new URL(signature_url).pathname.split('/')[2] ?? '';
    const mails = JSON.stringify(
      await db.selectFrom('mails').selectAll().where('brandId', '=', desk.brand.id).execute(),
    );
    for (const kept of [log, mails, JSON.stringify(row)]) expect(kept).not.toContain(token);
    expect(log).not.toContain('Chrome');
  });

  it('is signed once by 20 concurrent signers; the others see that it is already signed', async () => {
    const desk = await openWorkDesk(app);
    const { id, signature_url } = await sent(desk);
    const answers = await Promise.all(Array.from({ length: 20 }, (_, i) => sign(desk, signature_url, `Signer ${i}`)));
    const statuses = answers.map(({ status }) => status);
    expect(statuses.filter((status) => status === 303)).toHaveLength(1);
    expect(statuses.filter((status) => status === 409)).toHaveLength(19);
    const { signer_name } = await desk.read(`/v1/contracts/${id}`);
    for (const { status, text } of answers)
      if (status === 409) expect(text).toContain(`already signed: by ${signer_name}`);
    expect(await listSigned(desk)).toHaveLength(1);
  });

  it('cannot be signed once it has expired, even before the job expires it and cancels its deliverables', async () => {
    const desk = await openWorkDesk(app);
    const { id, signature_url } = await sent(desk, { expires_at: inDays(3) });
    const late = await sent(desk, { expires_at: inDays(2) });
    nowMs += 3 * DAY_MS;
    expect((await sign(desk, signature_url)).status).toBe(404);
    expect((await desk.read(`/v1/contracts/${id}`)).status).toBe('sent');
    const { status, body } = await desk.post(`/v1/contracts/${id}/send`, {});
    expect([status, body.current_status, body.allowed]).toEqual([409, 'expired', []]);
    await expireDue(app.context);
    for (const one of [id, late.id]) {
      expect(await desk.read(`/v1/contracts/${one}`)).toMatchObject({ status: 'expired', expired_reason: 'expired' });
      expect(await states(desk, one)).toEqual(['cancelled', 'cancelled']);
    }
    await expireDue(app.context);
    const cancelled = (await listEvents(app, desk.brand.id)).filter(({ event }) => event === 'deliverable.cancelled');
    expect(cancelled).toHaveLength(4);
  });

  it('cannot be signed or sent once voided, and cannot be voided once signed; voiding twice changes nothing', async () => {
    const desk = await openWorkDesk(app);
    const { id, signature_url } = await sent(desk);
    const voided = await desk.post(`/v1/contracts/${id}/void`, {});
    expect(voided.body.data).toMatchObject({ status: 'expired', expired_reason: 'voided' });
    expect((await desk.post(`/v1/contracts/${id}/void`, {})).status).toBe(200);
    expect((await sign(desk, signature_url)).status).toBe(404);
    expect((await desk.post(`/v1/contracts/${id}/send`, {})).status).toBe(409);
    expect(await states(desk, id)).toEqual(['cancelled', 'cancelled']);
    expect((await desk.mails())[0]).toMatchObject({ kind: 'contract_voided', to: desk.creator });
    expect(
      (await listEvents(app, desk.brand.id)).filter(({ event }) => event === 'deliverable.cancelled'),
    ).toHaveLength(2);
    const other = await sent(desk);
    await sign(desk, other.signature_url);
    const refused = await desk.post(`/v1/contracts/${other.id}/void`, {});
    expect([refused.status, refused.body.current_status, refused.body.allowed]).toEqual([409, 'signed', []]);
  });

  it('ends up signed or voided when both happen at once, never both', async () => {
    const desk = await openWorkDesk(app);
    for (let i = 0; i < 5; i += 1) {
      const { id, signature_url } = await sent(desk);
      const [signing, voiding] = await Promise.all([
        sign(desk, signature_url),
        desk.post(`/v1/contracts/${id}/void`, {}),
      ]);
      const { status } = await desk.read(`/v1/contracts/${id}`);
      expect([signing.status === 303, voiding.status === 200]).toEqual([status === 'signed', status === 'expired']);
    }
  });

  it('is found by creator, campaign and status, and downloaded as CSV', async () => {
    const desk = await openWorkDesk(app);
    const other = await desk.onRoster();
    await draft(desk, { campaign_id: desk.campaign });
    await sent(desk, { creator_email: other });
    const total = async (query: string) => (await desk.get(`/v1/contracts?${query}`)).body.pagination.total;
    expect(await total(`creator_email=${other.toUpperCase()}`)).toBe(1);
    expect(await total(`campaign_id=${desk.campaign}`)).toBe(1);
    expect(await total('status=sent')).toBe(1);
    expect(await total('status=signed')).toBe(0);
    const { body } = await desk.get('/v1/contracts', 'text/csv');
    expect(body.split('\n')[0]).toMatch(
      /^id,creator_email,creator_name,campaign_id,title,status,compensation\.type,compensation\.amount,compensation\.currency,deliverables,/,
    );
    expect(body).toContain('""quantity"":2');
  });
});

it('a contract that is sent under an Idempotency-Key is sent once, and its kept answer is sealed', async () => {
  const desk = await openWorkDesk(app);
  const key = await desk.brand.key('brand');
  const body = JSON.stringify({ creator_email: desk.creator, title: 'Twin', send_for_signature: true });
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json', 'idempotency-key': 'twin' };
  const once = async () => (await fetch(`${app.url}/v1/contracts`, { method: 'POST', headers, body })).json();
  const [first, second] = [await once(), await once()];
  expect(second).toEqual(first);
  expect((await desk.mails()).filter(({ kind }) => kind === 'contract_sent')).toHaveLength(1);
  const { db } = app.context.postgres;
  const kept = await db.selectFrom('idempotencyKeys').selectAll().where('brandId', '=', desk.brand.id).execute();
  for (const { answer } of kept) expect(answer?.toString('latin1')).not.toContain('/sign/');
});
