import type { Row } from '../call/call.ts';

/** All time: a link may be older than its campaign. */
export const SINCE = '2000-01-01';

type Costs = Pick<Row<'get_analytics_returns'>, 'fees_minor' | 'commission_minor' | 'gifts_minor' | 'fixed_minor'>;

/** The kinds of cost, as they are called. */
export const costParts = (row: Costs) =>
  [
    ['fees', row.fees_minor],
    ['commissions', row.commission_minor],
    ['gifts', row.gifts_minor],
    ['fixed costs', row.fixed_minor],
  ] as const;

/** Their sum; null if one of them is not known. */
export const spendIn = (row: Costs): number | null =>
  costParts(row).reduce<number | null>((sum, [, minor]) => (sum === null || minor === null ? null : sum + minor), 0);
