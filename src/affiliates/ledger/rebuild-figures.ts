import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { moveCustomerPositions, rebuildCustomers } from '../../analytics/figures/customer-rows.ts';
import { insertOrderFigures, loadOrderEntries } from '../../analytics/figures/orders.ts';
import { withoutClicks } from '../../analytics/figures/pausing.ts';
import { deleteFolded, rebuildClicks } from '../../analytics/figures/rollups.ts';
import { REBUILD_NOTICE_MS } from '../../analytics/figures/sums.ts';
import {
  deleteUnfolded,
  insertPostings,
  insertUnfolded,
  listEntries,
  lockPositions,
  type Range,
  removeFromUnsent,
} from '../../analytics/figures/sync.ts';
import type { Context } from '../../kit/operation/context.ts';

type Engines = Pick<Context, 'postgres' | 'clicksRedis' | 'clickhouse'>;

/** Most brands that are rebuilt together. */
export const REBUILT_TOGETHER = 200;
const BATCH = 5_000;

/** Divides everything up to the positions into inserts. */
function* splitInserts(positions: ReadonlyMap<string, number>): Generator<Range[]> {
  let ranges: Range[] = [];
  let room = BATCH;
  for (const [brandId, position] of positions) {
    for (let from = 1; from <= position; ) {
      const to = Math.min(position, from + room - 1);
      ranges.push({ brand_id: brandId, from, to });
      room -= to - from + 1;
      from = to + 1;
      if (room > 0) continue;
      yield ranges;
      ranges = [];
      room = BATCH;
    }
  }
  if (ranges.length > 0) yield ranges;
}

/**
 * Rebuilds the figures of up to `REBUILT_TOGETHER` brands: postings, orders and customers from PostgreSQL, clicks from
 * `clicks_v1`. Meanwhile their figures are incomplete, and their new sales and clicks wait. The worker repeats an
 * interrupted rebuild, and one whose orders were earned by clicks that had not reached ClickHouse. Returns the number of
 * entries that it folded, by brand.
 */
export async function rebuildTogether(
  { postgres, clicksRedis, clickhouse }: Engines,
  brandIds: readonly string[],
): Promise<ReadonlyMap<string, number>> {
  const runId = randomUUID();
  return await postgres.db.transaction().execute(async (trx) => {
    const positions = await lockPositions(trx, brandIds);
    const seals = await moveCustomerPositions(trx, brandIds);
    await insertUnfolded(postgres.db, brandIds);
    await removeFromUnsent(postgres.db, brandIds);
    await pause(REBUILD_NOTICE_MS);
    let isClickAwaited = false;
    await withoutClicks(clicksRedis, brandIds, async () => {
      await deleteFolded(clickhouse, brandIds);
      let n = 0;
      for (const ranges of splitInserts(positions)) {
        const entries = await listEntries(trx, ranges);
        await insertPostings(clickhouse, entries, `rebuild:${runId}:${n}`);
        const orders = await loadOrderEntries({ clickhouse, clicksRedis }, trx, entries);
        await insertOrderFigures(clickhouse, orders, `rebuild:orders:${runId}:${n}`);
        isClickAwaited ||= orders.isClickAwaited;
        n += 1;
      }
      await rebuildClicks(clickhouse, brandIds);
    });
    await rebuildCustomers(clickhouse, trx, seals);
    if (!isClickAwaited) await deleteUnfolded(trx, brandIds);
    return positions;
  });
}

/** Rebuilds one brand's figures, and returns the number of entries that it folded. */
export async function rebuildFigures(engines: Engines, brandId: string): Promise<number> {
  return (await rebuildTogether(engines, [brandId])).get(brandId) ?? 0;
}
