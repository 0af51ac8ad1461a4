import { type PricingInput, price, type Refund } from '../../analytics/pricing/price.ts';

/** A refund as it counts: never more than what earlier ones left of the order. */
export interface CountedRefund extends Refund {
  countedMinor: number;
  /** The part of it that was known before the commission was paid. */
  proratedMinor: number;
}

/** An amount that is taken back from a paid commission, and its cause. */
export interface TakeBack {
  cause: string;
  amountMinor: number;
  at: Date;
}

/**
 * Lists what is taken back from a paid commission: first what a lower order takes, then what the sum falls by with each
 * refund, in order. `refunds` includes the end of the sale, as the refund of all that was left.
 */
export function listTakeBacks(
  input: Omit<PricingInput, 'refunds' | 'isEnded'>,
  refunds: readonly CountedRefund[],
  paidMinor: number,
): TakeBack[] {
  const knownRefunds = refunds.map((refund) => ({
    ...refund,
    amountMinor: Math.min(refund.countedMinor, refund.proratedMinor),
  }));
  const takeBacks: TakeBack[] = [];
  let owedMinor = paidMinor;
  const takeBack = (cause: string, at: Date) => {
    const dueMinor = Math.min(owedMinor, price({ ...input, refunds: knownRefunds, isEnded: false }).commissionMinor);
    if (dueMinor < owedMinor) takeBacks.push({ cause, amountMinor: owedMinor - dueMinor, at });
    owedMinor = dueMinor;
  };
  takeBack('order_updated', input.order.placedAt);
  for (const [place, refund] of refunds.entries()) {
    knownRefunds[place] = { ...refund, amountMinor: refund.countedMinor };
    takeBack(refund.refundId, refund.at);
  }
  return takeBacks;
}
