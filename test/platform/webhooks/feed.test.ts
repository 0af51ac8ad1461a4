import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { call, makeBrand, type TestApp, type TestBrand } from '../../harness/app.ts';
import { type Receiver, startReceiver } from '../../harness/kit/receiver.ts';
import { rosterEvent } from '../../harness/platform/events.ts';
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

const feed = (key: string, query = '') => call(`${app.url}/v1/events?${query}`, key);

async function walk(key: string, limit: number) {
  const events = [];
  for (let after = ''; ; ) {
    const { body } = await feed(key, `limit=${limit}${after && `&after=${after}`}`);
    events.push(...body.data);
    if (!body.has_more) return events;
    after = body.next_after;
  }
}

async function emitMany(brand: TestBrand, count: number): Promise<void> {
  for (let n = 0; n < count; n += 1) {
    await emit(app, brand, 'roster.creator_added', rosterEvent(String(n)));
    await emit(app, brand, 'application.received', { ...APPLICATION, id: `app_${n}` });
  }
}

describe('GET /v1/events', () => {
  it('returns the same events in order in pages as at once, and none of other interfaces or brands', async () => {
    const brand = await makeBrand(app.context);
    const key = await brand.key('brand');
    await emitMany(brand, 20);
    const whole = await walk(key, 100);
    expect(whole.map(({ data }) => data.id)).toEqual(Array.from({ length: 20 }, (_, n) => `app_${n}`));
    expect(await walk(key, 7)).toEqual(whole);
    expect(new Set(whole.map(({ event }) => event))).toEqual(new Set(['application.received']));
  });

  it('returns the exact bytes that a webhook received', async () => {
    const brand = await makeBrand(app.context);
    const key = await brand.key('brand');
    await subscribe(app, key, `${receiver.url}/bytes`, ['application.received']);
    await emit(app, brand, 'application.received', APPLICATION);
    await expect.poll(() => receiver.at('/bytes').length).toBe(1);
    const [sent] = receiver.at('/bytes');
    const text = await (await fetch(`${app.url}/v1/events`, { headers: { authorization: `Bearer ${key}` } })).text();
    expect(text).toContain(`{"id":"${sent?.headers['webhook-id']}",${sent?.body.slice(1)}`);
  });

  it('continues after the last event read, even if the filter excluded it', async () => {
    const brand = await makeBrand(app.context);
    const key = await brand.key('brand');
    await emitMany(brand, 3);
    const { body } = await feed(key, 'types=payout.created');
    expect(body).toMatchObject({ data: [], has_more: false, next_after: expect.stringMatching(/^evt_/) });
    expect((await feed(key, `after=${body.next_after}`)).body.data).toEqual([]);
    expect((await feed(key, 'types=nope')).body.allowed).toHaveLength(12);
  });

  it('refuses an event of another brand, and one older than 30 days with the oldest id', async () => {
    const [brand, other] = [await makeBrand(app.context), await makeBrand(app.context)];
    const key = await brand.key('brand');
    await emitMany(brand, 1);
    await emitMany(other, 1);
    const theirs = (await feed(await other.key('brand'))).body.next_after;
    const { status, body } = await feed(key, `after=${theirs}`);
    expect([status, body.details]).toMatchObject([422, [{ field: 'after', code: 'not_found' }]]);
    const own = (await feed(key)).body.next_after;
    clock.advance(31 * 86_400_000);
    const late = await feed(key, `after=${own}`);
    expect([late.status, late.body.code, late.body.oldest]).toEqual([409, 'CONFLICT', null]);
    expect((await feed(key)).body.data).toEqual([]);
  });

  it('waits for an event and responds as soon as there is one', async () => {
    const brand = await makeBrand(app.context);
    const key = await brand.key('brand');
    const from = performance.now();
    const later = new Promise((resolve) => setTimeout(resolve, 500));
    const [waited] = await Promise.all([
      feed(key, 'wait=20'),
      later.then(() => emit(app, brand, 'application.received', APPLICATION)),
    ]);
    expect(waited.body.data).toHaveLength(1);
    expect(performance.now() - from).toBeLessThan(20_000);
    expect((await feed(key, 'after=latest&wait=1')).body.data).toEqual([]);
    expect((await feed(key, 'wait=21')).status).toBe(422);
  });
});
