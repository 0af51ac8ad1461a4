import { ensureMigrated } from '../../engines/clickhouse/migrate.ts';
import { findReconciliation, finishReconciliation, insertReconciliation } from '../../figures/rollups/queries.ts';
import { CLICK_CLAIM } from '../../figures/schema.ts';
import { insertUnfolded, listUnfolded, oldestUnsentId } from '../../figures/sync/queries.ts';
import type { Context } from '../../operation/context.ts';
import type { Job } from '../../operation/job.ts';
import { rebuildFigures } from './actions.ts';
import { listBrandIds } from './queries.ts';
import { compareFigures } from './verify/actions.ts';

type Engines = Pick<Context, 'postgres' | 'redis' | 'clickhouse' | 'log' | 'failures'>;

/** A rebuild fails also when clicks went on meanwhile. */
const TRIES = 3;

/** What is on its way to ClickHouse. */
async function underWay({ postgres, redis }: Engines): Promise<{ claim: string; batch: number }> {
  const claim = await redis.use((client) => client.get(CLICK_CLAIM));
  return { claim: claim ?? '', batch: await oldestUnsentId(postgres.db) };
}

async function reconcile(engines: Engines, brandId: string): Promise<void> {
  const { postgres, clickhouse, log } = engines;
  const problems = await compareFigures({ db: postgres.db, clickhouse }, brandId);
  if (problems.length === 0) return;
  log.warn({ brandId, problems }, 'figures that ClickHouse lost as it was killed are rebuilt');
  await rebuildFigures(engines, brandId);
}

/** Reconciles each of the brands, and answers those where that failed for a reason of their own. */
async function reconcileEach(engines: Engines, brandIds: readonly string[]): Promise<string[]> {
  const { postgres, redis, clickhouse, failures } = engines;
  const failed: string[] = [];
  for (const brandId of brandIds) {
    try {
      await reconcile(engines, brandId);
    } catch (error) {
      // With an engine away every brand would fail: all are reconciled once it is back.
      await Promise.all([postgres.ping(), redis.ping(), clickhouse.ping()]);
      failures.failed('reconciling the figures of a brand', error, { brandId });
      failed.push(brandId);
    }
  }
  return failed;
}

/** A brand that fails again and again is left to `rebuildUnfinished`: the others are not compared for its sake forever. */
async function reconcileAll(engines: Engines): Promise<void> {
  const { db } = engines.postgres;
  let left = await listBrandIds(db);
  for (let tries = 1; tries <= TRIES && left.length > 0; tries += 1) left = await reconcileEach(engines, left);
  for (const brandId of left) await insertUnfolded(db, brandId);
}

/**
 * Once after each start of ClickHouse. One that is killed within an insert may lack the batch in a table and take it for
 * a duplicate when it is sent again (clicks/missing.ts): so once that was sent again, every brand's figures are compared
 * with what they are folded from, and rebuilt where they differ. With replicas that cannot happen.
 */
export async function reconcileFigures(engines: Engines): Promise<void> {
  const { clickhouse } = engines;
  if (clickhouse.cluster !== undefined) return;
  const reconciliation = await findReconciliation(clickhouse);
  if (reconciliation?.step === 'done') return;
  const now = await underWay(engines);
  if (!reconciliation) return await insertReconciliation(clickhouse, now);
  const isStillUnderWay =
    (reconciliation.claim !== '' && reconciliation.claim === now.claim) ||
    (reconciliation.batch !== 0 && reconciliation.batch === now.batch);
  if (isStillUnderWay) return;
  await reconcileAll(engines);
  await finishReconciliation(clickhouse);
}

/** Rebuilds the figures of brands where a rebuild did not come to its end: its process was killed, or it failed. */
export async function rebuildUnfinished(engines: Engines): Promise<void> {
  for (const brandId of await listUnfolded(engines.postgres.db)) await rebuildFigures(engines, brandId);
}

export const reconcileJob: Job = {
  name: 'reconcile-figures',
  everyMs: 5_000,
  asksFor: 'figures to compare after a start of ClickHouse, and rebuilds that did not end',
  run: async (context) => {
    await ensureMigrated(context.clickhouse);
    await reconcileFigures(context);
    await rebuildUnfinished(context);
  },
};
