import { listReferrers } from '../../../analytics/figures/clicks/queries.ts';
import type { Context } from '../../../kit/operation/context.ts';
import type { Job } from '../../../kit/operation/job.ts';
import { inWork } from '../../../kit/operation/work.ts';
import { MINUTE_MS } from '../../../kit/values/duration.ts';
import { isOfHosts } from '../../rules/fraud/policy.ts';
import { getFraudRules } from '../../rules/fraud/queries.ts';
import { flagOf } from './policy.ts';
import { addFlag, claimReferrerChecks, type DueCheck, deleteReferrerChecks } from './queries.ts';

const AT_ONCE = 500;
const PAUSE_MS = 15_000;
/** A click that is not stored by then is not going to be. */
const GIVE_UP_MS = 30 * MINUTE_MS;

async function checkBrand(context: Context, brandId: string, due: readonly DueCheck[]): Promise<void> {
  const { postgres, clickhouse, clock } = context;
  const now = clock.now();
  const clickIds = due.map(({ clickId }) => clickId);
  const referrers = new Map(
    (await listReferrers(clickhouse, brandId, clickIds)).map((one) => [one.click_id, one.referrer_host]),
  );
  const isOver = ({ clickId, createdAt }: DueCheck) =>
    referrers.has(clickId) || now.getTime() - createdAt.getTime() > GIVE_UP_MS;
  const over = due.filter(isOver);
  if (over.length === 0) return;
  const actor = { brandId, keyId: null, operation: 'check_referrers', requestId: null };
  await inWork(postgres.db, clock, actor, async ({ db }) => {
    const { rules } = await getFraudRules(db, brandId);
    const { action, hosts } = rules.forbidden_referrer;
    for (const { commissionId, clickId } of over) {
      const host = referrers.get(clickId) ?? '';
      if (action === 'off' || !isOfHosts(host, hosts)) continue;
      const detail = `The click came from ${host}.`;
      await addFlag(db, brandId, commissionId, flagOf('forbidden_referrer', rules, detail, now));
    }
    await deleteReferrerChecks(
      db,
      brandId,
      over.map(({ commissionId }) => commissionId),
    );
  });
}

/** One pass over commissions whose clicks may have come from a forbidden page. */
export async function checkReferrersDue(context: Context): Promise<void> {
  const { postgres, clock } = context;
  const now = clock.now();
  const due = await claimReferrerChecks(postgres.db, now, new Date(now.getTime() + PAUSE_MS), AT_ONCE);
  for (const [brandId, all] of Map.groupBy(due, (one) => one.brandId)) {
    await checkBrand(context, brandId, all).catch((error: unknown) =>
      context.failures.failed('checking the referrers of a brand', error, { brandId }),
    );
  }
}

export const checkReferrers: Job = {
  name: 'check-referrers',
  everyMs: 5_000,
  asksFor: 'commissions by clicks of brands that forbid referrers',
  run: checkReferrersDue,
};
