import type { Context } from '../../operation/context.ts';
import type { Job } from '../../operation/job.ts';
import { inWork } from '../../operation/work.ts';
import { postEarlierPayout } from './earlier-actions.ts';
import { listUnposted } from './queries.ts';

const AT_ONCE = 100;

/** Posts payouts of an installation that was updated, once. One that fails delays no other. */
export async function postEarlierPayouts({ postgres, clock, failures }: Context): Promise<void> {
  for (const { id, brandId } of await listUnposted(postgres.db, AT_ONCE)) {
    const actor = { brandId, keyId: null, operation: 'post_earlier_payouts', requestId: null };
    try {
      await inWork(postgres.db, clock, actor, (work) => postEarlierPayout(work, id));
    } catch (error) {
      failures.failed('posting an earlier payout', error, { brandId, payout: id });
    }
  }
}

export const postPayouts: Job = {
  name: 'post-earlier-payouts',
  everyMs: 60_000,
  asksFor: 'payouts of an installation that was updated, which are not in the ledger',
  run: postEarlierPayouts,
};
