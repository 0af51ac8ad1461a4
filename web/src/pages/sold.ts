import type { Query, Row } from '../call/call.ts';
import { useAll } from '../call/use.ts';
import { minorMoney } from '../kit/format.ts';

/** Before the first order of any brand. */
const SINCE = '2000-01-01';

type Figures = Row<'get_analytics_breakdown'>;
type SoldFigure = 'revenue_minor' | 'commission_minor';

/** The sum of each currency, such as “$120.00, €40.00”. */
function amounts(rows: readonly Figures[], figure: SoldFigure): string {
  const sums = new Map<string, number>();
  for (const row of rows) sums.set(row.currency, (sums.get(row.currency) ?? 0) + row[figure]);
  return [...sums].flatMap(([currency, sum]) => (sum === 0 ? [] : [minorMoney(sum, currency)])).join(', ') || '–';
}

/** Until the figures are read, there is no dash, which would say that there are none. */
const toTexts = (rows: readonly Figures[] | undefined) => ({
  sales: rows ? amounts(rows, 'revenue_minor') : '…',
  commission: rows ? amounts(rows, 'commission_minor') : '…',
});

/** Sales and commission of all time by group or creator: of one of them, and of all together. */
export function useSold(only: Pick<Query<'get_analytics_breakdown'>, 'by' | 'group'>) {
  const { data } = useAll('get_analytics_breakdown', { ...only, from: SINCE });
  return {
    ofKey: (key: string) => toTexts(data?.filter((row) => row.key === key)),
    ofAll: () => toTexts(data?.filter((row) => row.key !== null)),
  };
}
