import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { renderBody, renderHeaders } from '../../../src/platform/webhooks/signing.ts';
import { call, made, makeBrand, send, type TestApp, type TestBrand, unique, until } from '../../harness/app.ts';
import { mailsOf } from '../../harness/kit/mail.ts';
import { type Receiver, startReceiver } from '../../harness/kit/receiver.ts';
import {
  APPLICATION,
  emit,
  openClock,
  startAlone,
  startWebhookWorker,
  type Worker,
  webhook,
} from '../../harness/platform/webhooks.ts';

let app: TestApp;
let receiver: Receiver;
let worker: Worker;
const clock = openClock();
const paths = new Map<string, number>();

beforeAll(async () => {
  app = await startAlone(clock);
  receiver = await startReceiver();
  receiver.answer = ({ path }, response) => void response.writeHead(paths.get(path) ?? 200).end();
  worker = startWebhookWorker(app);
});
afterAll(async () => {
  await worker?.stop();
  await receiver?.close();
  await app?.close();
});

const SECRET = 'whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwd';
const EXAMPLE = {
  eventId: 'evt_0Tb5wZk3MnOpQrStUvWx',
  event: 'commission.approved',
  createdAt: new Date('2026-11-22T09:30:00.123Z'),
  data: '{"id":"com_0Tb5wZk3aBcDeFgHiJkL","creator_email":"zoë@example.com","creator_name":"Zoë","commission_amount":12.5,"status":"approved"}',
};

