import { z } from 'zod';
import { fromMinor, getDecimals } from '../../../kit/values/decimals.ts';
import { MAX_AMOUNT_MINOR } from '../../../kit/values/money.ts';

/** Stores compute with more digits than they charge; eight hold all that WooCommerce and Shopify send. */
const SCALE = 8;

/**
 * Reads the noise of floating point after the eighth digit, within a hundredth of it: one unit if it is just below;
 * undefined when the digits are real.
 */
function readNoise(rest: string): bigint | undefined {
  if (/^0{2}|^0?$/.test(rest)) return 0n;
  return rest.startsWith('99') ? 1n : undefined;
}

/**
 * A decimal in units of 10^-8, exactly as it was written but for noise of floating point; undefined with more digits.
 */
export function readDecimal(text: string): bigint | undefined {
  const match = /^(-?)(\d{1,18})(?:\.(\d+))?$/.exec(text);
  if (!match) return undefined;
  const [, sign = '', whole = '', fraction = ''] = match;
  const noise = readNoise(fraction.slice(SCALE));
  if (noise === undefined) return undefined;
  const size = BigInt(`${whole}${fraction.slice(0, SCALE).padEnd(SCALE, '0')}`) + noise;
  return sign === '' ? size : -size;
}

/** Money as a store writes it: a string, or a JSON number whose own digits are taken. */
export const Decimal = z
  .union([z.string().max(40), z.number()], 'must be a decimal amount, as text or as a number')
  .transform((value, context) => {
    // JavaScript writes tiny numbers with an exponent.
    const isTiny = typeof value === 'number' && Math.abs(value) < 1e-6;
    const decimal = readDecimal(isTiny ? value.toFixed(20) : String(value));
    if (decimal !== undefined) return decimal;
    context.addIssue({ code: 'custom', message: 'must be a decimal amount' });
    return z.NEVER;
  });

/** A quotient rounded to the nearest integer, halves to the even one. */
export function divideHalfEven(dividend: bigint, divisor: bigint): bigint {
  const isNegative = dividend < 0n !== divisor < 0n;
  const [n, d] = [dividend < 0n ? -dividend : dividend, divisor < 0n ? -divisor : divisor];
  const [quotient, twice] = [n / d, (n % d) * 2n];
  const roundedQuotient = twice > d || (twice === d && quotient % 2n === 1n) ? quotient + 1n : quotient;
  return isNegative ? -roundedQuotient : roundedQuotient;
}

const toMinor = (decimal: bigint, currency: string): bigint =>
  divideHalfEven(decimal, 10n ** BigInt(SCALE - getDecimals(currency)));

/**
 * True if an amount is whole in its currency's minor unit, or off by at most a millionth: the noise of floating point.
 */
export function isWhole(decimal: bigint, currency: string): boolean {
  const unit = 10n ** BigInt(SCALE - getDecimals(currency));
  const rest = ((decimal % unit) + unit) % unit;
  const tolerance = unit / 1_000_000n;
  return rest <= tolerance || unit - rest <= tolerance;
}

/** Returns the problem with an amount above the limit for orders and refunds. */
export function findExcess(decimal: bigint, currency: string): string | undefined {
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
  const message = findExcess(decimal, currency);
  if (message === undefined) return Number(toMinor(decimal, currency));
  throw new z.ZodError([{ code: 'custom', path: ['amount'], message, input: writeDecimal(decimal) }]);
}

export const sumDecimals = (decimals: readonly bigint[]): bigint => decimals.reduce((sum, one) => sum + one, 0n);

/**
 * The goods' share of an amount that was given back without saying for what, of an order with this total. Tax, shipping
 * and fees have the rest; where a gift card paid for a part, the goods may cost more than the total.
 */
export function takeGoodsShare(amount: bigint, { goods, total }: { goods: bigint; total: bigint }): bigint {
  if (amount <= 0n || total <= 0n) return 0n;
  return divideHalfEven(amount * (goods < total ? goods : total), total);
}
