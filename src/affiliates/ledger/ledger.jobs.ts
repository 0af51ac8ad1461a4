import { listCustomerPositions } from '../../analytics/figures/customer-rows.ts';
import { listCustomerVersions } from '../../analytics/figures/customers.ts';
import {
  findReconciliation,
  finishReconciliation,
  insertReconciliation,
  listLastSeqs,
} from '../../analytics/figures/rollups.ts';
import { CLICK_CLAIM } from '../../analytics/figures/sums.ts';
import {
  findHistory,
  insertUnfolded,
  listPositions,
  listUnfolded,
  oldestUnsentId,
  recordHistory,
} from '../../analytics/figures/sync.ts';
import { ensureMigrated } from '../../kit/engines/clickhouse/migrate.ts';
import type { Context } from '../../kit/operation/context.ts';
import type { Job } from '../../kit/operation/job.ts';
import { toChunks } from '../../kit/values/chunks.ts';
import { compareFigures } from './compare-figures.ts';
import { listBrandIds } from './ledger.ts';
import { REBUILT_TOGETHER, rebuildFigures, rebuildTogether } from './rebuild-figures.ts';

type Engines = Pick<Context, 'postgres' | 'clicksRedis' | 'clickhouse' | 'log' | 'failures'>;

/** A rebuild also fails if clicks continued in the meantime. */
const TRIES = 3;

async function reconcile(engines: Engines, brandId: string): Promise<void> {
  const { postgres, clickhouse, log } = engines;
  const problems = await compareFigures({ db: postgres.db, clickhouse }, brandId);
  if (problems.length === 0) return;
  log.warn({ brandId, problems }, 'rebuilding figures that ClickHouse lost when it was killed');
  await rebuildFigures(engines, brandId);
}

/** Reconciles each brand, and returns those that failed while the engines were up. */
async function reconcileEach(engines: Engines, brandIds: readonly string[]): Promise<string[]> {
  const { postgres, clicksRedis, clickhouse, failures } = engines;
  const failedIds: string[] = [];
  for (const brandId of brandIds) {
    try {
      await reconcile(engines, brandId);
    } catch (error) {
      // If an engine is down, every brand would fail; all are reconciled once it is back.
      await Promise.all([postgres.ping(), clicksRedis.ping(), clickhouse.ping()]);
      failures.failed('reconciling the figures of a brand', error, { brandId });
      failedIds.push(brandId);
    }
  }
  return failedIds;
}

/**
 * Runs once after each start of ClickHouse. If ClickHouse is killed during an insert, a table may lack the batch and
 * still treat it as a duplicate when it is sent again (links-host/repair-batch.ts). Every brand's figures are therefore
 * compared with their sources, and rebuilt if they differ. Replicas do not lose batches like this; their losses are
 * detected when a batch is sent again.
 */
export async function reconcileFigures(engines: Engines): Promise<void> {
  const { clickhouse } = engines;
  if (clickhouse.cluster !== undefined) return;
  const reconciliation = await findReconciliation(clickhouse);
  if (reconciliation?.step === 'done') return;
  const { postgres, clicksRedis } = engines;
  const claim = (await clicksRedis.use((client) => client.get(CLICK_CLAIM))) ?? '';
  const batchesInFlight = { claim, batch: await oldestUnsentId(postgres.db) };
  if (!reconciliation) return await insertReconciliation(clickhouse, batchesInFlight);
  const isStillInFlight =
    (reconciliation.claim !== '' && reconciliation.claim === batchesInFlight.claim) ||
    (reconciliation.batch !== 0 && reconciliation.batch === batchesInFlight.batch);
  if (isStillInFlight) return;
  let brandIds = await listBrandIds(postgres.db);
  for (let tries = 1; tries <= TRIES && brandIds.length > 0; tries += 1) {
    brandIds = await reconcileEach(engines, brandIds);
  }
  // A brand that keeps failing is left to `rebuildUnfinished`, so that the others are not compared again and again.
  if (brandIds.length > 0) await insertUnfolded(postgres.db, brandIds);
  await finishReconciliation(clickhouse);
}

/** Counts by brand the ledger entries, or seals of orders, that ClickHouse has beyond what was sent to it. */
async function listAhead({ postgres: { db }, clickhouse }: Engines): Promise<Map<string, number>> {
  const beyond = (sentPositions: { brandId: string; seq: number }[], positions: ReadonlyMap<string, number>) =>
    sentPositions.flatMap(({ brandId, seq }): [string, number][] => {
      const lostEntries = seq - (positions.get(brandId) ?? seq);
      return lostEntries > 0 ? [[brandId, lostEntries]] : [];
    });
  return new Map([
    ...beyond(await listCustomerVersions(clickhouse), await listCustomerPositions(db)),
    ...beyond(await listLastSeqs(clickhouse), await listPositions(db)),
  ]);
}

/**
 * After an asynchronous failover PostgreSQL may lack the ledger's last entries, which ClickHouse has. A promoted
 * standby lacks only the end of the history, and positions are committed before entries are sent, so exactly the brands
 * for which ClickHouse is ahead have lost entries. Nothing is sent until they are recorded.
 */
export async function repairAfterFailover(engines: Engines): Promise<void> {
  const { postgres, log } = engines;
  const { current, recorded } = await findHistory(postgres.db);
  if (current === recorded) return;
  const ahead = recorded === null ? new Map<string, number>() : await listAhead(engines);
  await insertUnfolded(postgres.db, [...ahead.keys()]);
  await recordHistory(postgres.db, current);
  if (recorded === null) return;
  log.warn(
    { from: recorded, to: current, brands: ahead.size },
    'PostgreSQL was replaced by a standby or a copy: rebuilding the figures of brands that lost ledger entries',
  );
  for (const [brandId, lostEntries] of ahead) {
    log.warn({ brandId, lost: lostEntries }, 'rebuilding figures of lost entries');
    await rebuildFigures(engines, brandId);
  }
}

/** Rebuilds brands together, or one by one if that fails, so that one brand does not keep the others incomplete. */
async function rebuildChunk(engines: Engines, brandIds: readonly string[]): Promise<void> {
  try {
    await rebuildTogether(engines, brandIds);
  } catch (error) {
    if (brandIds.length === 1) throw error;
    const results = [];
    for (const brandId of brandIds) results.push(...(await Promise.allSettled([rebuildFigures(engines, brandId)])));
    const failure = results.find(({ status }) => status === 'rejected');
    if (failure?.status === 'rejected') throw failure.reason;
  }
}

/** Rebuilds the figures of brands whose last rebuild was interrupted or failed. */
export async function rebuildUnfinished(engines: Engines): Promise<void> {
  for (const brandIds of toChunks(await listUnfolded(engines.postgres.db), REBUILT_TOGETHER)) {
    await rebuildChunk(engines, brandIds);
  }
}

export const reconcileJob: Job = {
  name: 'reconcile-figures',
  everyMs: 5_000,
  asksFor: 'figures to compare after a start of ClickHouse or a failover of PostgreSQL, and unfinished rebuilds',
  run: async (context) => {
    await ensureMigrated(context.clickhouse);
    await repairAfterFailover(context);
    await reconcileFigures(context);
    await rebuildUnfinished(context);
  },
};
