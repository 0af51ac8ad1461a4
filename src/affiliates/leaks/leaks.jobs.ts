import { resolvePeriod } from '../../analytics/periods.ts';
import { transact } from '../../kit/engines/postgres/transaction.ts';
import type { Context } from '../../kit/operation/context.ts';
import type { Job } from '../../kit/operation/job.ts';
import { HOUR_MS } from '../../kit/values/duration.ts';
import { claimSearches, findLeaks, replaceLeaks } from './leaks.ts';

const EVERY_MS = 6 * HOUR_MS;
const AT_ONCE = 20;

/** Scores the codes of brands that flag leaked ones; later orders are flagged by these scores. */
export async function searchDue(context: Context): Promise<void> {
  const { postgres, clock } = context;
  const now = clock.now();
  for (const brandId of await claimSearches(postgres.db, now, new Date(now.getTime() - EVERY_MS), AT_ONCE)) {
    try {
      const codes = await findLeaks(context, brandId, resolvePeriod({}, now));
      const leaks = codes.filter(({ score }) => score > 0).map(({ linkId, score }) => ({ linkId, score }));
      await transact(postgres.db, (trx) => replaceLeaks(trx, brandId, leaks, now));
    } catch (error) {
      context.failures.failed('searching a brand for leaked codes', error, { brandId });
      // A failed search is due again.
      await postgres.db.updateTable('fraudRules').set({ searchedAt: null }).where('brandId', '=', brandId).execute();
    }
  }
}

export const searchLeaks: Job = {
  name: 'search-leaks',
  everyMs: 60_000,
  asksFor: 'brands that flag leaked codes and were not searched for six hours',
  run: searchDue,
};
