/** What is known of an order, of all the deliveries that reported it. */
export interface OrderSnapshot {
  baseMinor: number;
  occurredAt: Date;
  paidAt: Date | null;
  cancelledAt: Date | null;
  /** As any delivery ever reported it. */
  firstCancelledAt: Date | null;
  /** The newest delivery's own time at the store. */
  updatedAt: Date;
}

function earlier(a: Date | null, b: Date | null): Date | null {
  if (!a || !b) return a ?? b;
  return a <= b ? a : b;
}

/**
 * The same whichever comes first: the newer counts, of two of one moment the smaller base and a cancellation, so that
 * nobody is paid for goods that may have been taken off. A payment that was reported stays. Payments and
 * cancellations have the earliest time that was reported, for a store may report the time of its latest edit.
 */
export function mergeSnapshots(a: OrderSnapshot, b: OrderSnapshot): OrderSnapshot {
  const byTime = a.updatedAt.getTime() - b.updatedAt.getTime();
  const newest = byTime > 0 || (byTime === 0 && a.baseMinor <= b.baseMinor) ? a : b;
  const isCancelled = byTime === 0 ? a.cancelledAt !== null || b.cancelledAt !== null : newest.cancelledAt !== null;
  const firstCancelledAt = earlier(a.firstCancelledAt, b.firstCancelledAt);
  return {
    baseMinor: newest.baseMinor,
    updatedAt: newest.updatedAt,
    occurredAt: a.occurredAt,
    paidAt: earlier(a.paidAt, b.paidAt),
    firstCancelledAt,
    cancelledAt: isCancelled ? firstCancelledAt : null,
  };
}

export function isSameSnapshot(a: OrderSnapshot, b: OrderSnapshot): boolean {
  const facts = ({ baseMinor, ...times }: OrderSnapshot) =>
    [baseMinor, ...[times.paidAt, times.cancelledAt, times.firstCancelledAt, times.updatedAt].map(Number)].join();
  return facts(a) === facts(b);
}

export function snapshotOf(row: Omit<OrderSnapshot, 'updatedAt'> & { storeUpdatedAt: Date }): OrderSnapshot {
  const { baseMinor, occurredAt, paidAt, cancelledAt, storeUpdatedAt } = row;
  // Null also of a row from before the first was kept.
  const firstCancelledAt = row.firstCancelledAt ?? cancelledAt;
  return { baseMinor, occurredAt, paidAt, cancelledAt, firstCancelledAt, updatedAt: storeUpdatedAt };
}
