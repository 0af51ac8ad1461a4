import { type Compensation, compensationText } from './compensation-text.ts';
import { fromMinor } from './decimals.ts';
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

/** The pay of a row in words, or null without a compensation. */
export function compensationLabel(row: StoredCompensation): string | null {
  const compensation = toCompensation(row);
  return compensation && compensationText(compensation);
}
