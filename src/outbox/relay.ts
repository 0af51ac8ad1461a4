import type { Db } from '../engines/postgres/open.ts';
import { systemClock } from '../values/clock.ts';
import type { Due } from '../values/due.ts';
import { DAY_MS } from '../values/duration.ts';
import { openRepeatedFailures, type RepeatedFailures, type Said } from '../values/repeated-failures.ts';
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

/** Gives one brand's next events to a consumer; false when that was all, or another relay works on it. */
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

interface Round {
  /** Brands that failed; they delay no other. */
  failed: string[];
  /** Brands that have more events than one turn gives. */
  unfinished: string[];
}

/** Gives each of the brands its next events, one batch, so that no brand waits for all that another has. */
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
      failures.failed(whatOf(consumer), error, { brandId });
    }
  }
  return round;
}

export interface Relay {
  db: Db;
  consumer: Consumer;
  log: Said;
  due: Due;
  /** Called after each round that gave something. */
  given?: (() => void) | undefined;
}

/**
 * Passes of rounds, until no brand has more than a batch: each round asks for the brands that moved of late, and now and
 * then for all of them, and takes along those that failed in the pass before.
 */
export function openRelay({ db, consumer, log, due, given }: Relay): (stopping?: AbortSignal) => Promise<void> {
  let failed: string[] = [];
  const failures = openRepeatedFailures(log, systemClock);
  return async (stopping) => {
    let waiting = failed;
    failed = [];
    do {
      const behind = await due.ask((after) => listBehind(db, consumer.name, after));
      const brandIds = new Set(
        [...waiting, ...behind.map(({ brandId }) => brandId)].filter((id) => !failed.includes(id)),
      );
      const round = await relayRound(db, consumer, failures, brandIds);
      failed.push(...round.failed);
      waiting = round.unfinished;
      if (brandIds.size > round.failed.length) given?.();
    } while (waiting.length > 0 && !stopping?.aborted);
    if (failed.length === 0) failures.succeeded(whatOf(consumer));
    failed.push(...waiting);
  };
}

/** How many events a consumer has not been given yet. */
export async function lagOf(db: Db, consumer: string): Promise<number> {
  return (await listBehind(db, consumer)).reduce((sum, { head, position }) => sum + head - position, 0);
}

/** Events are kept this long, for the feed and for deliveries that are sent again. */
export const EVENTS_KEPT_MS = 30 * DAY_MS;
const PRUNE_BATCH = 5_000;

/** Forgets events that are older than that and that every consumer has been given. */
export async function pruneOutbox(db: Db, consumers: readonly string[], now: Date): Promise<void> {
  const before = new Date(now.getTime() - EVENTS_KEPT_MS);
  while ((await deleteOldEvents(db, consumers, before, PRUNE_BATCH)) === PRUNE_BATCH);
}
