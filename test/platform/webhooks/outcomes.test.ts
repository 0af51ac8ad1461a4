import { createHmac } from 'node:crypto';
import { Webhook as Standard } from 'standardwebhooks';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { call, makeBrand, send, type TestApp, type TestBrand, unique, until } from '../../harness/app.ts';
import { failing, type Receiver, startReceiver } from '../../harness/kit/receiver.ts';
import {
  APPLICATION,
  emit,
  openClock,
  startAlone,
  startWebhookWorker,
  subscribe,
  type Worker,
  webhook,
} from '../../harness/platform/webhooks.ts';

let app: TestApp;
let receiver: Receiver;
let worker: Worker;
const clock = openClock();

beforeAll(async () => {
  app = await startAlone(clock);
  receiver = await startReceiver();
  worker = startWebhookWorker(app);
});
afterAll(async () => {
  await worker?.stop();
  await receiver?.close();
  await app?.close();
});

const paths = new Map<string, Receiver['answer']>();
beforeEach(() => {
  receiver.answer = (received, response) =>
    (paths.get(received.path) ?? ((_received, plain) => void plain.end('ok')))(received, response);
});

interface Case {
  brand: TestBrand;
  key: string;
  id: string;
  secret: string;
  path: string;
  requests: () => Receiver['received'];
  deliveries: () => Promise<{ id: string; state: string; attempts: number; last_status_code: number | null }[]>;
}

/** A brand with one subscription, whose receiver answers so. */
async function open(answer: Receiver['answer'], host = receiver.url): Promise<Case> {
  const brand = await makeBrand(app.context);
  const key = await brand.key('brand');
  const path = `/${unique('hook')}`;
  paths.set(path, answer);
  const { id, secret } = await subscribe(app, key, `${host}${path}`, ['application.received']);
  return {
    ...{ brand, key, id, secret, path },
    requests: () => receiver.at(path),
    deliveries: async () => (await call(`${app.url}/v1/webhooks/${id}/deliveries`, key)).body.data ?? [],
  };
}

const attempts = async (one: Case) => {
  const [first] = await one.deliveries();
  const { body } = await call(`${app.url}/v1/webhooks/deliveries/${first?.id}`, one.key);
  return z
    .array(z.looseObject({ outcome: z.string(), response_excerpt: z.string().nullable() }))
    .parse(body.data.attempt_log);
};

/** Waits until the newest delivery is no longer pending, and is as it should be. */
async function isOver(one: Case, expected: object): Promise<void> {
  await until('the end', async () => !['pending', undefined].includes((await one.deliveries())[0]?.state));
  expect((await one.deliveries())[0]).toMatchObject(expected);
}

/** As long as the loop needs to look for what is due, a few times. */
const quiet = () => new Promise((resolve) => setTimeout(resolve, 1_000));

const announce = (one: Case) => emit(app, one.brand, 'application.received', APPLICATION);

