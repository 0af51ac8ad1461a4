import { z } from 'zod';
import { decimalsOf, fromMinor, MAX_AMOUNT_MINOR } from '../../values/money.ts';

/** Stores compute with more digits than they charge; eight hold all that WooCommerce and Shopify send. */
const SCALE = 8;

/** A decimal in units of 10^-8, exactly as it was written; undefined when it has more digits than that. */
export function readDecimal(text: string): bigint | undefined {
  const match = /^(-?)(\d{1,18})(?:\.(\d{1,8})0*)?$/.exec(text);
  if (!match) return undefined;
  const [, sign = '', whole = '', fraction = ''] = match;
  return BigInt(`${sign}${whole}${fraction.padEnd(SCALE, '0')}`);
}

/** Money as a store writes it: a string, or a JSON number whose own digits are taken. */
export const Decimal = z.union([z.string().max(40), z.number()]).transform((value, context) => {
  const decimal = readDecimal(String(value));
  if (decimal !== undefined) return decimal;
  context.addIssue({ code: 'custom', message: 'must be a decimal amount' });
  return z.NEVER;
});

/** A quotient rounded to the nearest integer, halves to the even one. */
export function divideHalfEven(dividend: bigint, divisor: bigint): bigint {
  const isNegative = dividend < 0n !== divisor < 0n;
  const [n, d] = [dividend < 0n ? -dividend : dividend, divisor < 0n ? -divisor : divisor];
  const [quotient, twice] = [n / d, (n % d) * 2n];
  const rounded = twice > d || (twice === d && quotient % 2n === 1n) ? quotient + 1n : quotient;
  return isNegative ? -rounded : rounded;
}

const toMinor = (decimal: bigint, currency: string): bigint =>
  divideHalfEven(decimal, 10n ** BigInt(SCALE - decimalsOf(currency)));

/** What is wrong with an amount that is more than an order or refund may be. */
export function excessOf(decimal: bigint, currency: string): string | undefined {
  if (toMinor(decimal, currency) <= BigInt(MAX_AMOUNT_MINOR)) return undefined;
  return `must be at most ${fromMinor(MAX_AMOUNT_MINOR, currency)} ${currency}`;
}

/** As it was written, but for zeros at its end. */
export function writeDecimal(decimal: bigint): string {
  const digits = String(decimal).padStart(SCALE + 1, '0');
  return `${digits.slice(0, -SCALE)}.${digits.slice(-SCALE)}`.replace(/\.?0+$/, '');
}

/** A decimal in integer minor units; nothing below zero is money a customer paid or got back. */
export function toMinorUnits(decimal: bigint, currency: string): number {
  if (decimal <= 0n) return 0;
  const message = excessOf(decimal, currency);
  if (message === undefined) return Number(toMinor(decimal, currency));
  throw new z.ZodError([{ code: 'custom', path: ['amount'], message, input: writeDecimal(decimal) }]);
}

export const sumOf = (decimals: readonly bigint[]): bigint => decimals.reduce((sum, one) => sum + one, 0n);
