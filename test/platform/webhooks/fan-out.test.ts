import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { call, makeBrand, send, type TestApp, unique, until } from '../../harness/app.ts';
import { type Receiver, startReceiver } from '../../harness/kit/receiver.ts';
import {
  APPLICATION,
  emit,
  openClock,
  startAlone,
  startWebhookWorker,
  subscribe,
  type Worker,
} from '../../harness/platform/webhooks.ts';

let app: TestApp;
let receiver: Receiver;
let workers: Worker[];
const clock = openClock();

beforeAll(async () => {
  app = await startAlone(clock);
  receiver = await startReceiver();
  receiver.answer = ({ path }, response) => void (path.startsWith('/dead') || response.end());
  workers = [startWebhookWorker(app), startWebhookWorker(app)];
});
afterAll(async () => {
  await Promise.all((workers ?? []).map((worker) => worker.stop()));
  await receiver?.close();
  await app?.close();
});

const path = (name: string) => `/${unique(name)}`;

describe('two workers', () => {
  it('send each event once to each of its webhooks', async () => {
    const brand = await makeBrand(app.context);
    const key = await brand.key('brand');
    const paths = [path('a'), path('b'), path('c')];
    for (const one of paths) await subscribe(app, key, `${receiver.url}${one}`, ['application.received']);
    for (let n = 0; n < 10; n += 1) await emit(app, brand, 'application.received', APPLICATION, 30);
    await until('900 requests', () => paths.every((one) => receiver.at(one).length >= 300));
    for (const one of paths) {
      const ids = receiver.at(one).map(({ headers }) => headers['webhook-id']);
      expect([ids.length, new Set(ids).size]).toEqual([300, 300]);
    }
  });
});

describe('a webhook', () => {
  it('receives only events that happen while it exists and is active', async () => {
    const brand = await makeBrand(app.context);
    const key = await brand.key('brand');
    const reported = (n: number) => emit(app, brand, 'application.received', { ...APPLICATION, id: `app_${n}` });
    await reported(1);
    const one = path('told');
    const { id } = await subscribe(app, key, `${receiver.url}${one}`, ['application.received']);
    const patch = (active: boolean) => send(`${app.url}/v1/webhooks/${id}`, key, 'PATCH', { active });
    await reported(2);
    await until('the second', () => receiver.at(one).length === 1);
    await patch(false);
    await reported(3);
    await patch(true);
    await reported(4);
    await until('the fourth', () => receiver.at(one).length === 2);
    expect(receiver.at(one).map(({ body }) => JSON.parse(body).data.id)).toEqual(['app_2', 'app_4']);
  });

  it('that responds is served while others that never respond still wait', async () => {
    const brand = await makeBrand(app.context);
    const key = await brand.key('brand');
    const healthy = path('healthy');
    for (let n = 0; n < 9; n += 1)
      await subscribe(app, key, `${receiver.url}${path('dead')}`, ['application.approved']);
    await subscribe(app, key, `${receiver.url}${healthy}`, ['application.received']);
    await emit(app, brand, 'application.approved', APPLICATION, 200);
    await until('dead ones being tried', () => receiver.received.some((one) => one.path.startsWith('/dead')));
    for (let n = 1; n <= 5; n += 1) {
      await emit(app, brand, 'application.received', APPLICATION);
      await until('the healthy one', () => receiver.at(healthy).length === n);
    }
    // The deliveries of the dead ones are all older.
    const tried = receiver.received.filter((one) => one.path.startsWith('/dead')).length;
    expect(tried).toBeLessThan(1_800);
    expect((await call(`${app.url}/v1/webhooks`, key)).body.data.at(-1).backlog).toBe(false);
  });
});

describe('the metrics', () => {
  it('show pending deliveries, subscriptions and outcomes of attempts', async () => {
    const { body } = await call(`${app.url}/metrics`);
    expect(body).toMatch(/^rollcall_webhook_subscriptions\{state="active"\} \d+$/m);
    expect(body).toMatch(/^rollcall_webhook_pending\{pool="(?:fast|slow)"\} \d+$/m);
    expect(body).toMatch(/^rollcall_webhook_oldest_due_seconds \d/m);
    expect(body).toMatch(/^rollcall_webhook_attempts_5m\{variant="current",outcome="answered"\} \d+$/m);
    expect(body).toMatch(/^rollcall_webhook_attempt_p99_seconds_5m\{variant="current",outcome="answered"\} \d/m);
  });
});
