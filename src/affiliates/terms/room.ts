import type { Room } from '../../analytics/pricing/price.ts';
import { getAmountMinor } from '../../analytics/pricing/rules.ts';
import type { Terms } from '../../workflow/terms/terms.shapes.ts';

/** The sums of all other paid commissions that are not rejected, for each limit and in the order's currency. */
export interface UsedLimits {
  customerMinor: number;
  monthMinor: number;
  budgetMinor: number;
}

/** Only an order whose terms have a limit that other orders use up as well needs its room fixed, under a lock. */
export function hasSharedLimit({ caps, budget }: Terms, currency: string): boolean {
  return [caps?.customer, caps?.month, budget?.amount].some(
    (amounts) => getAmountMinor(amounts, currency) !== undefined,
  );
}

/**
 * Measures what is left to an order when it is first known as paid: at most what it pays then, so that a later edit takes
 * no more. Null if no shared limit names the currency.
 */
export function measureRoom(terms: Terms, currency: string, usedLimits: UsedLimits, payableMinor: number): Room | null {
  const { caps, budget } = terms;
  const limits = [
    { by: 'customer' as const, amounts: caps?.customer, usedMinor: usedLimits.customerMinor },
    { by: 'month' as const, amounts: caps?.month, usedMinor: usedLimits.monthMinor },
    { by: 'budget' as const, amounts: budget?.amount, usedMinor: usedLimits.budgetMinor },
  ];
  return limits.reduce<Room | null>((tightest, { by, amounts, usedMinor }) => {
    const limitMinor = getAmountMinor(amounts, currency);
    if (limitMinor === undefined) return tightest;
    const minor = Math.min(payableMinor, Math.max(0, limitMinor - usedMinor));
    return tightest && tightest.minor <= minor ? tightest : { minor, by, limitMinor };
  }, null);
}
