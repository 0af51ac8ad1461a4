import type { Db } from '../engines/postgres/open.ts';
import { systemClock } from '../values/clock.ts';
import type { Due } from '../values/due.ts';
import { openRepeatedFailures, type RepeatedFailures, type Said } from '../values/repeated-failures.ts';
import { CONSUMER_NAMES } from './consumer-names.ts';
import { deleteOldEvents, listBehind, listEventsAfter, tryLockPosition, updatePosition } from './queries.ts';

const BATCH = 200;

export interface OutboxEvent {
  brandId: string;
  seq: number;
  id: string;
  event: string;
  data: unknown;
  createdAt: Date;
}

/**
 * Is given each event at least once, in order per brand, with the transaction that its position moves in: what it writes
 * there is written exactly once. A throw leaves the position: the same events come again.
 */
export interface Consumer {
  name: string;
  deliver(events: readonly OutboxEvent[], db: Db): Promise<void>;
}

/** Gives one brand's next events to a consumer; false when there are none or another relay is at it. */
async function relayBrand(db: Db, consumer: Consumer, brandId: string): Promise<boolean> {
  return await db.transaction().execute(async (trx) => {
    const position = await tryLockPosition(trx, consumer.name, brandId);
    if (position === undefined) return false;
    const events = await listEventsAfter(trx, brandId, position, BATCH);
    const last = events.at(-1);
    if (!last) return false;
    await consumer.deliver(events, trx);
    await updatePosition(trx, consumer.name, brandId, last.seq);
    return events.length === BATCH;
  });
}

const whatOf = ({ name }: Consumer) => `events to ${name} of a brand`;

/** Gives each of the brands its next events; answers those that failed, which delay no other. */
async function relayEach(
  db: Db,
  consumer: Consumer,
  failures: RepeatedFailures,
  brandIds: readonly string[],
): Promise<string[]> {
  const failed: string[] = [];
  for (const brandId of brandIds) {
    try {
      while (await relayBrand(db, consumer, brandId));
    } catch (error) {
      failed.push(brandId);
      failures.failed(whatOf(consumer), error, { brandId });
    }
  }
  if (failed.length === 0) failures.succeeded(whatOf(consumer));
  return failed;
}

/** One pass of a consumer over every brand. Returns how many events wait still. */
export async function relayAll(db: Db, consumer: Consumer, log: Said): Promise<number> {
  const failures = openRepeatedFailures(log, systemClock);
  const behind = await listBehind(db, consumer.name);
  await relayEach(
    db,
    consumer,
    failures,
    behind.map(({ brandId }) => brandId),
  );
  return await lagOf(db, consumer.name);
}

/**
 * Passes that ask for the brands that moved of late, and those that failed; now and then for all of them. Each says whether
 * it had anything to give.
 */
export function openRelay(db: Db, consumer: Consumer, log: Said, due: Due): () => Promise<boolean> {
  const failed = new Set<string>();
  const failures = openRepeatedFailures(log, systemClock);
  return async () => {
    const behind = await due.ask((after) => listBehind(db, consumer.name, after));
    const brandIds = new Set([...failed, ...behind.map(({ brandId }) => brandId)]);
    failed.clear();
    for (const brandId of await relayEach(db, consumer, failures, [...brandIds])) failed.add(brandId);
    return brandIds.size > failed.size;
  };
}

/** How many events a consumer has not been given yet. */
export async function lagOf(db: Db, consumer: string): Promise<number> {
  return (await listBehind(db, consumer)).reduce((sum, { head, position }) => sum + head - position, 0);
}

/** Events are kept this long, for the feed and for deliveries that are sent again. */
export const EVENTS_KEPT_MS = 30 * 86_400_000;
const PRUNE_BATCH = 5_000;

/** Forgets events that are older than that and that every consumer has been given. */
export async function pruneOutbox(db: Db, now: Date): Promise<void> {
  const before = new Date(now.getTime() - EVENTS_KEPT_MS);
  while ((await deleteOldEvents(db, CONSUMER_NAMES, before, PRUNE_BATCH)) === PRUNE_BATCH);
}
