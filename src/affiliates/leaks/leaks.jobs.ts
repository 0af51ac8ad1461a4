import { findPeriod } from '../../analytics/periods.ts';
import { transact } from '../../kit/engines/postgres/transaction.ts';
import type { DueRow } from '../../kit/engines/postgres/work-claims.ts';
import { claimedWork, type Turn } from '../../kit/operation/claimed-work.ts';
import type { Context } from '../../kit/operation/context.ts';
import { HOUR_MS } from '../../kit/values/duration.ts';
import { findLeaks, replaceLeaks, selectDueSearches, updateSearchedAt } from './leaks.ts';

const EVERY_MS = 6 * HOUR_MS;

/** Scores the codes of a brand; later orders are flagged by these scores. */
async function searchBrand(context: Context, { id: brandId }: DueRow, turn: Turn): Promise<void> {
  const now = context.clock.now();
  const codes = await findLeaks(context, brandId, await findPeriod(context.postgres.db, brandId, {}, now));
  const leaks = codes.filter(({ score }) => score > 0).map(({ linkId, score }) => ({ linkId, score }));
  await transact(context.postgres.db, async (trx) => {
    await turn.hold(trx);
    await replaceLeaks(trx, brandId, leaks, now);
    await updateSearchedAt(trx, brandId, now);
  });
}

export const searchLeaks = claimedWork({
  name: 'search-leaks',
  everyMs: 60_000,
  asksFor: 'brands that flag leaked codes and were not searched for six hours',
  places: 2,
  due: (_db, now) => selectDueSearches(new Date(now.getTime() - EVERY_MS)),
  doing: 'searching a brand for leaked codes',
  run: searchBrand,
});
