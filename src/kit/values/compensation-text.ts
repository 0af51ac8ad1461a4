import { formatRoundAmount } from './format.ts';

export interface Compensation {
  type: string;
  /** In major units of the currency; for a commission, percent. */
  amount: number | null;
  currency: string | null;
}

/**
 * "$500 fixed", "€1,250 fixed", "15% commission"; "Fixed" or "Commission" without an amount. "Product only" is the type
 * `product`, whatever its amount.
 */
export function compensationText({ type, amount, currency }: Compensation): string {
  if (type === 'product') return 'Product only';
  if (type === 'commission') return amount === null ? 'Commission' : `${amount}% commission`;
  return amount === null || currency === null ? 'Fixed' : `${formatRoundAmount(amount, currency)} fixed`;
}
