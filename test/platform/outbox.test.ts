import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { inWork } from '../../src/kit/operation/work.ts';
import { eventNames } from '../../src/kit/outbox/events.ts';
import { deleteOldEvents, listEventsAfter } from '../../src/kit/outbox/outbox.ts';
import { type Consumer, measureLag, type OutboxEvent, openRelay } from '../../src/kit/outbox/relay.ts';
import { systemClock } from '../../src/kit/values/clock.ts';
import { openDue } from '../../src/kit/values/due.ts';
import { makeBrand, type TestApp, type TestBrand, unique } from '../harness/app.ts';
import { rosterEvent } from '../harness/platform/events.ts';
import { startAlone } from '../harness/platform/webhooks.ts';

let app: TestApp;
// A relay passes over all brands: those of other tests are in another database.
beforeAll(async () => {
  app = await startAlone(systemClock);
});
afterAll(() => app?.close());

const db = () => app.context.postgres.db;
const actorOf = (brand: TestBrand) => ({ brandId: brand.id, keyId: null, operation: 'test', requestId: null });

const numbered = (n: number) => rosterEvent(String(n));

/** Emits one event, and commits only when `hold` lets it. */
function emit(brand: TestBrand, n: number, hold: Promise<void> = Promise.resolve()): Promise<void> {
  return inWork(db(), systemClock, actorOf(brand), async (work) => {
    work.emit('roster.creator_added', numbered(n));
    await hold;
  });
}

/** A consumer of one brand: those of other tests are none of its business. */
function consumerOf(brand: TestBrand, deliver: (events: readonly OutboxEvent[]) => Promise<void>): Consumer {
  return {
    name: unique('consumer'),
    deliver: async (events) => (events[0]?.brandId === brand.id ? await deliver(events) : undefined),
  };
}

/** One pass of the worker's, which begins with all brands. */
const relay = (consumer: Consumer, { context }: TestApp = app) =>
  openRelay({ db: context.postgres.db, consumer, log: context.log, due: openDue(systemClock) })();

describe('the outbox', () => {
  it('numbers events gaplessly and in commit order, however transactions overlap', async () => {
    const brand = await makeBrand(app.context);
    const seen: number[] = [];
    const consumer = consumerOf(brand, async (events) => void seen.push(...events.map(({ seq }) => seq)));
    const writers = Array.from({ length: 60 }, async (_, n) => {
      const pause = new Promise<void>((resolve) => setTimeout(resolve, Math.random() * 30));
      const failing = n % 10 === 0;
      const written = inWork(db(), systemClock, actorOf(brand), async (work) => {
        await pause;
        work.emit('roster.creator_added', numbered(n));
        if (failing) throw new Error('rolled back');
      });
      await (failing ? expect(written).rejects.toThrow('rolled back') : written);
    });
    const reading = (async () => {
      while (seen.length < 54) await relay(consumer);
    })();
    await Promise.all([...writers, reading]);
    expect(seen).toEqual(Array.from({ length: 54 }, (_, i) => i + 1));
  });

  it('does not skip an earlier transaction that commits later', async () => {
    const brand = await makeBrand(app.context);
    const seen: unknown[] = [];
    const consumer = consumerOf(brand, async (events) => void seen.push(...events.map(({ data }) => data)));
    let release = () => {};
    const slow = emit(brand, 1, new Promise((resolve) => (release = resolve)));
    await emit(brand, 2);
    await relay(consumer);
    expect(seen).toEqual([numbered(2)]);
    release();
    await slow;
    await relay(consumer);
    expect(seen).toEqual([numbered(2), numbered(1)]);
  });

  it('never contains events of a rolled-back transaction', async () => {
    const brand = await makeBrand(app.context);
    const failing = inWork(db(), systemClock, actorOf(brand), async (work) => {
      work.emit('roster.creator_added', numbered(0));
      work.audit({ resourceId: 'x', old: null, new: {} });
      throw new Error('no');
    });
    await expect(failing).rejects.toThrow('no');
    const rows = await db().selectFrom('outbox').selectAll().where('brandId', '=', brand.id).execute();
    const audits = await db().selectFrom('auditLog').selectAll().where('brandId', '=', brand.id).execute();
    expect([rows, audits]).toEqual([[], []]);
  });
});

