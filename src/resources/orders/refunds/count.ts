import type { RefundFacts } from '../../../stores/facts.ts';
import type { OrderSnapshot } from '../snapshot.ts';

export interface KnownRefund extends RefundFacts {
  /** How much of it was known before the commission was paid. */
  proratedMinor: number;
}

export interface CountedRefund extends KnownRefund {
  /** What is left of it when all before it are taken: refunds never exceed the order. */
  countedMinor: number;
}

/** What ends a sale as a whole, by the cause of what it gives back; of two the earlier. */
function endOf({ cancelledAt, disputeLostAt }: OrderSnapshot): { refundId: string; at: Date } | undefined {
  const isLostFirst = disputeLostAt !== null && (cancelledAt === null || disputeLostAt < cancelledAt);
  if (isLostFirst) return { refundId: 'dispute_lost', at: disputeLostAt };
  return cancelledAt === null ? undefined : { refundId: 'cancelled', at: cancelledAt };
}

function inOrder(a: KnownRefund, b: KnownRefund): number {
  return a.at.getTime() - b.at.getTime() || (a.refundId < b.refundId ? -1 : 1);
}

/** By time and id, up to what the order is worth; a cancellation or lost dispute of a paid order refunds what is left. */
export function countRefunds(order: OrderSnapshot, refunds: readonly KnownRefund[]): CountedRefund[] {
  let left = order.baseMinor;
  const counted = [...refunds].sort(inOrder).map((refund) => {
    const countedMinor = Math.min(left, refund.amountMinor);
    left -= countedMinor;
    return { ...refund, countedMinor };
  });
  const end = endOf(order);
  if (!end || !order.paidAt || left === 0) return counted;
  // Before payment it rejects the commission, so whatever was paid was paid before it.
  return [...counted, { ...end, amountMinor: left, countedMinor: left, proratedMinor: 0 }];
}
