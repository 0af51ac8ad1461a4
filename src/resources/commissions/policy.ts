import type { CommissionRow } from './queries.ts';
import { FraudFlags } from './schema.ts';

/** A reason why a commission cannot be approved, by a person or automatically. */
export interface Blocker {
  code: 'order_not_paid' | 'review_period_active';
  message: string;
  facts?: { approvable_at: string };
}

type Row = Pick<CommissionRow, 'amountMinor' | 'refundedMinor' | 'paidAt' | 'holdEndsAt'>;

function whyNotPaid({ amountMinor, refundedMinor, paidAt, holdEndsAt }: Row, isCancelled: boolean): string | undefined {
  if (isCancelled) return 'The order was cancelled.';
  if (amountMinor > 0 && refundedMinor >= amountMinor) return 'The order was refunded in full.';
  return paidAt && holdEndsAt ? undefined : 'The order is not paid.';
}

/** Every reason why a commission cannot be approved now, the most serious first. */
export function approvalBlockers(row: Row, isCancelled: boolean, now: Date): Blocker[] {
  const reason = whyNotPaid(row, isCancelled);
  const blockers: Blocker[] = reason === undefined ? [] : [{ code: 'order_not_paid', message: reason }];
  if (!row.holdEndsAt || row.holdEndsAt <= now) return blockers;
  const approvable_at = row.holdEndsAt.toISOString();
  const message = `The review period lasts until ${approvable_at}.`;
  return [...blockers, { code: 'review_period_active', message, facts: { approvable_at } }];
}

/** Whether only a person may approve it. */
export const isSuspicious = ({ fraudFlags }: Pick<CommissionRow, 'fraudFlags'>): boolean =>
  FraudFlags.parse(fraudFlags).some(({ severity }) => severity === 'high');

/** Whether it may be approved without a review. */
export const mayApproveItself = (row: CommissionRow, isCancelled: boolean, now: Date): boolean =>
  row.status === 'pending' && !isSuspicious(row) && approvalBlockers(row, isCancelled, now).length === 0;
