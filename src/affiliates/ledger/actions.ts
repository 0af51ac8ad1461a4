import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { rebuildCustomers } from '../../analytics/figures/customers/actions.ts';
import { moveCustomerPositions } from '../../analytics/figures/customers/rows/queries.ts';
import { insertOrderFigures, withFacts } from '../../analytics/figures/orders/actions.ts';
import { withoutClicks } from '../../analytics/figures/pausing.ts';
import { deleteFolded, rebuildClicks } from '../../analytics/figures/rollups/queries.ts';
import { REBUILD_NOTICE_MS } from '../../analytics/figures/schema.ts';
import { insertPostings } from '../../analytics/figures/sync/actions.ts';
import {
  deleteUnfolded,
  insertUnfolded,
  leaveUnsent,
  listEntries,
  lockPositions,
  type Range,
} from '../../analytics/figures/sync/queries.ts';
import type { Context } from '../../kit/operation/context.ts';

type Engines = Pick<Context, 'postgres' | 'clicksRedis' | 'clickhouse'>;

/** The brands that are rebuilt together. */
export const REBUILT_TOGETHER = 200;
const BATCH = 5_000;

/** Everything up to the positions, divided into inserts. */
function* insertsOf(positions: ReadonlyMap<string, number>): Generator<Range[]> {
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
 * Rebuilds the figures of up to `REBUILT_TOGETHER` brands: postings, orders and customers from PostgreSQL, clicks from `clicks_v1`.
 * Meanwhile their figures are incomplete, and their new sales and clicks wait; those of other brands do not. The worker
 * repeats an interrupted rebuild, and one whose orders were won by clicks that were not in ClickHouse yet. Returns how many
 * entries of each brand it folded.
 */
export async function rebuildTogether(
  { postgres, clicksRedis, clickhouse }: Engines,
  brandIds: readonly string[],
): Promise<ReadonlyMap<string, number>> {
  const run = randomUUID();
  return await postgres.db.transaction().execute(async (trx) => {
    const positions = await lockPositions(trx, brandIds);
    const seals = await moveCustomerPositions(trx, brandIds);
    await insertUnfolded(postgres.db, brandIds);
    await leaveUnsent(postgres.db, brandIds);
    await pause(REBUILD_NOTICE_MS);
    let isClickAwaited = false;
    await withoutClicks(clicksRedis, brandIds, async () => {
      await deleteFolded(clickhouse, brandIds);
      let n = 0;
      for (const ranges of insertsOf(positions)) {
        const entries = await listEntries(trx, ranges);
        await insertPostings(clickhouse, entries, `rebuild:${run}:${n}`);
        const orders = await withFacts({ clickhouse, clicksRedis }, trx, entries);
        await insertOrderFigures(clickhouse, orders, `rebuild:orders:${run}:${n}`);
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

/** Rebuilds one brand's figures, and returns how many entries it folded. */
export async function rebuildFigures(engines: Engines, brandId: string): Promise<number> {
  return (await rebuildTogether(engines, [brandId])).get(brandId) ?? 0;
}
