import type { CommissionRow } from './queries.ts';
import { FraudFlags } from './schema.ts';

/** A reason why a commission cannot be approved, by a person or automatically. */
export interface Blocker {
  code: 'order_not_paid' | 'review_period_active';
  message: string;
  facts?: { approvable_at: string };
}

type Row = Pick<CommissionRow, 'amountMinor' | 'refundedMinor' | 'paidAt' | 'holdEndsAt'>;

/** What ended an order as a whole, if anything did. */
export type OrderEnd = 'cancelled' | 'dispute_lost' | 'test_order' | null;

const ENDED: Record<NonNullable<OrderEnd>, string> = {
  cancelled: 'The order was cancelled.',
  dispute_lost: 'A dispute over the payment of the order was lost.',
  test_order: 'The order is a test order.',
};

function whyNotPaid({ amountMinor, refundedMinor, paidAt, holdEndsAt }: Row, end: OrderEnd): string | undefined {
  if (end !== null) return ENDED[end];
  if (amountMinor > 0 && refundedMinor >= amountMinor) return 'The order was refunded in full.';
  return paidAt && holdEndsAt ? undefined : 'The order is not paid.';
}

/** Every reason why a commission cannot be approved now, the most serious first. */
export function approvalBlockers(row: Row, end: OrderEnd, now: Date): Blocker[] {
  const reason = whyNotPaid(row, end);
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
export const mayApproveItself = (row: CommissionRow, end: OrderEnd, now: Date): boolean =>
  row.status === 'pending' && !isSuspicious(row) && approvalBlockers(row, end, now).length === 0;
