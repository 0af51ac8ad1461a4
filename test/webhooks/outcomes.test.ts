import { createHmac } from 'node:crypto';
import { Webhook as Standard } from 'standardwebhooks';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { call, makeBrand, type TestApp, type TestBrand, unique, until } from '../harness/app.ts';
import { failing, type Receiver, startReceiver } from '../harness/receiver.ts';
import {
  APPLICATION,
  emit,
  openClock,
  startAlone,
  startWebhookWorker,
  subscribe,
  type Worker,
  webhook,
} from '../harness/webhooks.ts';

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
    deliveries: async () => (await call(`${app.url}/v1/webhooks/${id}/deliveries`, key)).body.data,
  };
}

const announce = (one: Case) => emit(app, one.brand, 'application.received', APPLICATION);

describe('a delivery', () => {
  it('arrives once, signed, with three keys of which data is the item', async () => {
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

  it('that is answered 500 is sent again after 2 s: the same bytes and id, another timestamp', async () => {
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
});
