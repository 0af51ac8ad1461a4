import { ensureMigrated } from '../engines/clickhouse/migrate.ts';
import type { Context } from '../operation/context.ts';
import type { Follower, Job } from '../operation/job.ts';
import { openDue } from '../values/due.ts';
import { DAY_MS } from '../values/duration.ts';
import { insertPostings } from './sync/actions.ts';
import {
  type Batch,
  deleteSentBatches,
  insertBatch,
  insertPositions,
  isAfterFailover,
  isAnythingToSync,
  listEntries,
  lockBehind,
  lockOldestUnsent,
  markSent,
  type Range,
} from './sync/queries.ts';

type Engines = Pick<Context, 'postgres' | 'clickhouse' | 'clock'>;

/** The rows of one insert: many enough to be efficient in ClickHouse, few enough for PostgreSQL to read at once. */
const MAX_ENTRIES = 5_000;
const MAX_BRANDS = 500;
const SENT_KEPT_MS = 7 * DAY_MS;

/** Limits the brands' new entries to one batch. */
function cut(behind: Awaited<ReturnType<typeof lockBehind>>): Range[] {
  let room = MAX_ENTRIES;
  return behind.flatMap(({ brandId, position, head }) => {
    const to = Math.min(head, position + room);
    room -= to - position;
    return to > position ? [{ brand_id: brandId, from: position + 1, to }] : [];
  });
}

/** Puts the next entries of all brands into a batch. Returns false if there are none. */
async function claim({ postgres, clock }: Engines, after: Date | undefined): Promise<boolean> {
  return await postgres.db.transaction().execute(async (trx) => {
    if (await isAfterFailover(trx)) return false;
    const ranges = cut(await lockBehind(trx, MAX_BRANDS, after));
    if (ranges.length > 0) await insertBatch(trx, clock.now(), ranges);
    return ranges.length > 0;
  });
}

/** Depends only on the batch, so that a repeated send has the same token. */
const tokenOf = ({ id, createdAt }: Batch) => `ledger:${id}:${createdAt.getTime()}`;

/** Sends the oldest batch. Returns false if there is none, or if another worker is sending it. */
async function sendOldest({ postgres, clickhouse, clock }: Engines): Promise<boolean> {
  return await postgres.db.transaction().execute(async (trx) => {
    if (await isAfterFailover(trx)) return false;
    const batch = await lockOldestUnsent(trx);
    if (!batch) return false;
    await insertPostings(clickhouse, await listEntries(trx, batch.ranges), tokenOf(batch));
    await markSent(trx, batch.id, clock.now());
    return true;
  });
}

/**
 * Copies new ledger entries to ClickHouse, each exactly once. A batch's contents are committed before it is sent, so a
 * process that retries after a crash sends the same rows under the same token, and ClickHouse drops them.
 */
export async function syncLedger(engines: Engines, after?: Date): Promise<void> {
  await insertPositions(engines.postgres.db, after);
  // One batch at a time, because each read of figures looks into every unsent batch.
  do while (await sendOldest(engines));
  while (await claim(engines, after));
}

/** Each pass first checks, in one statement, whether any brand has new entries. */
export const followLedger: Follower = {
  name: 'sync-ledger',
  everyMs: 500,
  open: (context) => {
    const due = openDue(context.clock, context.config.workerSweepEveryMs);
    return async () => {
      await ensureMigrated(context.clickhouse);
      await due.ask(async (after) => {
        if (await isAnythingToSync(context.postgres.db, after)) await syncLedger(context, after);
      });
    };
  },
};

export const forgetSentBatches: Job = {
  name: 'forget-sent-batches',
  everyMs: 3_600_000,
  asksFor: 'batches of ledger entries that ClickHouse received a week ago',
  run: ({ postgres, clock }) => deleteSentBatches(postgres.db, new Date(clock.now().getTime() - SENT_KEPT_MS)),
};
