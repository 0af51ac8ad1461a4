import { withoutClicks } from '../../analytics/figures/pausing.ts';
import { deleteClicks } from '../../analytics/figures/rollups/queries.ts';
import { leaveUnsent } from '../../analytics/figures/sync/queries.ts';
import { oldestWaitingClick } from '../../analytics/figures/waiting-clicks.ts';
import type { Context } from '../../kit/operation/context.ts';
import type { Work } from '../../kit/operation/work.ts';
import { rebuildFigures } from '../ledger/actions.ts';
import { beginRemoval, deleteEverything, endRemoval, listLosing } from './queries.ts';

/** Removes the sample and everything else in the brand. Its clicks and figures follow with `removeFigures`. */
export async function removeSample(work: Work): Promise<void> {
  const { db, brandId, now } = work;
  await beginRemoval(db, brandId, now);
  await leaveUnsent(db, [brandId]);
  await deleteEverything(db, brandId);
  work.audit({ resourceId: brandId, old: { sample: 'filled' }, new: { sample: null } });
}

/**
 * Removes clicks from before the removal and rebuilds the figures, which then have only what came after it. Clicks of
 * that time which still wait for ClickHouse are left to the next pass.
 */
export async function removeFigures(
  engines: Pick<Context, 'postgres' | 'clicksRedis' | 'clickhouse' | 'clock'>,
): Promise<void> {
  const { postgres, clicksRedis, clickhouse, clock } = engines;
  for (const { id, updatedAt } of await listLosing(postgres.db)) {
    const removedAt = updatedAt ?? clock.now();
    if ((await oldestWaitingClick(clicksRedis)) <= removedAt.getTime()) continue;
    await withoutClicks(clicksRedis, [id], () => deleteClicks(clickhouse, id, removedAt));
    await rebuildFigures(engines, id);
    await endRemoval(postgres.db, id);
  }
}
