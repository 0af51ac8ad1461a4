import { isRecord } from '../call/check.ts';
import { money } from '../kit/format.ts';

/** Each difference in words, and what to do about it. */
export const FINDINGS = [
  ['missing_here', 'Missing here', 'Read the store again: nobody earns from these yet.'],
  ['missing_there', 'Missing at the store', 'Reject the commission unless the store can name the order.'],
  ['ambiguous', 'Several of this number', 'Compare these orders by hand.'],
  ['amount', 'Different amount', 'Correct the amount before you approve.'],
  ['currency', 'Other currency', 'Correct the currency before you approve.'],
  ['refunded_but_paid', 'Refunded, still earning', 'Reject the commission, or claw it back.'],
  ['cancelled_but_paid', 'Cancelled, still earning', 'Reject the commission, or claw it back.'],
  ['unread', 'Could not be read', 'Correct the row in the file, and compare again.'],
] as const;
export type Finding = (typeof FINDINGS)[number][0];
export const KINDS: readonly Finding[] = FINDINGS.map(([kind]) => kind);

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

type Side = 'here' | 'there';

/** The refund on one side, or all of an order that was cancelled at the store. */
function getRefunded(one: Difference, side: Side): string | null {
  if (side === 'here') return one.refunded_here;
  return one.finding === 'cancelled_but_paid' ? one.amount_there : one.refunded_there;
}

/** The amount on one side after refunds. */
function getNet(one: Difference, side: Side): string | null {
  const amount = side === 'here' ? one.amount_here : one.amount_there;
  return amount === null ? null : (Number(amount) - Number(getRefunded(one, side) ?? 0)).toFixed(2);
}

/** True if both sides of an order can be set against each other: in one currency, and read. */
export const isComparable = ({ finding }: Difference) =>
  finding !== 'currency' && finding !== 'unread' && finding !== 'ambiguous';

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

const sumRefunds = (rows: readonly Difference[], side: Side) =>
  sumAmounts(
    rows.map((one) => {
      const refunded = getRefunded(one, side);
      return [Number(refunded ?? 0) > 0 ? refunded : null, side === 'here' ? one.currency_here : one.currency_there];
    }),
  );

export interface DifferenceSums {
  /** After refunds. */
  here: string | undefined;
  there: string | undefined;
  refundedHere: string | undefined;
  refundedThere: string | undefined;
  /** The store's sum compared with ours, such as "$134.00 less"; undefined if they agree. */
  change: string | undefined;
  /** Commission of these orders that is not rejected. */
  commission: string | undefined;
}

/** The difference of both sums of the orders that can be compared, in the currency of the first that we have. */
function describeChange(all: readonly Difference[]): string | undefined {
  const rows = all.filter(isComparable);
  const currency = rows.find(({ currency_here }) => currency_here !== null)?.currency_here ?? null;
  const cents = rows.reduce(
    (sum, one) =>
      sum +
      (one.currency_there === currency ? Math.round(100 * Number(getNet(one, 'there') ?? 0)) : 0) -
      (one.currency_here === currency ? Math.round(100 * Number(getNet(one, 'here') ?? 0)) : 0),
    0,
  );
  if (cents === 0 || currency === null) return undefined;
  return `${amountText((Math.abs(cents) / 100).toFixed(2), currency)} ${cents < 0 ? 'less' : 'more'} than here`;
}

/** The sums of some differences on both sides. */
export const sumDifferences = (rows: readonly Difference[]): DifferenceSums => ({
  here: sumAmounts(rows.map((one) => [getNet(one, 'here'), one.currency_here])),
  there: sumAmounts(rows.map((one) => [getNet(one, 'there'), one.currency_there])),
  refundedHere: sumRefunds(rows, 'here'),
  refundedThere: sumRefunds(rows, 'there'),
  change: describeChange(rows),
  commission: sumAmounts(
    rows.map((one) => [one.commission_status === 'rejected' ? null : one.commission, one.currency_here]),
  ),
});
