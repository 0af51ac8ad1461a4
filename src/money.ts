import { z } from 'zod';

/** ISO 4217 code, upper-case, that this runtime knows the decimals of. */
export const Currency = z
  .string()
  .regex(/^[A-Z]{3}$/, 'must be an upper-case ISO currency such as USD')
  .refine((code) => Intl.supportedValuesOf('currency').includes(code), 'is not a currency')
  .meta({ example: 'USD' });

/** Decimals of a currency: 2 for USD, 0 for JPY, 3 for KWD. */
export function decimalsOf(currency: string): number {
  const { maximumFractionDigits } = new Intl.NumberFormat('en', { style: 'currency', currency }).resolvedOptions();
  return maximumFractionDigits ?? 2;
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
