/** What is known of an order, of all the deliveries that told of it. */
export interface OrderSnapshot {
  baseMinor: number;
  occurredAt: Date;
  paidAt: Date | null;
  cancelledAt: Date | null;
  /** The newest delivery's own time at the store. */
  updatedAt: Date;
}

function earlier(a: Date | null, b: Date | null): Date | null {
  if (!a || !b) return a ?? b;
  return a <= b ? a : b;
}

/**
 * The same whichever comes first: the newer counts, of two of one moment the smaller base and a cancellation, so that
 * nobody is paid for goods that may have been taken off; a payment once told stays, at its earliest time.
 */
export function mergeSnapshots(a: OrderSnapshot, b: OrderSnapshot): OrderSnapshot {
  const byTime = a.updatedAt.getTime() - b.updatedAt.getTime();
  const newest = byTime > 0 || (byTime === 0 && a.baseMinor <= b.baseMinor) ? a : b;
  return {
    baseMinor: newest.baseMinor,
    updatedAt: newest.updatedAt,
    occurredAt: a.occurredAt,
    paidAt: earlier(a.paidAt, b.paidAt),
    cancelledAt: byTime === 0 ? earlier(a.cancelledAt, b.cancelledAt) : newest.cancelledAt,
  };
}

export function isSameSnapshot(a: OrderSnapshot, b: OrderSnapshot): boolean {
  const facts = ({ baseMinor, paidAt, cancelledAt, updatedAt }: OrderSnapshot) =>
    [baseMinor, paidAt?.getTime(), cancelledAt?.getTime(), updatedAt.getTime()].join();
  return facts(a) === facts(b);
}

export function snapshotOf(row: Omit<OrderSnapshot, 'updatedAt'> & { storeUpdatedAt: Date }): OrderSnapshot {
  const { baseMinor, occurredAt, paidAt, cancelledAt, storeUpdatedAt } = row;
  return { baseMinor, occurredAt, paidAt, cancelledAt, updatedAt: storeUpdatedAt };
}
