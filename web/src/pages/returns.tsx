import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import type { Query, Row } from '../call/call.ts';
import { listChoices } from '../call/lists.ts';
import { useCall } from '../call/use.ts';
import { Download } from '../kit/download.tsx';
import { Filters, findChoice, useFilters } from '../kit/filters.tsx';
import { day, minorMoney, multiple, number } from '../kit/format.ts';
import { useOpened } from '../kit/opened.ts';
import { Button, Card, Empty, Failure, IfMay, Loading, Stat, Stats } from '../kit/parts.tsx';
import { usePeriod } from '../kit/period.ts';
import { type Column, PlainTable } from '../kit/table.tsx';
import { Tabs } from '../kit/tabs.tsx';
import { type CostKind, Costs, toDialogName } from './costs.tsx';
import { FiguresHead } from './report-open.tsx';
import { RowName, toHead } from './row-name.tsx';

type ReturnDimension = NonNullable<Query<'get_analytics_returns'>['by']>;
type ReturnsRow = Row<'get_analytics_returns'>;
type Missing = ReturnsRow['missing'][number];

const BY = listChoices('get_analytics_returns', 'by');
const SHOWN = 50;

/** The sum of a figure; null if one of its parts is unknown. */
const sumFigure = (rows: readonly ReturnsRow[], of: (row: ReturnsRow) => number | null): number | null =>
  rows.reduce<number | null>((sum, row) => {
    const figure = of(row);
    return sum === null || figure === null ? null : sum + figure;
  }, 0);

const sumSpend = ({ commission_minor, fees_minor, gifts_minor, fixed_minor }: ReturnsRow) =>
  fees_minor === null || gifts_minor === null ? null : commission_minor + fees_minor + gifts_minor + fixed_minor;

/** The period's totals in each currency: months add up to them. */
function Totals({ rows }: { rows: readonly ReturnsRow[] }) {
  return [...Map.groupBy(rows, ({ currency }) => currency)].map(([currency, its]) => {
    const revenue = sumFigure(its, ({ revenue_minor }) => revenue_minor) ?? 0;
    const orders = sumFigure(its, (row) => row.orders) ?? 0;
    const spend = sumFigure(its, sumSpend);
    const profit = sumFigure(its, ({ profit_minor }) => profit_minor);
    const unknown = 'Not known, see below';
    return (
      <Stats key={currency}>
        <Stat
          label="Sales"
          value={minorMoney(revenue, currency)}
          note={`${number(orders)} ${orders === 1 ? 'order' : 'orders'}, less refunds`}
        />
        <Stat
          label="Goods"
          value={minorMoney(
            sumFigure(its, ({ goods_minor }) => goods_minor),
            currency,
          )}
        />
        <Stat
          label="Spend"
          value={minorMoney(spend, currency)}
          note={spend === null ? unknown : 'Commissions, fees, gifts and fixed costs'}
        />
        <Stat label="Profit" value={minorMoney(profit, currency)} note={profit === null ? unknown : undefined} />
        <Stat
          label="Return on spend"
          value={multiple(spend === null || spend <= 0 ? null : Math.round((100 * revenue) / spend) / 100)}
          note="Sales divided by spend"
        />
      </Stats>
    );
  });
}

const MISSING: Readonly<Record<Missing, { text: string; enter?: readonly [kind: CostKind, label: string] }>> = {
  goods: {
    text: 'what the goods of some orders cost',
    enter: ['cogs_percent', 'Enter what goods cost'],
  },
  gifts: {
    text: 'what some products sent to creators cost. A parcel needs its products’ SKUs, and each SKU a cost',
    enter: ['per_item', 'Enter what a product costs'],
  },
  contract_fees: { text: 'the amount of a signed contract’s fixed fee' },
};

/** Lists the missing costs, each with a button that enters it. */
function Unknown({ of, onEnter }: { of: readonly Missing[]; onEnter: (kind: CostKind) => void }) {
  if (of.length === 0) return null;
  return (
    <section className="card" aria-label="Missing">
      <h2>Some profit is unknown</h2>
      <ul className="plain missing">
        {of.map((one) => {
          const { text, enter } = MISSING[one];
          return (
            <li key={one} className="row">
              <span>Missing: {text}.</span>
              {enter ? (
                <Button needs="create_cost" onPress={() => onEnter(enter[0])}>
                  {enter[1]}
                </Button>
              ) : (
                <Link to="/contracts" search={{ status: 'signed' }}>
                  Signed contracts
                </Link>
              )}
            </li>
          );
        })}
      </ul>
    </section>
  );
}

const MISSES = <span className="missing-figure">Missing</span>;

