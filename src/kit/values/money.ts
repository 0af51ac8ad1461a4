import { z } from 'zod';

/**
 * Currencies by the decimals of their minor unit: ISO 4217's list one as of 2026-09-17, without funds (but for the
 * units that prices are quoted in: CLF, UYI, UYW), metals and codes for tests. `Intl` does not fit: it has the digits
 * used for display (none for HUF or IQD) and keeps withdrawn currencies.
 */
const ISO_4217: readonly (readonly [number, string])[] = [
  [0, 'BIF CLP DJF GNF ISK JPY KMF KRW PYG RWF UGX UYI VND VUV XAF XOF XPF'],
  [
    2,
    `AED AFN ALL AMD AOA ARS AUD AWG AZN BAM BBD BDT BMD BND BOB BRL BSD BTN BWP BYN BZD CAD CDF CHF CNY COP CRC CUP CVE
    CZK DKK DOP DZD EGP ERN ETB EUR FJD FKP GBP GEL GHS GIP GMD GTQ GYD HKD HNL HTG HUF IDR ILS INR IRR JMD KES KGS KHR
    KPW KYD KZT LAK LBP LKR LRD LSL MAD MDL MGA MKD MMK MNT MOP MRU MUR MVR MWK MXN MYR MZN NAD NGN NIO NOK NPR NZD PAB
    PEN PGK PHP PKR PLN QAR RON RSD RUB SAR SBD SCR SDG SEK SGD SHP SLE SOS SRD SSP STN SVC SYP SZL THB TJS TMT TOP TRY
    TTD TWD TZS UAH USD UYU UZS VED VES WST XCD XCG YER ZAR ZMW ZWG`,
  ],
  [3, 'BHD IQD JOD KWD LYD OMR TND'],
  [4, 'CLF UYW'],
];

const DECIMALS: ReadonlyMap<string, number> = new Map(
  ISO_4217.flatMap(([decimals, codes]) => codes.split(/\s+/).map((code) => [code, decimals] as const)),
);

/** ISO 4217 code, upper-case, of a currency in use. */
export const Currency = z
  .string()
  .regex(/^[A-Z]{3}$/, 'must be an upper-case ISO currency such as USD')
  .refine((code) => DECIMALS.has(code), 'is not a currency')
  .meta({ example: 'USD' });

/** Decimals of a currency: 2 for USD, 0 for JPY, 3 for KWD. A currency that ISO has withdrawn since counts as 2. */
export const getDecimals = (currency: string): number => DECIMALS.get(currency) ?? 2;

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

export function fromMinor(minor: number, currency: string): number {
  return minor / 10 ** getDecimals(currency);
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

function format(minor: number, currency: string, trailingZeroDisplay: 'auto' | 'stripIfInteger'): string {
  const decimals = getDecimals(currency);
  return new Intl.NumberFormat('en-US', {
    style: 'currency',
    currency,
    trailingZeroDisplay,
    minimumFractionDigits: decimals,
    maximumFractionDigits: decimals,
  }).format(fromMinor(minor, currency));
}

/** `$500.00`, `€1,250.50`, `¥9,000`: all decimals of the currency, so that amounts below each other line up. */
export const formatMoney = (minor: number, currency: string): string => format(minor, currency, 'auto');

/** `$500`, `€1,250.50`: decimals only when there are any, for an amount in a phrase. */
export const formatRoundMoney = (minor: number, currency: string): string => format(minor, currency, 'stripIfInteger');
