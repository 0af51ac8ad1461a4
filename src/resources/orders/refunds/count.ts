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

/** The cause of what a cancellation gives back. */
const CANCELLED = 'cancelled';

function inOrder(a: KnownRefund, b: KnownRefund): number {
  return a.at.getTime() - b.at.getTime() || (a.refundId < b.refundId ? -1 : 1);
}

/** By time and id, up to what the order is worth; the cancellation of a paid order refunds what is left. */
export function countRefunds(order: OrderSnapshot, refunds: readonly KnownRefund[]): CountedRefund[] {
  let left = order.baseMinor;
  const counted = [...refunds].sort(inOrder).map((refund) => {
    const countedMinor = Math.min(left, refund.amountMinor);
    left -= countedMinor;
    return { ...refund, countedMinor };
  });
  if (!order.cancelledAt || !order.paidAt || left === 0) return counted;
  // Before payment a cancellation rejects the commission, so whatever was paid was paid before it.
  const rest = { refundId: CANCELLED, amountMinor: left, countedMinor: left, at: order.cancelledAt };
  return [...counted, { ...rest, proratedMinor: 0 }];
}