function buildColumns(by: ReturnDimension, rows: readonly ReturnsRow[]): Column<ReturnsRow>[] {
  const isMixed = new Set(rows.map(({ currency }) => currency)).size > 1;
  const cost = (head: string, of: (row: ReturnsRow) => number | null, name?: Missing): Column<ReturnsRow> => ({
    head,
    isNumber: true,
    isWide: true,
    cell: (row): ReactNode => {
      if (name !== undefined && row.missing.includes(name)) return MISSES;
      const amount = minorMoney(of(row), row.currency);
      return of(row) === 0 ? <span className="muted">{amount}</span> : amount;
    },
  });
  return [
    {
      head: toHead(by),
      cell: (row) => (
        <>
          <RowName by={by} of={row} />
          <span className="second">
            {`${number(row.orders)} ${row.orders === 1 ? 'order' : 'orders'}`}
            {isMixed && `, ${row.currency}`}
          </span>
        </>
      ),
    },
    { head: 'Sales', cell: (row) => minorMoney(row.revenue_minor, row.currency), isNumber: true },
    cost('Goods', (row) => row.goods_minor, 'goods'),
    cost('Commission', (row) => row.commission_minor),
    cost('Fees', (row) => row.fees_minor, 'contract_fees'),
    cost('Gifts', (row) => row.gifts_minor, 'gifts'),
    ...(rows.some(({ fixed_minor }) => fixed_minor !== 0) ? [cost('Fixed', (row) => row.fixed_minor)] : []),
    { head: 'Profit', cell: (row) => <Profit row={row} />, isNumber: true },
    { head: 'Return', cell: (row) => multiple(row.return_on_spend), isNumber: true, isWide: true },
    { head: 'Break-even', cell: breakEvenText, isNumber: true, isWide: true },
  ];
}

function Profit({ row: { profit_minor: profit, currency } }: { row: ReturnsRow }) {
  if (profit === null) return <span className="missing-figure">Not known</span>;
  return <span className={profit < 0 ? 'loss' : undefined}>{minorMoney(profit, currency)}</span>;
}

function breakEvenText({ orders_to_break_even: needed, missing, orders }: ReturnsRow): string {
  if (needed === null) return missing.length > 0 || orders === 0 ? '–' : 'Never';
  return number(needed);
}

/** The profit of campaigns, creators, links and months, and the costs themselves. */
export function Returns() {
  const { get, set } = useFilters();
  const { from, to, time_zone, zone, filters } = usePeriod();
  const by = findChoice(get('by'), BY) ?? 'campaign';
  const dialog = useOpened('dialog');
  const query = { by, from, to, time_zone };
  const months = useCall('get_analytics_returns', { query: { by: 'month', from, to, time_zone, limit: 100 } });
  const call = useCall('get_analytics_returns', { query: { ...query, limit: SHOWN } });
  // The rows of another dimension are not shown in the meantime.
  const list = call.isPlaceholderData ? undefined : call.data;
  // The content below the totals waits for them, so that nothing moves.
  const isSettled = months.data !== undefined || months.error !== null;
  const enter = (kind: CostKind) => dialog.open(toDialogName(kind));
  return (
    <>
      <FiguresHead
        title="Profit"
        hint={`What creators earned you from ${day(from)} to ${day(to)}, in ${zone}, after goods, commissions, fees and gifts.`}
        hasPeriod
      >
        <Download id="get_analytics_returns" query={query} name={`returns-by-${by}.csv`} />
        <IfMay needs="create_cost">
          <Button kind="primary" onPress={() => enter('cogs_percent')}>
            Enter a cost
          </Button>
        </IfMay>
      </FiguresHead>
      <Filters of={filters} saved={['by']} />
      {months.error && <Failure error={months.error} again={() => void months.refetch()} />}
      {!months.error && !months.data && <Loading rows={2} />}
      {months.data && <Totals rows={months.data.data} />}
      {months.data && <Unknown of={months.data.meta.missing} onEnter={enter} />}
      {isSettled && (
        <Card
          title="Breakdown"
          action={<Tabs legend="By" options={BY} chosen={by} onChoose={(one) => set('by', one)} />}
        >
          {call.error && <Failure error={call.error} again={() => void call.refetch()} />}
          {!call.error && !list && <Loading rows={8} />}
          {list?.data.length === 0 && (
            <Empty title="Nothing earned and nothing spent">Choose another period, or wait for the first order.</Empty>
          )}
          {list && list.data.length > 0 && (
            <>
              <PlainTable
                isTight
                caption={`Profit by ${by}`}
                rows={list.data}
                getKey={({ key, currency }) => `${key} ${currency}`}
                columns={buildColumns(by, list.data)}
              />
              <p className="hint">
                Sales are less refunds.
                <span className="wide">
                  {' '}
                  “Break-even” is the number of orders like these that pays for fees, gifts and fixed costs.
                </span>
              </p>
              {list.pagination.has_more && (
                <p className="hint">
                  The first {number(SHOWN)} of {number(list.pagination.total)}. The file has all.
                </p>
              )}
            </>
          )}
        </Card>
      )}
      {isSettled && (list || call.error) && <Costs dialog={dialog} />}
    </>
  );
}
