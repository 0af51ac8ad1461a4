import { formatMoney, fromMinor, fromPpm, toMinor, toPpm } from '../../values/money.ts';
import type { CampaignRow } from './queries.ts';

type Stored = Pick<
  CampaignRow,
  'compensationType' | 'compensationAmountMinor' | 'compensationRatePpm' | 'compensationCurrency'
>;

export interface Compensation {
  type: string;
  amount: number | null;
  currency: string | null;
}

const NONE: Stored = {
  compensationType: null,
  compensationAmountMinor: null,
  compensationRatePpm: null,
  compensationCurrency: null,
};

/** As columns: a commission's amount is a rate, any other's is money. The shape has refused what does not fit. */
export function storedCompensation(compensation: Compensation | null, brandCurrency: string): Stored {
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

/** A row's four columns under short names. */
const columnsOf = (row: Stored) => ({
  type: row.compensationType,
  minor: row.compensationAmountMinor,
  ppm: row.compensationRatePpm,
  currency: row.compensationCurrency,
});

export function compensationOf(row: Stored): Compensation | null {
  const { type, minor, ppm, currency } = columnsOf(row);
  if (type === null) return null;
  const money = minor !== null && currency !== null ? fromMinor(minor, currency) : null;
  return { type, amount: ppm === null ? money : fromPpm(ppm), currency };
}

/**
 * "$500 fixed", "€1,250 fixed", "15% commission"; without an amount "Fixed" or "Commission". "Product only" is the
 * type `product`, whatever its amount. Null when nothing was said of compensation.
 */
export function compensationLabel(row: Stored): string | null {
  const { type, minor, ppm, currency } = columnsOf(row);
  if (type === null) return null;
  if (type === 'product') return 'Product only';
  if (type === 'commission') return ppm === null ? 'Commission' : `${fromPpm(ppm)}% commission`;
  return minor === null || currency === null ? 'Fixed' : `${formatMoney(minor, currency)} fixed`;
}
