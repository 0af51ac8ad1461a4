interface OrderState {
  status: 'pending' | 'approved' | 'rejected' | 'paid';
  /** The end of the review period; null while the order is not paid. */
  holdEndsAt: Date | null;
}

const DECIDED = { approved: 'Approved', rejected: 'Does not count', paid: 'Paid' } as const;

/** The state of a commission at a time, the same on every page, in the words of the earnings, which add these up. */
export function nameOrderStatus({ status, holdEndsAt }: OrderState, at: Date): string {
  if (status !== 'pending') return DECIDED[status];
  if (holdEndsAt === null) return 'Not paid for yet';
  return holdEndsAt > at ? 'In the review period' : 'Awaiting approval';
}
