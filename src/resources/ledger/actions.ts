import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import type { Redis } from '../../engines/redis/open.ts';
import { deleteFolded, rebuildClicks } from '../../figures/rollups/queries.ts';
import { CLICK_CLAIM, CLICKS_PAUSED, REBUILD_NOTICE_MS } from '../../figures/schema.ts';
import { insertPostings } from '../../figures/sync/actions.ts';
import {
  deleteUnfolded,
  insertUnfolded,
  leaveUnsent,
  listEntries,
  lockPosition,
  lockRebuilding,
} from '../../figures/sync/queries.ts';
import type { Context } from '../../operation/context.ts';

const BATCH = 5_000;
const PAUSE_MS = 30_000;
const RENEW_EVERY_MS = 5_000;
const LOOK_EVERY_MS = 50;

/** Waits until no batch of clicks is being inserted; while paused, none starts. */
async function untilDrained(redis: Redis): Promise<void> {
  const end = performance.now() + PAUSE_MS;
  while (await redis.use((client) => client.exists(CLICK_CLAIM))) {
    if (performance.now() > end) throw new Error('A batch of clicks is not acknowledged; is a worker running?');
    await pause(LOOK_EVERY_MS);
  }
}

/** Runs `work` while no click is inserted into ClickHouse; clicks wait in Redis. */
async function withoutClicks(redis: Redis, work: () => Promise<void>): Promise<void> {
  const owner = randomUUID();
  const keepPaused = () => redis.use((client) => client.set(CLICKS_PAUSED, owner, 'PX', PAUSE_MS));
  let isPaused = true;
  const assertPaused = async () => {
    isPaused &&= (await redis.use((client) => client.get(CLICKS_PAUSED))) === owner;
    if (!isPaused) throw new Error('Clicks were inserted during the rebuild; run it again.');
  };
  await keepPaused();
  const renewal = setInterval(() => {
    // Renewing an expired pause would hide that clicks were inserted.
    assertPaused()
      .then(keepPaused)
      .catch(() => {
        isPaused = false;
      });
  }, RENEW_EVERY_MS);
  try {
    await untilDrained(redis);
    await work();
    await assertPaused();
  } finally {
    clearInterval(renewal);
    await redis.use((client) => client.del(CLICKS_PAUSED));
  }
}

/**
 * Rebuilds a brand's figures: postings from PostgreSQL, clicks from `clicks_v1`. Meanwhile no other figures are written
 * and the brand's are incomplete; new sales and clicks wait. The worker repeats an interrupted rebuild. Returns how
 * many entries it folded.
 */
export async function rebuildFigures(
  { postgres, clicksRedis, clickhouse }: Pick<Context, 'postgres' | 'clicksRedis' | 'clickhouse'>,
  brandId: string,
): Promise<number> {
  const run = randomUUID();
  let entries = 0;
  return await postgres.db.transaction().execute(async (trx) => {
    await lockRebuilding(trx);
    await insertUnfolded(postgres.db, brandId);
    await pause(REBUILD_NOTICE_MS);
    const position = await lockPosition(trx, brandId);
    await leaveUnsent(trx, brandId);
    await withoutClicks(clicksRedis, async () => {
      await deleteFolded(clickhouse, brandId);
      for (let from = 1; from <= position; from += BATCH) {
        const range = { brand_id: brandId, from, to: Math.min(position, from + BATCH - 1) };
        const found = await listEntries(trx, range);
        await insertPostings(clickhouse, found, `rebuild:${run}:${from}`);
        entries += found.length;
      }
      await rebuildClicks(clickhouse, brandId);
    });
    await deleteUnfolded(trx, brandId);
    return entries;
  });
}
