import { readFileSync } from 'node:fs';
import { z } from 'zod';
import { CLICK_CLAIM_PAUSED, CLICKS_HELD, CLICKS_PAUSED } from '../../analytics/figures/sums.ts';
import { insertUnfolded } from '../../analytics/figures/sync.ts';
import { insertOnce } from '../../kit/engines/clickhouse/insert.ts';
import { ensureMigrated } from '../../kit/engines/clickhouse/migrate.ts';
import { tsvTime } from '../../kit/engines/clickhouse/tsv.ts';
import type { Redis } from '../../kit/engines/redis/open.ts';
import type { Context } from '../../kit/operation/context.ts';
import type { Follower } from '../../kit/operation/job.ts';
import { repairBatch } from './repair-batch.ts';
import { addMissing, listBrands, markRepeats, STORED, splitPaused } from './row.ts';
import { openUtmLimit } from './utm.ts';
import { CLAIM, STREAM } from './waiting-clicks.ts';

const CLAIM_LUA = readFileSync(new URL('./claim.lua', import.meta.url), 'utf8');
const ACKNOWLEDGE_LUA = readFileSync(new URL('./acknowledge.lua', import.meta.url), 'utf8');

/** About 40,000 rows, where ClickHouse is fast and Redis is busy for 4 ms. */
const BATCH_BYTES = 7_000_000;

const Reply = z.array(z.string());

export interface Batch {
  /** The ids of its first and last entry. */
  token: string;
  rows: string;
  /** Rows of brands whose figures are rebuilt: they are kept for later. */
  held: string;
  /** True if a worker received it before and may have sent it. */
  isAgain: boolean;
}

export interface ClickQueue {
  /** The unacknowledged batch, else the next one. */
  claim(): Promise<Batch | undefined>;
  acknowledge(batch: Batch): Promise<void>;
}

export function openClickQueue(redis: Redis): ClickQueue {
  const claim = redis.script(CLAIM_LUA);
  const acknowledge = redis.script(ACKNOWLEDGE_LUA);
  const limitUtm = openUtmLimit(redis);
  return {
    claim: async () => {
      const keys = [STREAM, CLAIM, CLICKS_PAUSED, CLICK_CLAIM_PAUSED, CLICKS_HELD];
      const [token, again, pausedRows, ...fields] = Reply.parse(await claim(keys, [BATCH_BYTES]));
      if (token === undefined) return undefined;
      let rows = '';
      for (let i = 0; i < fields.length; i += 2) rows += markRepeats(addMissing(fields[i] ?? ''), fields[i + 1] ?? '');
      return { token, ...splitPaused(await limitUtm(rows), pausedRows ?? ''), isAgain: again === 'again' };
    },
    acknowledge: async ({ token, held }) =>
      void (await acknowledge([STREAM, CLAIM, CLICK_CLAIM_PAUSED, CLICKS_HELD], [token, held])),
  };
}

type Engines = Pick<Context, 'postgres' | 'clicksRedis' | 'clickhouse' | 'clock'>;

/** The rows with the time at which they arrive, which is the same for all of a batch. */
const stampRows = (rows: string, at: Date): string => rows.replaceAll('\n', `\t${tsvTime(at)}\n`);

/**
 * Sends a batch. A cluster that received it before may have counted it twice, or not in every rollup: then the figures of
 * its brands are rebuilt. A single server is compared after each of its starts.
 */
async function send({ postgres, clickhouse }: Engines, batch: Batch): Promise<void> {
  const isRepeated = await insertOnce(clickhouse, 'clicks_v1', STORED, batch.rows, `clicks:${batch.token}`);
  if (!batch.isAgain && !isRepeated) return;
  const wasDoubled = await repairBatch(clickhouse, batch);
  if (wasDoubled || (batch.isAgain && clickhouse.cluster !== undefined)) {
    await insertUnfolded(postgres.db, listBrands(batch.rows));
  }
}

/**
 * Moves clicks into ClickHouse, batch by batch, until none are left. Each click arrives exactly once, even if processes
 * are killed or several run at once: a batch is fixed before it is sent, and ClickHouse knows it by its token. Returns
 * the batches.
 */
export async function drainClicks(engines: Engines, signal?: AbortSignal): Promise<number> {
  const queue = openClickQueue(engines.clicksRedis);
  for (let batches = 0; ; batches += 1) {
    const batch = signal?.aborted ? undefined : await queue.claim();
    if (!batch) return batches;
    // Rows that are sent again get a later time, unless they arrived before.
    await send(engines, { ...batch, rows: stampRows(batch.rows, engines.clock.now()) });
    await queue.acknowledge(batch);
  }
}

export const followClicks: Follower = {
  name: 'drain-clicks',
  everyMs: 500,
  open: (context, stopping) => async () => {
    await ensureMigrated(context.clickhouse);
    await drainClicks(context, stopping);
  },
};