describe('the relay', () => {
  it('delivers the same events again after a failure, and delays no other consumer', async () => {
    const brand = await makeBrand(app.context);
    for (let n = 0; n < 5; n += 1) await emit(brand, n);
    let isDown = true;
    const got: number[][] = [];
    const failing = consumerOf(brand, async (events) => {
      got.push(events.map(({ seq }) => seq));
      if (isDown) throw new Error('down');
    });
    const other: number[] = [];
    const healthy = consumerOf(brand, async (events) => void other.push(...events.map(({ seq }) => seq)));
    await relay(failing);
    expect(await measureLag(db(), failing.name)).toBeGreaterThanOrEqual(5);
    await relay(healthy);
    expect(other).toEqual([1, 2, 3, 4, 5]);
    isDown = false;
    await relay(failing);
    expect(got).toEqual([
      [1, 2, 3, 4, 5],
      [1, 2, 3, 4, 5],
    ]);
    await relay(failing);
    expect(got).toHaveLength(2);
  });

  it('delivers each event once, in order, with several relays of one consumer', async () => {
    const brand = await makeBrand(app.context);
    const seen: number[] = [];
    const consumer = consumerOf(brand, async (events) => void seen.push(...events.map(({ seq }) => seq)));
    for (let n = 0; n < 450; n += 1)
      if (n % 50 === 0) await Promise.all(Array.from({ length: 50 }, (_, i) => emit(brand, n + i)));
    while (seen.length < 450) await Promise.all(Array.from({ length: 4 }, () => relay(consumer)));
    expect(seen).toEqual(Array.from({ length: 450 }, (_, i) => i + 1));
  });
});

describe('the names of events', () => {
  it('are twelve for the current interface and seventeen for the older one', () => {
    expect(eventNames('current')).toHaveLength(12);
    expect(eventNames('legacy')).toHaveLength(17);
  });
});

describe('a brand with a large backlog', () => {
  it('waits for its next batch until the others have had one', async () => {
    const [busy, calm] = [await makeBrand(app.context), await makeBrand(app.context)];
    await inWork(db(), systemClock, actorOf(busy), async (work) => {
      for (let n = 0; n < 450; n += 1) work.emit('roster.creator_added', numbered(n));
    });
    await emit(calm, 1);
    const turns: [string, number][] = [];
    const deliver = async (events: readonly OutboxEvent[]) => {
      const brandId = events[0]?.brandId;
      if (brandId === busy.id || brandId === calm.id) turns.push([brandId, events.length]);
    };
    await relay({ name: unique('consumer'), deliver });
    expect(turns.filter(([id]) => id === busy.id).map(([, count]) => count)).toEqual([200, 200, 50]);
    expect(turns.findIndex(([id]) => id === calm.id)).toBeLessThan(2);
  });
});

describe('the stored text of an event', () => {
  it('is the emitted text, with its keys in order', async () => {
    const brand = await makeBrand(app.context);
    await emit(brand, 7);
    const [event] = await listEventsAfter(db(), brand.id, 0, 1);
    expect(JSON.stringify(event?.data)).toBe(JSON.stringify(numbered(7)));
  });

  it('is deleted when it is old and every consumer has passed it, never before', async () => {
    // What is forgotten is any brand's: on a database of its own.
    const alone = await startAlone(systemClock);
    const { db: own } = alone.context.postgres;
    const brand = await makeBrand(alone.context);
    for (let n = 0; n < 3; n += 1) {
      await inWork(own, systemClock, actorOf(brand), async (work) => work.emit('roster.creator_added', numbered(n)));
    }
    const left = async () => (await listEventsAfter(own, brand.id, 0, 10)).length;
    const soon = new Date(Date.now() + 60_000);
    const prune = () => deleteOldEvents(own, ['first', 'second'], soon, 1_000);
    const pass = (name: string) => relay({ name, deliver: async () => {} }, alone);
    await pass('first');
    await prune();
    expect(await left()).toBe(3);
    await pass('second');
    await deleteOldEvents(own, ['first', 'second'], new Date(0), 1_000);
    expect(await left()).toBe(3);
    await prune();
    expect(await left()).toBe(0);
    await alone.close();
  });
});
