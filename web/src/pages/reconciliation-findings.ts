import { isRecord } from '../call/check.ts';
import { money } from '../kit/format.ts';

/** Each difference in words, and what to do about it. */
export const FINDINGS = [
  ['missing_here', 'Missing here', 'Read the store again: nobody earns from these yet.'],
  ['missing_there', 'Missing at the store', 'Reject the commission unless the store can name the order.'],
  ['ambiguous', 'Several of this number', 'Compare these orders by hand.'],
  ['amount', 'Different amount', 'Correct the amount before you approve.'],
  ['currency', 'Other currency', 'Correct the currency before you approve.'],
  ['refunded_but_paid', 'Refunded, but commissioned', 'Reject the commission, or claw it back.'],
  ['cancelled_but_paid', 'Cancelled, but commissioned', 'Reject the commission, or claw it back.'],
  ['unread', 'Could not be read', 'Correct the row in the file, and compare again.'],
] as const;
export type Finding = (typeof FINDINGS)[number][0];
export const KINDS: readonly Finding[] = FINDINGS.map(([kind]) => kind);
export const LABELS = new Map<string, string>(FINDINGS.map(([kind, label]) => [kind, label]));

/** Money may be paid by mistake. */
export const isAtRisk = (finding: Finding) => finding.endsWith('_but_paid');

export interface Difference {
  finding: Finding;
  order_id: string;
  currency_here: string | null;
  currency_there: string | null;
  amount_here: string | null;
  amount_there: string | null;
  refunded_here: string | null;
  refunded_there: string | null;
  commission: string | null;
  commission_status: string | null;
  creator_email: string | null;
}

export type ReconciliationSummary = Record<Finding | 'matched', number> & {
  store: string;
  columns: Record<string, string> | null;
  from: string | null;
  until: string | null;
  plan_id: string | null;
  differences: readonly Difference[];
};

export const isFound = (result: unknown): result is ReconciliationSummary =>
  isRecord(result) && typeof result.matched === 'number' && Array.isArray(result.differences);

/** An amount of a row, such as `64.00`. What a file calls a currency may be anything. */
export function amountText(amount: string, currency: string | null): string {
  return /^[A-Z]{3}$/.test(currency ?? '') ? money(Number(amount), currency ?? '') : `${amount} ${currency ?? ''}`;
}

/** The number of all differences, of which the result lists only the first of each kind. */
export const countDifferences = (result: ReconciliationSummary) => KINDS.reduce((sum, kind) => sum + result[kind], 0);

/** Adds amounts by currency, such as `$120.00 + €40.00`; undefined if there are none. */
function sumAmounts(
  amounts: readonly (readonly [amount: string | null, currency: string | null])[],
): string | undefined {
  const given = amounts.flatMap(([amount, currency]) =>
    amount === null ? [] : [{ amount, currency: currency ?? '' }],
  );
  const sums = [...Map.groupBy(given, ({ currency }) => currency)].map(([currency, its]) =>
    amountText(its.reduce((sum, one) => sum + Number(one.amount), 0).toFixed(2), currency),
  );
  return sums.join(' + ') || undefined;
}

export interface DifferenceSums {
  here: string | undefined;
  there: string | undefined;
  /** The store's sum compared with ours, such as "$134.00 less"; undefined if they agree. */
  change: string | undefined;
  /** Commission of these orders that is not rejected. */
  commission: string | undefined;
}

/** The difference of both sums, in the currency of the first order that we have. */
function describeChange(rows: readonly Difference[]): string | undefined {
  const currency = rows.find(({ currency_here }) => currency_here !== null)?.currency_here ?? null;
  const cents = rows.reduce(
    (sum, one) =>
      sum +
      (one.currency_there === currency ? Math.round(100 * Number(one.amount_there ?? 0)) : 0) -
      (one.currency_here === currency ? Math.round(100 * Number(one.amount_here ?? 0)) : 0),
    0,
  );
  if (cents === 0 || currency === null) return undefined;
  return `${amountText((Math.abs(cents) / 100).toFixed(2), currency)} ${cents < 0 ? 'less' : 'more'} than here in ${currency}`;
}

/** The sums of some differences on both sides. */
export const sumDifferences = (rows: readonly Difference[]): DifferenceSums => ({
  here: sumAmounts(rows.map((one) => [one.amount_here, one.currency_here])),
  there: sumAmounts(rows.map((one) => [one.amount_there, one.currency_there])),
  change: describeChange(rows),
  commission: sumAmounts(
    rows.map((one) => [one.commission_status === 'rejected' ? null : one.commission, one.currency_here]),
  ),
});
