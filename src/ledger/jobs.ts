import type { Context } from '../api/context.ts';
import { findMending, finishMending, insertMending } from '../figures/rollups/queries.ts';
import { CLICK_CLAIM } from '../figures/schema.ts';
import { insertUnfolded, listUnfolded, oldestUnsentId } from '../figures/shipping/queries.ts';
import { listBrandIds } from './queries.ts';
import { rebuildFigures } from './rebuild.ts';
import { compareFigures } from './verify.ts';

type Engines = Pick<Context, 'postgres' | 'redis' | 'clickhouse' | 'log' | 'failures'>;

/** A rebuild fails also when clicks went on meanwhile. */
const TRIES = 3;

/** What is on its way to ClickHouse. */
async function underWay({ postgres, redis }: Engines): Promise<{ claim: string; batch: number }> {
  const claim = await redis.use((client) => client.get(CLICK_CLAIM));
  return { claim: claim ?? '', batch: await oldestUnsentId(postgres.db) };
}

async function mend(engines: Engines, brandId: string): Promise<void> {
  const { postgres, clickhouse, log } = engines;
  const problems = await compareFigures({ db: postgres.db, clickhouse }, brandId);
  if (problems.length === 0) return;
  log.warn({ brandId, problems }, 'figures that ClickHouse lost as it was killed are folded again');
  await rebuildFigures(engines, brandId);
}

/** Mends each of the brands, and answers those where that failed for a reason of their own. */
async function mendEach(engines: Engines, brandIds: readonly string[]): Promise<string[]> {
  const { postgres, redis, clickhouse, failures } = engines;
  const failed: string[] = [];
  for (const brandId of brandIds) {
    try {
      await mend(engines, brandId);
    } catch (error) {
      // With an engine away every brand would fail: all are mended once it is back.
      await Promise.all([postgres.ping(), redis.ping(), clickhouse.ping()]);
      failures.failed('reconciling the figures of a brand', error, { brandId });
      failed.push(brandId);
    }
  }
  return failed;
}

/** A brand that fails again and again is left to `refoldUnfolded`: the others are not compared for its sake forever. */
async function mendAll(engines: Engines): Promise<void> {
  const { db } = engines.postgres;
  let left = await listBrandIds(db);
  for (let tries = 1; tries <= TRIES && left.length > 0; tries += 1) left = await mendEach(engines, left);
  for (const brandId of left) await insertUnfolded(db, brandId);
}

/**
 * Once after each start of ClickHouse. One that is killed within an insert may lack the batch in a table and take it for
 * a duplicate when it is sent again (clicks/missing.ts): so once that was sent again, every brand's figures are compared
 * with what they are folded from, and folded again where they differ. With replicas that cannot happen.
 */
export async function mendFigures(engines: Engines): Promise<void> {
  const { clickhouse } = engines;
  if (clickhouse.cluster !== undefined) return;
  const mending = await findMending(clickhouse);
  if (mending?.step === 'done') return;
  const now = await underWay(engines);
  if (!mending) return await insertMending(clickhouse, now);
  const isStillUnderWay =
    (mending.claim !== '' && mending.claim === now.claim) || (mending.batch !== 0 && mending.batch === now.batch);
  if (isStillUnderWay) return;
  await mendAll(engines);
  await finishMending(clickhouse);
}

/** Folds the figures again of brands where that was not done to the end: who did it was killed, or it failed. */
export async function refoldUnfolded(engines: Engines): Promise<void> {
  for (const brandId of await listUnfolded(engines.postgres.db)) await rebuildFigures(engines, brandId);
}
