import { money } from './format.ts';

/** Minor units as the currency counts them: yen have none. */
export function major(minor: number, currency: string): number {
  const digits =
    new Intl.NumberFormat('en', { style: 'currency', currency }).resolvedOptions().maximumFractionDigits ?? 2;
  return minor / 10 ** digits;
}

/** An amount in minor units as text; null is unknown. */
export const minorMoney = (minor: number | null, currency: string): string =>
  money(minor === null ? null : major(minor, currency), currency);
