import { periodOf } from '../../../analytics/analytics/policy.ts';
import { transact } from '../../../kit/engines/postgres/transaction.ts';
import type { Context } from '../../../kit/operation/context.ts';
import type { Job } from '../../../kit/operation/job.ts';
import { HOUR_MS } from '../../../kit/values/duration.ts';
import { findLeaks } from './actions.ts';
import { claimSearches, forgetSearch, replaceLeaks } from './queries.ts';

const EVERY_MS = 6 * HOUR_MS;
const AT_ONCE = 20;

/** One pass over brands that flag leaked codes: notes the scores of their codes, by which later orders are flagged. */
export async function searchDue(context: Context): Promise<void> {
  const { postgres, clock } = context;
  const now = clock.now();
  for (const brandId of await claimSearches(postgres.db, now, new Date(now.getTime() - EVERY_MS), AT_ONCE)) {
    try {
      const found = await findLeaks(context, brandId, periodOf({}, now));
      const leaks = found.filter(({ score }) => score > 0).map(({ linkId, score }) => ({ linkId, score }));
      await transact(postgres.db, (trx) => replaceLeaks(trx, brandId, leaks, now));
    } catch (error) {
      context.failures.failed('searching a brand for leaked codes', error, { brandId });
      await forgetSearch(postgres.db, brandId);
    }
  }
}

export const searchLeaks: Job = {
  name: 'search-leaks',
  everyMs: 60_000,
  asksFor: 'brands that flag leaked codes and were not searched for six hours',
  run: searchDue,
};
