import { z } from 'zod';

const CURRENCIES = new Set(Intl.supportedValuesOf('currency'));

/** ISO 4217 code, upper-case, that this runtime knows the decimals of. */
export const Currency = z
  .string()
  .regex(/^[A-Z]{3}$/, 'must be an upper-case ISO currency such as USD')
  .refine((code) => CURRENCIES.has(code), 'is not a currency')
  .meta({ example: 'USD' });

/** A formatter takes a thousand times as long to make as its decimals to look up, and currencies are few. */
const decimals = new Map<string, number>();

/** Decimals of a currency: 2 for USD, 0 for JPY, 3 for KWD. */
export function decimalsOf(currency: string): number {
  const known = decimals.get(currency);
  if (known !== undefined) return known;
  const { maximumFractionDigits = 2 } = new Intl.NumberFormat('en', { style: 'currency', currency }).resolvedOptions();
  decimals.set(currency, maximumFractionDigits);
  return maximumFractionDigits;
}

/** An amount in major units as integer minor units; undefined when it has more decimals than the currency, or is too large. */
export function toMinor(amount: number, currency: string): number | undefined {
  return toInteger(amount, decimalsOf(currency));
}

export function fromMinor(minor: number, currency: string): number {
  return minor / 10 ** decimalsOf(currency);
}

/** A percentage as millionths (12.5 % is 125,000); undefined with more than four decimals. */
export const toPpm = (percent: number): number | undefined => toInteger(percent, 4);
export const fromPpm = (ppm: number): number => ppm / 10_000;

/** A share of an amount in millionths, rounded half to even. */
export function shareOf(minor: number, ppm: number): number {
  const product = BigInt(minor) * BigInt(ppm);
  const whole = product / 1_000_000n;
  const rest = (product % 1_000_000n) * 2n;
  const isUp = rest > 1_000_000n || (rest === 1_000_000n && whole % 2n === 1n);
  return Number(isUp ? whole + 1n : whole);
}

/** `value` times 10^decimals when that is whole. The nearest double's own digits decide, as a person typed them. */
function toInteger(value: number, decimals: number): number | undefined {
  const match = /^(-?)(\d+)(?:\.(\d+))?$/.exec(String(value));
  if (!match) return undefined;
  const [, sign, whole, fraction = ''] = match;
  if (fraction.length > decimals) return undefined;
  const integer = Number(`${sign}${whole}${fraction.padEnd(decimals, '0')}`);
  return Number.isSafeInteger(integer) ? integer : undefined;
}

/** `$500`, `€1,250.50`, `¥9,000`: decimals only when there are any. */
export function formatMoney(minor: number, currency: string): string {
  return new Intl.NumberFormat('en-US', { style: 'currency', currency, trailingZeroDisplay: 'stripIfInteger' }).format(
    fromMinor(minor, currency),
  );
}
