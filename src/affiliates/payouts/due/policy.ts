import { fromMinor, toMinor } from '../../../kit/values/money.ts';
import type { CommissionRow } from '../../commissions/queries.ts';
import { amountFor, type Fund, oldestFirst, type Plan, planPayment } from '../policy.ts';
import type { Standing } from './queries.ts';

const shown =
  (currency: string) =>
  ({ id, commissionMinor, occurredAt }: CommissionRow) => ({
    commission_id: id,
    amount: fromMinor(commissionMinor, currency),
    occurred_at: occurredAt.toISOString(),
  });

const payeeOf = ({ creatorId, creatorEmail, creatorName, currency, recordedMinor }: Standing) => ({
  creator_id: creatorId,
  creator_email: creatorEmail,
  creator_name: creatorName,
  currency,
  recorded: fromMinor(recordedMinor, currency),
});

/** The amount that pays everything due to a creator in a currency. */
export const totalDueOf = ({ dueMinor, outstandingMinor, unallocatedMinor }: Standing): number =>
  amountFor(dueMinor, [{ id: '', leftMinor: unallocatedMinor }], outstandingMinor);

/** Whether there are unpaid approved commissions, or a netted refund is due again. */
export const isDue = (standing: Standing): boolean => standing.dueCount > 0 || totalDueOf(standing) > 0;

/** For all creators: only the totals, because nothing is skipped when everything is paid. */
export function previewRow(standing: Standing) {
  const { currency, dueMinor, dueCount, outstandingMinor, unallocatedMinor } = standing;
  const major = (minor: number) => fromMinor(minor, currency);
  const nettedMinor = outstandingMinor >= 0 ? Math.min(outstandingMinor, dueMinor) : outstandingMinor;
  const totalMinor = totalDueOf(standing);
  return {
    ...payeeOf(standing),
    commission_count: dueCount,
    commissions_amount: major(dueMinor),
    netted_amount: major(nettedMinor),
    unallocated_used: major(Math.min(unallocatedMinor, Math.max(0, dueMinor - nettedMinor))),
    total: major(totalMinor),
    unallocated: 0,
  };
}

export interface Offer {
  standing: Standing;
  approved: readonly CommissionRow[];
  funds: readonly Fund[];
  /** Undefined: the amount that pays everything. */
  amount: number | undefined;
}

const PREVIEWED = 'previewed';

/** What a payout to one creator would pay, by the same rules that pay it. */
export function previewOf({ standing, approved, funds, amount }: Offer) {
  const { currency, outstandingMinor } = standing;
  const major = (minor: number) => fromMinor(minor, currency);
  const dueMinor = approved.reduce((sum, { commissionMinor }) => sum + commissionMinor, 0);
  const own = amount === undefined ? undefined : toMinor(amount, currency);
  const amountMinor = own ?? amountFor(dueMinor, funds, outstandingMinor);
  const all = [...funds, { id: PREVIEWED, leftMinor: amountMinor }];
  const plan: Plan<CommissionRow> = planPayment(approved.toSorted(oldestFirst), all, outstandingMinor);
  const left = plan.shares.at(-1)?.leftMinor ?? 0;
  return {
    ...payeeOf(standing),
    commission_count: plan.chosen.length,
    commissions_amount: major(plan.allocatedMinor),
    netted_amount: major(plan.nettedMinor),
    unallocated_used: major(plan.allocatedMinor - plan.nettedMinor - (amountMinor - left)),
    total: major(amountMinor - left),
    unallocated: major(left),
    payable: plan.chosen.map(shown(currency)),
    passed_over: plan.passedOver.map(shown(currency)),
  };
}

/** The wire shape of what a creator is owed in a currency. */
export function balanceOf(standing: Standing) {
  const { currency, approvedMinor, outstandingMinor, unallocatedMinor } = standing;
  const major = (minor: number) => fromMinor(minor, currency);
  const payableMinor = amountFor(approvedMinor, [{ id: '', leftMinor: unallocatedMinor }], outstandingMinor);
  return {
    currency,
    pending: major(standing.pendingMinor),
    held: major(standing.heldMinor),
    order_unpaid: major(standing.unpaidOrdersMinor),
    approved: major(approvedMinor),
    owed_back: major(outstandingMinor),
    unallocated: major(unallocatedMinor),
    payable_now: major(payableMinor),
    recorded: major(standing.recordedMinor),
    earned: major(standing.earnedMinor),
  };
}
