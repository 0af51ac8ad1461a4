/** Everything known of an order from all its deliveries. */
export interface OrderSnapshot {
  baseMinor: number;
  occurredAt: Date;
  paidAt: Date | null;
  cancelledAt: Date | null;
  /** As any delivery ever reported it. */
  firstCancelledAt: Date | null;
  /** The newest delivery's own time at the store. */
  updatedAt: Date;
  /** As any delivery ever reported it, and so whether it is a renewal. */
  isTest: boolean;
  isRenewal: boolean;
  /** No part of a delivery of the order. */
  disputeLostAt: Date | null;
}

function earlier(a: Date | null, b: Date | null): Date | null {
  if (!a || !b) return a ?? b;
  return a <= b ? a : b;
}

/**
 * The result does not depend on the order of arrival. The newer snapshot wins; of two with the same time, the smaller base
 * and a cancellation win, so that nobody is paid for removed goods. A reported payment stays. Payments and cancellations
 * keep the earliest reported time, because a store may report the time of its latest edit.
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
    isTest: a.isTest || b.isTest,
    isRenewal: a.isRenewal || b.isRenewal,
    disputeLostAt: a.disputeLostAt,
  };
}

export function isSameSnapshot(a: OrderSnapshot, b: OrderSnapshot): boolean {
  const facts = ({ baseMinor, isTest, isRenewal, paidAt, cancelledAt, firstCancelledAt, updatedAt }: OrderSnapshot) =>
    [baseMinor, isTest, isRenewal, ...[paidAt, cancelledAt, firstCancelledAt, updatedAt].map(Number)].join();
  return facts(a) === facts(b);
}

/** The columns of an order's row that are of its snapshot. */
type Stored = Omit<OrderSnapshot, 'updatedAt' | 'isTest' | 'isRenewal'> & {
  storeUpdatedAt: Date;
  isTest: boolean | null;
  isRenewal: boolean | null;
};

export function snapshotOf(row: Stored): OrderSnapshot {
  const { baseMinor, occurredAt, paidAt, cancelledAt, storeUpdatedAt, disputeLostAt } = row;
  const { isTest, isRenewal } = { isTest: row.isTest ?? false, isRenewal: row.isRenewal ?? false };
  // Rows from before this column existed have null.
  const firstCancelledAt = row.firstCancelledAt ?? cancelledAt;
  const times = { occurredAt, paidAt, cancelledAt, firstCancelledAt, disputeLostAt, updatedAt: storeUpdatedAt };
  return { baseMinor, ...times, isTest, isRenewal };
}
