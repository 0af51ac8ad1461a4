import { z } from 'zod';
import { getDecimals, isCurrencyCode } from './decimals.ts';

/** ISO 4217 code, upper-case, of a currency in use. */
export const Currency = z
  .string()
  .regex(/^[A-Z]{3}$/, 'must be an upper-case ISO currency such as USD')
  .refine(isCurrencyCode, 'is not a currency')
  .meta({ example: 'USD' });

/**
 * The maximum of one order, refund, payout or commission in minor units: ten billion dollars, ten billion rupiah. Sums
 * must stay below 2^53, which 9,000 such orders of a brand do.
 */
export const MAX_AMOUNT_MINOR = 1_000_000_000_000;

/** An amount in major units as integer minor units; undefined when it has more decimals than the currency, or is too large. */
export function toMinor(amount: number, currency: string): number | undefined {
  return toInteger(amount, getDecimals(currency));
}

/** The error message for an amount in major units; undefined when the amount is valid. */
export function amountProblem(
  amount: number,
  currency: string,
  mostMinor: number = Number.MAX_SAFE_INTEGER,
): string | undefined {
  const decimals = getDecimals(currency);
  const largest = Math.floor(mostMinor / 10 ** decimals);
  if (Math.abs(amount) > largest) return `must be at most ${largest}`;
  if (toMinor(amount, currency) !== undefined) return undefined;
  return decimals === 0 ? `must be whole in ${currency}` : `must have at most ${decimals} decimals in ${currency}`;
}

/** A percentage as millionths (12.5% is 125,000); undefined with more than four decimals. */
export const toPpm = (percent: number): number | undefined => toInteger(percent, 4);
export const fromPpm = (ppm: number): number => ppm / 10_000;

/** A share of an amount in millionths, rounded half to even. */
export function multiplyPpm(minor: number, ppm: number): number {
  const product = BigInt(minor) * BigInt(ppm);
  const whole = product / 1_000_000n;
  const rest = (product % 1_000_000n) * 2n;
  const isUp = rest > 1_000_000n || (rest === 1_000_000n && whole % 2n === 1n);
  return Number(isUp ? whole + 1n : whole);
}

/** `value` times 10^decimals if that is whole, judged by the decimal digits that the number prints with. */
function toInteger(value: number, decimals: number): number | undefined {
  const match = /^(-?)(\d+)(?:\.(\d+))?$/.exec(String(value));
  if (!match) return undefined;
  const [, sign, whole, fraction = ''] = match;
  if (fraction.length > decimals) return undefined;
  const integer = Number(`${sign}${whole}${fraction.padEnd(decimals, '0')}`);
  return Number.isSafeInteger(integer) ? integer : undefined;
}
