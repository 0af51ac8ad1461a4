import { fromMinor } from './decimals.ts';
import { formatRoundMoney } from './format.ts';
import { fromPpm, toMinor, toPpm } from './money.ts';

/** The columns that store a compensation. */
export interface StoredCompensation {
  compensationType: string | null;
  compensationAmountMinor: number | null;
  compensationRatePpm: number | null;
  compensationCurrency: string | null;
}

/** The fields that the agent policy checks on a row with a compensation. */
export const WEIGHED_COMPENSATION = {
  rate: 'compensationRatePpm',
  promised: { minor: 'compensationAmountMinor', currency: 'compensationCurrency' },
} as const;

export interface Compensation {
  type: string;
  amount: number | null;
  currency: string | null;
}

const NONE: StoredCompensation = {
  compensationType: null,
  compensationAmountMinor: null,
  compensationRatePpm: null,
  compensationCurrency: null,
};

/**
 * The columns for a compensation. The amount of a commission is a rate; any other amount is money. The shape has
 * already validated it.
 */
export function storedCompensation(compensation: Compensation | null, brandCurrency: string): StoredCompensation {
  if (!compensation) return NONE;
  const { type, amount } = compensation;
  const isRate = type === 'commission';
  const currency = isRate ? null : (compensation.currency ?? brandCurrency);
  return {
    compensationType: type,
    compensationRatePpm: isRate && amount !== null ? (toPpm(amount) ?? null) : null,
    compensationAmountMinor: currency !== null && amount !== null ? (toMinor(amount, currency) ?? null) : null,
    compensationCurrency: currency,
  };
}

/** A row's four compensation columns under short names. */
const toColumns = (row: StoredCompensation) => ({
  type: row.compensationType,
  minor: row.compensationAmountMinor,
  ppm: row.compensationRatePpm,
  currency: row.compensationCurrency,
});

export function toCompensation(row: StoredCompensation): Compensation | null {
  const { type, minor, ppm, currency } = toColumns(row);
  if (type === null) return null;
  const money = minor !== null && currency !== null ? fromMinor(minor, currency) : null;
  return { type, amount: ppm === null ? money : fromPpm(ppm), currency };
}

/**
 * "$500 fixed", "€1,250 fixed", "15% commission"; "Fixed" or "Commission" without an amount. "Product only" is the type
 * `product`, whatever its amount. Null without a compensation.
 */
export function compensationLabel(row: StoredCompensation): string | null {
  const { type, minor, ppm, currency } = toColumns(row);
  if (type === null) return null;
  if (type === 'product') return 'Product only';
  if (type === 'commission') return ppm === null ? 'Commission' : `${fromPpm(ppm)}% commission`;
  return minor === null || currency === null ? 'Fixed' : `${formatRoundMoney(minor, currency)} fixed`;
}