describe('the bytes of a delivery', () => {
  const sign = (variant: 'current' | 'legacy') => {
    const body = renderBody({ variant, ...EXAMPLE });
    const at = new Date(1_795_339_801_000);
    const signing = { variant, eventId: EXAMPLE.eventId, deliveryId: 'whd_x', at, isTest: false };
    return { body, headers: renderHeaders({ ...signing, secrets: [SECRET] }, body) };
  };

  it('match the documented example', () => {
    const { body, headers } = sign('current');
    expect(Buffer.byteLength(body)).toBe(213);
    expect(body).toBe(`{"event":"commission.approved","createdAt":"2026-11-22T09:30:00.123Z","data":${EXAMPLE.data}}`);
    expect(headers).toMatchObject({
      'x-service-signature': 'sha256=9fed5d52bf9ec64b87f6960168bf0d8bca34daf97b7b448984438921d1b6ab1b',
      'webhook-id': 'evt_0Tb5wZk3MnOpQrStUvWx',
      'webhook-timestamp': '1795339801',
      'webhook-signature': 'v1,OnLve9fyKQW2gkGJl21ZJzWtn9vJ4xkWLHNO08o1o7I=',
    });
  });

  it('match the older example on the older interface, with other keys and a bare digest', () => {
    const { body, headers } = sign('legacy');
    expect(Buffer.byteLength(body)).toBe(245);
    expect(body).toMatch(/^\{"id":"evt_0Tb5wZk3MnOpQrStUvWx","type":"commission.approved","created_at":"2026-/);
    expect(headers['x-service-signature']).toBe('8e3cfe26f9bc64c0f3ac1603c05a0ea80c73cb488f4a30db15d51c00ef05817f');
  });
});

interface Older {
  brand: TestBrand;
  key: string;
  id: string;
  path: string;
  requests: () => Receiver['received'];
}

async function subscribeOlder(events: string[], status: number): Promise<Older> {
  const brand = await makeBrand(app.context);
  const key = await brand.key('brand');
  await send(`${app.url}/v1/brand`, key, 'PATCH', { contact_email: 'desk@brand.example' });
  const path = `/${unique('older')}`;
  paths.set(path, status);
  const input = { url: `${receiver.url}${path}`, events, secret: SECRET };
  const { id } = await made(`${app.url}/api/v1/webhooks`, key, input);
  return { brand, key, id, path, requests: () => receiver.at(path) };
}

const MINUTE = 60_000;
const announce = ({ brand }: Older) => emit(app, brand, 'application.received', APPLICATION);
/** Attempts so many, by the clock set forward to each. */
async function attempt(older: Older, aheadMs: readonly number[]): Promise<void> {
  for (const ms of aheadMs) {
    const before = older.requests().length;
    await until('the attempt before to be recorded', async () => {
      const [first] = (await call(`${app.url}/v1/webhooks/${older.id}/deliveries`, older.key)).body.data ?? [];
      return first?.attempts === before && first.last_status_code !== null;
    });
    clock.advance(ms - 30_000);
    await new Promise((resolve) => setTimeout(resolve, 700));
    expect(older.requests()).toHaveLength(before);
    clock.advance(30_000);
    await until(`attempt ${before + 1}`, () => older.requests().length === before + 1);
  }
}

describe('a webhook of the older interface', () => {
  it('is retried after 1, 5 and 30 minutes, 2 and 24 hours, and is failing with one mail after the fifth failure', async () => {
    const older = await subscribeOlder(['application.received'], 500);
    await announce(older);
    await until('the first attempt', () => older.requests().length === 1);
    await attempt(older, [MINUTE, 5 * MINUTE, 30 * MINUTE]);
    expect((await webhook(app, older.key, older.id)).status).toBe('active');
    await attempt(older, [120 * MINUTE]);
    await until('failing', async () => (await webhook(app, older.key, older.id)).status === 'failing');
    await attempt(older, [1_440 * MINUTE]);
    await until('the end', async () => {
      const [first] = (await call(`${app.url}/v1/webhooks/${older.id}/deliveries`, older.key)).body.data ?? [];
      return first?.state === 'failed' && first.attempts === 6;
    });
    expect(await webhook(app, older.key, older.id)).toMatchObject({ status: 'failing', active: true });
    const mails = await mailsOf(app.context, older.brand.id);
    expect(mails.map(({ kind, to }) => [kind, to])).toEqual([['webhook_failing', 'desk@brand.example']]);
    const [body] = older.requests().map((request) => JSON.parse(request.body));
    expect(Object.keys(body)).toEqual(['id', 'type', 'created_at', 'data']);
    expect(older.requests()[0]?.headers['x-service-signature']).toMatch(/^[0-9a-f]{64}$/);
  });

  it('is disabled with a second mail after three days of failures, and starts afresh when set active', async () => {
    const older = await subscribeOlder(['application.received'], 500);
    const status = async () => (await webhook(app, older.key, older.id)).status;
    await announce(older);
    await until('the first attempt', () => older.requests().length === 1);
    await attempt(older, [MINUTE, 5 * MINUTE, 30 * MINUTE, 120 * MINUTE]);
    await until('failing', async () => (await status()) === 'failing');
    clock.advance(71 * 60 * MINUTE);
    await announce(older);
    await until('disabled', async () => (await status()) === 'disabled');
    const kinds = (await mailsOf(app.context, older.brand.id)).map(({ kind }) => kind);
    expect(kinds.toSorted()).toEqual(['webhook_disabled', 'webhook_failing']);
    const { data } = (await call(`${app.url}/v1/webhooks/${older.id}/deliveries`, older.key)).body;
    expect(data.every(({ state }: { state: string }) => state !== 'pending')).toBe(true);
    await send(`${app.url}/v1/webhooks/${older.id}`, older.key, 'PATCH', { active: true });
    expect(await status()).toBe('active');
  });

  it('is healthy again after one successful response', async () => {
    const older = await subscribeOlder(['application.received'], 404);
    for (let n = 0; n < 5; n += 1) await announce(older);
    await until('failing', async () => (await webhook(app, older.key, older.id)).status === 'failing');
    paths.set(older.path, 200);
    await announce(older);
    await until('active', async () => (await webhook(app, older.key, older.id)).status === 'active');
    expect(older.requests()).toHaveLength(6);
  });

  it('receives events under its own names and accepts no others', async () => {
    const older = await subscribeOlder(['application.status_changed', 'campaign.created', 'campaign.updated'], 200);
    const { id } = (await send(`${app.url}/v1/campaigns`, older.key, 'POST', { name: 'Launch' })).body.data;
    await send(`${app.url}/v1/campaigns/${id}`, older.key, 'PATCH', { name: 'Launch' });
    await send(`${app.url}/v1/campaigns/${id}`, older.key, 'PATCH', { name: 'Relaunch' });
    await until('two', () => older.requests().length === 2);
    const types = older.requests().map(({ body }) => JSON.parse(body).type);
    expect(types).toEqual(['campaign.created', 'campaign.updated']);
    await expect(subscribeOlder(['application.approved'], 200)).rejects.toThrow('unknown_event');
    const [created] = older.requests().map(({ body }) => JSON.parse(body).data);
    expect(created).toMatchObject({ id, status: 'live' });
  });

  it('sends older items when it resends, recovers or sends a sample', async () => {
    const older = await subscribeOlder(['campaign.created'], 200);
    const ask = async (path: string, method: string, body?: object) =>
      (await send(`${app.url}/v1/webhooks/${path}`, older.key, method, body)).body.data;
    await ask(older.id, 'PATCH', { active: false });
    const campaign = { name: 'Launch', type: 'ugc', status: 'active' };
    await send(`${app.url}/v1/campaigns`, older.key, 'POST', campaign);
    await ask(older.id, 'PATCH', { active: true });
    const since = new Date(clock.now().getTime() - MINUTE).toISOString();
    expect(await ask(`${older.id}/recover`, 'POST', { since })).toEqual({ queued: 1 });
    await until('what was missed', () => older.requests().length === 1);
    const [first] = (await call(`${app.url}/v1/webhooks/${older.id}/deliveries`, older.key)).body.data;
    await ask(`deliveries/${first.id}/resend`, 'POST');
    await until('it again', () => older.requests().length === 2);
    await ask(`${older.id}/test`, 'POST');
    await until('the sample', () => older.requests().length === 3);
    const [missed, again, sample] = older.requests().map(({ body }) => body);
    expect(again).toBe(missed);
    expect(JSON.parse(missed ?? '').data).toMatchObject({ status: 'live', campaign_type: 'organic_ugc' });
    expect(JSON.parse(sample ?? '')).toMatchObject({ type: 'campaign.created', data: { status: 'live' } });
  });

  it('is listed on both interfaces, each with its own fields; its own secret is shown once', async () => {
    const brand = await makeBrand(app.context);
    const key = await brand.key('brand');
    const input = { url: 'https://receiver.invalid/', events: ['commission.paid'], secret: 'short-secret' };
    const { status, body } = await send(`${app.url}/api/v1/webhooks`, key, 'POST', input);
    expect([status, body.data]).toEqual([
      201,
      {
        ...{ id: expect.stringMatching(/^whk_/), url: input.url, events: input.events, secret: 'short-secret' },
        ...{ status: 'active', created_at: expect.stringMatching(/Z$/), last_status_code: null, last_triggered: null },
      },
    ]);
    const [older] = (await call(`${app.url}/api/v1/webhooks`, key)).body.data;
    expect(older).toEqual({ ...body.data, secret: '…et' });
    const [current] = (await call(`${app.url}/v1/webhooks`, key)).body.data;
    expect(current).toMatchObject({ id: older.id, variant: 'legacy', active: true, secret: '…et' });
    expect((await send(`${app.url}/api/v1/webhooks/${older.id}`, key, 'DELETE')).body).toEqual({
      deleted: true,
      id: older.id,
    });
  });
});
