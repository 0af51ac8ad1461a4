import type { Context } from '../../kit/operation/context.ts';
import type { Job } from '../../kit/operation/job.ts';
import { inWork } from '../../kit/operation/work.ts';
import { approveNextDue, listWithDue } from './reviews.ts';

const AT_ONCE = 100;

async function approveForBrand({ postgres, clock }: Context, brandId: string): Promise<number> {
  const actor = { brandId, keyId: null, operation: 'auto_approve_commissions', requestId: null };
  let approvedCount = 0;
  for (;;) {
    const count = await inWork(postgres.db, clock, actor, (work) => approveNextDue(work, AT_ONCE));
    approvedCount += count;
    if (count < AT_ONCE) return approvedCount;
  }
}

/** Approves for every brand that approves automatically, and returns the number. A failing brand does not delay others. */
export async function approveDue(context: Context): Promise<number> {
  let approvedCount = 0;
  for (const brandId of await listWithDue(context.postgres.db, context.clock.now())) {
    try {
      approvedCount += await approveForBrand(context, brandId);
    } catch (error) {
      context.failures.failed('approving commissions of a brand', error, { brandId });
    }
  }
  return approvedCount;
}

export const approveCommissions: Job = {
  name: 'approve-commissions',
  everyMs: 5_000,
  asksFor: 'commissions whose review period is over',
  run: approveDue,
};
