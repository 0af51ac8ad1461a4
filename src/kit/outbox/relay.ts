import type { Db } from '../engines/postgres/open.ts';
import { systemClock } from '../values/clock.ts';
import type { Due } from '../values/due.ts';
import { DAY_MS } from '../values/duration.ts';
import { type FailureLog, openRepeatedFailures, type RepeatedFailures } from '../values/repeated-failures.ts';
import { deleteOldEvents, listBehind, listEventsAfter, tryLockPosition, updatePosition } from './outbox.ts';
import type { Parts } from './parts.ts';

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
 * Receives each event at least once, in order per brand, with the transaction that moves its position, so that its
 * writes there happen exactly once. If it throws, it gets the same events again.
 */
export interface Consumer {
  name: string;
  deliver(events: readonly OutboxEvent[], db: Db): Promise<void>;
}

/**
 * Gives one brand's next events to a consumer. Returns false if there are no more, or if another relay is working on
 * the brand.
 */
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

const describeConsumer = ({ name }: Consumer) => `events to ${name} of a brand`;

interface Round {
  /** Brands that failed. They do not delay others. */
  failed: string[];
  /** Brands that have more events than one batch. */
  unfinished: string[];
}

/** Relays one batch of events for each brand, so that no brand waits for another's backlog. */
async function relayRound(
  db: Db,
  consumer: Consumer,
  failures: RepeatedFailures,
  brandIds: Iterable<string>,
): Promise<Round> {
  const round: Round = { failed: [], unfinished: [] };
  for (const brandId of brandIds) {
    try {
      if (await relayBrand(db, consumer, brandId)) round.unfinished.push(brandId);
    } catch (error) {
      round.failed.push(brandId);
      failures.failed(describeConsumer(consumer), error, { brandId });
    }
  }
  return round;
}

export interface Relay {
  db: Db;
  consumer: Consumer;
  log: FailureLog;
  due: Due;
  /** The brands that this worker relays; without them, all. */
  parts?: Parts | undefined;
  /** Called after each round that relayed events. */
  onEvents?: (() => void) | undefined;
}

/**
 * Each pass runs rounds until no brand has more than a batch left. A round covers brands with recent events (regularly
 * all brands) and those that failed in the previous pass.
 */
export function openRelay({
  db,
  consumer,
  log,
  due,
  parts,
  onEvents,
}: Relay): (stopping?: AbortSignal) => Promise<void> {
  let failedBrands: string[] = [];
  let previousParts: readonly number[] = [];
  const failures = openRepeatedFailures(log, systemClock);
  return async (stopping) => {
    let waiting = failedBrands;
    failedBrands = [];
    do {
      const ownParts = await parts?.held();
      // Events of a part that another worker held may be older than the recent changes that are read.
      const isMore = ownParts?.some((part) => !previousParts.includes(part)) ?? false;
      const behind = await due.ask((after) => listBehind(db, consumer.name, isMore ? undefined : after, ownParts));
      previousParts = ownParts ?? [];
      const brandIds = new Set(
        [...waiting, ...behind.map(({ brandId }) => brandId)].filter((id) => !failedBrands.includes(id)),
      );
      const round = await relayRound(db, consumer, failures, brandIds);
      failedBrands.push(...round.failed);
      waiting = round.unfinished;
      if (brandIds.size > round.failed.length) onEvents?.();
    } while (waiting.length > 0 && !stopping?.aborted);
    if (failedBrands.length === 0) failures.succeeded(describeConsumer(consumer));
    failedBrands.push(...waiting);
  };
}

/** The number of events that a consumer has yet to receive. */
export async function measureLag(db: Db, consumer: string): Promise<number> {
  return (await listBehind(db, consumer)).reduce((sum, { head, position }) => sum + head - position, 0);
}

/** Events are kept this long, for the feed and for repeated deliveries. */
export const EVENTS_KEPT_MS = 30 * DAY_MS;
const PRUNE_BATCH = 5_000;

/** Deletes older events that every consumer has received. */
export async function pruneOutbox(db: Db, consumers: readonly string[], now: Date): Promise<void> {
  const before = new Date(now.getTime() - EVENTS_KEPT_MS);
  while ((await deleteOldEvents(db, consumers, before, PRUNE_BATCH)) === PRUNE_BATCH);
}
