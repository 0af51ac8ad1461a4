import { ensureMigrated } from '../../kit/engines/clickhouse/migrate.ts';
import { isUncertain } from '../../kit/engines/clickhouse/query.ts';
import type { Db } from '../../kit/engines/postgres/open.ts';
import type { Context } from '../../kit/operation/context.ts';
import type { Follower, Job } from '../../kit/operation/job.ts';
import { openDue } from '../../kit/values/due.ts';
import { DAY_MS } from '../../kit/values/duration.ts';
import { insertCustomers, listChangedLines, lockCustomersBehind, updateCustomerPositions } from './customer-rows.ts';
import { insertOrderFigures, loadOrderEntries } from './orders.ts';
import { listDoubled } from './rollups.ts';
import {
  allowSending,
  deleteSentBatches,
  insertBatch,
  insertPositions,
  insertPostings,
  insertUnfolded,
  isAfterFailover,
  isAnythingToSync,
  listEntries,
  lockBehind,
  lockOldestUnsent,
  markSent,
  type Range,
  type SentAt,
  type SyncBatch,
} from './sync.ts';

type Engines = Pick<Context, 'postgres' | 'clickhouse' | 'clicksRedis' | 'clock'>;

/** The rows of one insert: many enough to be efficient in ClickHouse, few enough for PostgreSQL to read at once. */
const MAX_ENTRIES = 5_000;
const MAX_BRANDS = 500;
const SENT_KEPT_MS = 7 * DAY_MS;

/** Limits the brands' new entries to one batch. */
function limitRanges(behind: Awaited<ReturnType<typeof lockBehind>>): Range[] {
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
    const ranges = limitRanges(await lockBehind(trx, MAX_BRANDS, after));
    if (ranges.length > 0) await insertBatch(trx, clock.now(), ranges);
    return ranges.length > 0;
  });
}

/** Depends only on the batch, so that a repeated send has the same token. */
const toToken = (name: 'ledger' | 'orders', { id, createdAt }: SyncBatch) => `${name}:${id}:${createdAt.getTime()}`;

/**
 * A table that batches are sent to. `insert` resolves to whether the batch was sent more than once; undefined if it has
 * to wait.
 */
interface SyncDestination {
  table: 'ledger_v1' | 'order_figures_v1';
  column: SentAt;
  insert: (engines: Engines, db: Db, batch: SyncBatch) => Promise<boolean | undefined>;
}

const POSTINGS: SyncDestination = {
  table: 'ledger_v1',
  column: 'sentAt',
  insert: async ({ clickhouse }, db, batch) =>
    await insertPostings(clickhouse, await listEntries(db, batch.ranges), toToken('ledger', batch)),
};

/** An order takes its country from the click that won it, so that click is sent first. */
const ORDERS: SyncDestination = {
  table: 'order_figures_v1',
  column: 'ordersSentAt',
  insert: async (engines, db, batch) => {
    const entries = await loadOrderEntries(engines, db, await listEntries(db, batch.ranges));
    if (entries.isClickAwaited) return undefined;
    return await insertOrderFigures(engines.clickhouse, entries, toToken('orders', batch));
  },
};

/**
 * Sends a batch. A cluster may count it twice if its answer to an earlier attempt was lost or uncertain; then the figures
 * of those brands are rebuilt. Returns false if the batch has to wait.
 */
async function send(engines: Engines, db: Db, batch: SyncBatch, { table, insert }: SyncDestination): Promise<boolean> {
  const { postgres, clickhouse } = engines;
  const brandIds = [...new Set(batch.ranges.map(({ brand_id }) => brand_id))];
  try {
    const isRepeated = await insert(engines, db, batch);
    if (!isRepeated) return isRepeated !== undefined;
    const from = Math.min(...batch.ranges.map((range) => range.from));
    await insertUnfolded(postgres.db, await listDoubled(clickhouse, table, brandIds, from));
    return true;
  } catch (error) {
    if (clickhouse.cluster !== undefined && isUncertain(error)) await insertUnfolded(postgres.db, brandIds);
    throw error;
  }
}

/** Sends the oldest batch. Returns false if there is none, if it has to wait, or if another worker is sending it. */
async function sendOldest(engines: Engines, destination: SyncDestination): Promise<boolean> {
  const { postgres, clock } = engines;
  return await postgres.db.transaction().execute(async (trx) => {
    if (await isAfterFailover(trx)) return false;
    const batch = await lockOldestUnsent(trx, destination.column);
    if (!batch || !(await send(engines, trx, batch, destination))) return false;
    await markSent(trx, batch.id, destination.column, clock.now());
    return true;
  });
}

/**
 * Sends the orders that the next seals changed, and the orders of the same customers that this affects. Rows replace
 * those of earlier versions, so the same seals may be sent again. Returns false if there are none.
 */
async function sendCustomers({ postgres, clickhouse }: Engines, after: Date | undefined): Promise<boolean> {
  return await postgres.db.transaction().execute(async (trx) => {
    if (await isAfterFailover(trx)) return false;
    await allowSending(trx);
    const ranges = limitRanges(await lockCustomersBehind(trx, MAX_BRANDS, after));
    if (ranges.length === 0) return false;
    const versions = new Map(ranges.map(({ brand_id, to }) => [brand_id, to]));
    await insertCustomers(clickhouse, await listChangedLines(trx, ranges), versions);
    await updateCustomerPositions(trx, ranges);
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
  do while (await sendOldest(engines, POSTINGS));
  while (await claim(engines, after));
  while (await sendOldest(engines, ORDERS));
  while (await sendCustomers(engines, after));
}

/** Each pass first checks, in one statement, whether any brand has new entries. */
export const followLedger: Follower = {
  name: 'sync-ledger',
  everyMs: 500,
  open: (context) => {
    const dueTimer = openDue(context.clock, context.config.workerSweepEveryMs);
    return async () => {
      await ensureMigrated(context.clickhouse);
      await dueTimer.ask(async (after) => {
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
