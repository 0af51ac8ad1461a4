import { inWork } from '../../../src/kit/operation/work.ts';
import type { EventName, EventPayload } from '../../../src/kit/outbox/events.ts';
import { openRelay } from '../../../src/kit/outbox/relay.ts';
import type { Clock } from '../../../src/kit/values/clock.ts';
import { openDue } from '../../../src/kit/values/due.ts';
import { ignoreFailure } from '../../../src/kit/values/errors.ts';
import { type DeliveryLoop, startDelivering } from '../../../src/platform/webhooks/delivery-loop.ts';
import { webhookConsumer } from '../../../src/platform/webhooks/fan-out.ts';
import { call, made, startApp, type TestApp, type TestBrand } from '../app.ts';
import { makeDatabase } from '../database.ts';

/** A clock that a test may set forward. */
export function openClock(): Clock & { advance(ms: number): void } {
  let aheadMs = 0;
  return {
    now: () => new Date(Date.now() + aheadMs),
    advance: (ms) => {
      aheadMs += ms;
    },
  };
}

export interface Worker {
  loop: DeliveryLoop;
  stop(): Promise<void>;
}

/** The part of the worker that webhooks need: relay and delivery. */
export function startWebhookWorker({ context }: TestApp): Worker {
  const loop = startDelivering(context);
  const { postgres, log, clock } = context;
  const consumer = { name: webhookConsumer.name, deliver: webhookConsumer.open(context) };
  const pass = openRelay({ db: postgres.db, consumer, log, due: openDue(clock) });
  let isStopping = false;
  const relaying = (async () => {
    while (!isStopping) {
      await pass().catch(ignoreFailure('the next pass tries again, as that of a worker does'));
      loop.wake();
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  })();
  return {
    loop,
    stop: async () => {
      isStopping = true;
      await relaying;
      await loop.stop();
    },
  };
}

/** An app on a database of its own: a worker delivers for every brand there is, by its own clock. */
export async function startAlone(clock: Clock, env: NodeJS.ProcessEnv = {}): Promise<TestApp> {
  const database = await makeDatabase('webhooks');
  const app = await startApp({ clock, env, urls: { postgres: database.url } });
  return {
    ...app,
    close: async () => {
      await app.close();
      await database.drop();
    },
  };
}

export const APPLICATION: EventPayload<'application.received'> = {
  ...{ id: 'app_example', campaign_id: 'cmp_example', creator_email: 'zoë@example.com', creator_name: 'Zoë' },
  ...{ creator_photo_app: 'zoe', creator_video_app: null, status: 'pending', message: null, portfolio_urls: [] },
  applied_at: '2026-11-22T09:30:00.123Z',
};

/** Emits events as an operation does, in one transaction. */
export async function emit<Name extends EventName>(
  { context }: TestApp,
  brand: TestBrand,
  event: Name,
  data: EventPayload<Name>,
  count = 1,
): Promise<void> {
  const actor = { brandId: brand.id, keyId: null, operation: 'test', requestId: null };
  await inWork(context.postgres.db, context.clock, actor, async (work) => {
    for (let n = 0; n < count; n += 1) work.emit(event, data);
  });
}

export interface Made {
  id: string;
  secret: string;
}

export async function subscribe(app: TestApp, key: string, url: string, events: string[]): Promise<Made> {
  return await made(`${app.url}/v1/webhooks`, key, { url, events });
}

export async function webhook(app: TestApp, key: string, id: string) {
  return (await call(`${app.url}/v1/webhooks/${id}`, key)).body.data ?? {};
}