describe('a delivery', () => {
  it('arrives once, signed, with three keys, and `data` is the item', async () => {
    const one = await open((_received, response) => void response.end());
    await announce(one);
    await until('the delivery', async () => (await webhook(app, one.key, one.id)).last_status_code === 200);
    const [request] = one.requests();
    expect(one.requests()).toHaveLength(1);
    const { headers, body = '' } = request ?? {};
    expect(JSON.parse(body)).toEqual({
      event: 'application.received',
      createdAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
      data: APPLICATION,
    });
    expect(body).toMatch(/^\{"event":"application.received","createdAt":"[^"]+","data":\{"id":"app_example",/);
    const digest = createHmac('sha256', one.secret).update(body).digest('hex');
    expect(headers?.['x-service-signature']).toBe(`sha256=${digest}`);
    expect(headers?.['user-agent']).toBe('Rollcall-Webhooks/1');
    const trio = Object.fromEntries(
      ['webhook-id', 'webhook-timestamp', 'webhook-signature'].map((name) => [name, String(headers?.[name])]),
    );
    expect(new Standard(one.secret).verify(body, trio)).toEqual(JSON.parse(body));
  });

  it('that gets 500 is sent again after 2 s with the same bytes and id and a new timestamp', async () => {
    const one = await open(failing(500, 1));
    await announce(one);
    await until('two requests', () => one.requests().length === 2);
    const [first, second] = one.requests();
    const pause = (second?.at ?? 0) - (first?.answeredAt ?? 0);
    expect(pause).toBeGreaterThanOrEqual(1_990);
    expect(second?.body).toBe(first?.body);
    expect(second?.headers['webhook-id']).toBe(first?.headers['webhook-id']);
    expect(second?.headers['webhook-timestamp']).not.toBe(first?.headers['webhook-timestamp']);
    await until('the code', async () => (await webhook(app, one.key, one.id)).last_status_code === 200);
  });

  it('that gets 500 twice fails and is never retried automatically', async () => {
    const one = await open((_received, response) => void response.writeHead(500).end('broken'));
    await announce(one);
    await isOver(one, { state: 'failed', attempts: 2, last_status_code: 500, next_attempt_at: null });
    clock.advance(86_400_000);
    await quiet();
    expect(one.requests()).toHaveLength(2);
    expect(await webhook(app, one.key, one.id)).toMatchObject({ last_status_code: 500, active: true });
  });

  it.each([404, 408, 410, 429, 301])('that gets %i is sent once, and redirects are not followed', async (status) => {
    const one = await open((_received, response) => {
      void response.writeHead(status, { location: `${receiver.url}/followed` }).end();
    });
    await announce(one);
    await isOver(one, { state: 'failed', attempts: 1, last_status_code: status });
    expect(receiver.at('/followed')).toEqual([]);
  });

  it('whose response starts within 5 s is delivered', async () => {
    const one = await open((_received, response) => void setTimeout(() => response.end(), 500));
    await announce(one);
    await isOver(one, { state: 'delivered', attempts: 1, last_status_code: 200 });
  });

  it('whose response does not start within 5 s is aborted and retried once', async () => {
    const cut: number[] = [];
    const one = await open((received, response) => {
      response.on('close', () => void cut.push(performance.now() - received.at));
    });
    await announce(one);
    await isOver(one, { state: 'failed', attempts: 2, last_status_code: null });
    expect(cut.every((ms) => ms > 1_000 && ms < 60_000)).toBe(true);
    expect((await attempts(one)).map(({ outcome }) => outcome)).toEqual(['timeout', 'timeout']);
  });

  it('with a huge or endless response is delivered by its status, and at most 1 kB is stored', async () => {
    const endless: ReturnType<typeof setInterval>[] = [];
    const huge = await open((_received, response) => void response.end('x'.repeat(10_000_000)));
    const drip = await open((_received, response) => {
      response.writeHead(200);
      endless.push(setInterval(() => response.write('y'), 50));
    });
    for (const one of [huge, drip]) {
      await announce(one);
      await isOver(one, { state: 'delivered', attempts: 1, last_status_code: 200 });
    }
    for (const timer of endless) clearInterval(timer);
    expect((await attempts(huge))[0]?.response_excerpt).toBe('x'.repeat(1_024));
    expect((await attempts(drip))[0]?.response_excerpt?.length).toBeLessThan(1_024);
  });

  it('that meets a closed port, a wrong certificate or a reset says which, and is retried once', async () => {
    const foreign = await startReceiver(['other.example']);
    const closed = await open(() => undefined, 'https://127.0.0.1:9');
    const named = await open(() => undefined, foreign.url);
    const reset = await open((_received, response) => void response.socket?.destroy());
    for (const one of [closed, named, reset]) await announce(one);
    for (const [one, outcome, error] of [
      [closed, 'network', 'ECONNREFUSED'],
      [named, 'tls', 'ERR_TLS_CERT_ALTNAME_INVALID'],
      [reset, 'network', 'ECONNRESET'],
    ] as const) {
      await isOver(one, { state: 'failed', attempts: 2, last_status_code: null });
      for (const attempt of await attempts(one)) expect(attempt).toMatchObject({ outcome, error, status_code: null });
    }
    await foreign.close();
  });

  it('goes to the current URL of the webhook', async () => {
    const one = await open(failing(500, 1));
    const moved = `/${unique('moved')}`;
    await announce(one);
    await until('the first attempt', () => one.requests().length === 1);
    await send(`${app.url}/v1/webhooks/${one.id}`, one.key, 'PATCH', { url: `${receiver.url}${moved}` });
    await isOver(one, { state: 'delivered', attempts: 2 });
    expect([one.requests().length, receiver.at(moved).length]).toEqual([1, 1]);
  });
});

describe('an address that has become private', () => {
  it('is refused at delivery, and nothing is sent', async () => {
    const one = await open(() => undefined);
    const strict = { ...app.context, config: { ...app.context.config, outboundAllow: [] } };
    await worker.stop();
    const guarded = startWebhookWorker({ ...app, context: strict });
    try {
      await announce(one);
      await isOver(one, { state: 'failed', attempts: 1, last_status_code: null });
      expect((await attempts(one))[0]).toMatchObject({ outcome: 'refused' });
      expect(one.requests()).toEqual([]);
    } finally {
      await guarded.stop();
      worker = startWebhookWorker(app);
    }
  });
});

describe('an event that is sent again', () => {
  it('has the same id and bytes, delivered or not, and is logged beside the first delivery', async () => {
    const one = await open(failing(404, 1));
    await announce(one);
    await isOver(one, { state: 'failed' });
    const [first] = await one.deliveries();
    const again = async () => await send(`${app.url}/v1/webhooks/deliveries/${first?.id}/resend`, one.key, 'POST', {});
    expect((await again()).status).toBe(201);
    await until('the second', () => one.requests().length === 2);
    await again();
    await until('the third', () => one.requests().length === 3);
    const requests = one.requests();
    expect(new Set(requests.map(({ body }) => body)).size).toBe(1);
    expect(new Set(requests.map(({ headers }) => headers['webhook-id'])).size).toBe(1);
    expect(new Set(requests.map(({ headers }) => headers['x-service-delivery-id'])).size).toBe(3);
    const log = await one.deliveries();
    expect([log.length, new Set(log.map(({ id }) => id)).size]).toEqual([3, 3]);
  });

  it('is recovered once if it was missed in the time range', async () => {
    const one = await open(failing(404, 2));
    for (let n = 0; n < 3; n += 1) await announce(one);
    const ended = async () => (await one.deliveries()).filter(({ state }: { state: string }) => state !== 'pending');
    await until('three', async () => (await ended()).length === 3);
    const recover = async () => {
      const since = new Date(clock.now().getTime() - 3_600_000).toISOString();
      return (await send(`${app.url}/v1/webhooks/${one.id}/recover`, one.key, 'POST', { since })).body.data;
    };
    expect(await recover()).toEqual({ queued: 2 });
    await until('five', () => one.requests().length === 5);
    await until('delivered', async () => {
      const log = await one.deliveries();
      return log.length >= 3 && log.every(({ state }: { state: string }) => state !== 'pending');
    });
    expect(await recover()).toEqual({ queued: 0 });
    expect(new Set(one.requests().map(({ headers }) => headers['webhook-id'])).size).toBe(3);
  });
});

describe('a test event', () => {
  it('is signed like any delivery and marked as a test, at most ten a minute', async () => {
    const one = await open((_received, response) => void response.end());
    const test = (body: object) => send(`${app.url}/v1/webhooks/${one.id}/test`, one.key, 'POST', body);
    expect((await test({ event: 'campaign.created' })).body.allowed).toHaveLength(12);
    const { status, body } = await test({ event: 'payout.created' });
    expect([status, body.data.event]).toEqual([201, 'payout.created']);
    await until('the test', () => one.requests().length === 1);
    const [request] = one.requests();
    expect(request?.headers).toMatchObject({ 'x-service-test': 'true', 'webhook-id': body.data.event_id });
    expect(body.data.event_id).toMatch(/^evt_test_/);
    expect(Object.keys(JSON.parse(request?.body ?? ''))).toEqual(['event', 'createdAt', 'data']);
    for (let n = 0; n < 9; n += 1) expect((await test({})).status).toBe(201);
    const late = await test({});
    expect([late.status, late.body.code]).toEqual([429, 'RATE_LIMITED']);
    expect((await call(`${app.url}/v1/events`, one.key)).body.data).toEqual([]);
  });
});

describe('a rotation', () => {
  it('signs with both secrets during the overlap, and only with the new one afterwards', async () => {
    const one = await open((_received, response) => void response.end());
    const rotated = await send(`${app.url}/v1/webhooks/${one.id}/rotate-secret`, one.key, 'POST', { overlap_hours: 1 });
    const { secret } = rotated.body.data;
    const digest = (key: string, body: string) => `sha256=${createHmac('sha256', key).update(body).digest('hex')}`;
    await announce(one);
    await until('the first', () => one.requests().length === 1);
    const [during] = one.requests();
    expect(during?.headers['x-service-signature']).toBe(digest(one.secret, during?.body ?? ''));
    expect(during?.headers['x-service-signature-next']).toBe(digest(secret, during?.body ?? ''));
    expect(String(during?.headers['webhook-signature']).split(' ')).toHaveLength(2);
    clock.advance(3_600_001);
    await announce(one);
    await until('the second', () => one.requests().length === 2);
    const [, after] = one.requests();
    expect(after?.headers['x-service-signature']).toBe(digest(secret, after?.body ?? ''));
    expect(after?.headers['x-service-signature-next']).toBeUndefined();
    expect(String(after?.headers['webhook-signature']).split(' ')).toHaveLength(1);
  });
});
