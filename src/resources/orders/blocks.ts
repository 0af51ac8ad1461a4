import type { CommissionRow } from './queries.ts';

/** What keeps a commission from being approved, by whomever. */
export interface Block {
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

/** All that keeps a commission from being approved now, the gravest first. Reviews and explanations both ask here. */
export function approvalBlocks(row: Row, isCancelled: boolean, now: Date): Block[] {
  const reason = whyNotPaid(row, isCancelled);
  const blocks: Block[] = reason === undefined ? [] : [{ code: 'order_not_paid', message: reason }];
  if (!row.holdEndsAt || row.holdEndsAt <= now) return blocks;
  const approvable_at = row.holdEndsAt.toISOString();
  const message = `The review period lasts until ${approvable_at}.`;
  return [...blocks, { code: 'review_period_active', message, facts: { approvable_at } }];
}
