import type { ReactNode } from 'react';
import type { Answer, Query, Row } from '../call/call.ts';
import { listChoices } from '../call/lists.ts';
import { useCall } from '../call/use.ts';
import { Download } from '../kit/download.tsx';
import { Filters, findChoice, useFilters } from '../kit/filters.tsx';
import { aboutPercent, counted, day, minorMoney, number, roundly } from '../kit/format.ts';
import { Card, Empty, Failure, Loading, PageHead, Stat, Stats } from '../kit/parts.tsx';
import { usePeriod } from '../kit/period.ts';
import { type Column, PlainTable } from '../kit/table.tsx';
import { Tabs } from '../kit/tabs.tsx';
import { BroughtCustomers } from './brought-customers.tsx';
import { Cohorts } from './cohorts.tsx';
import { ImportCustomers } from './import-customers.tsx';
import { FiguresHead } from './report-open.tsx';
import { RowName, toHead } from './row-name.tsx';

type CustomerDimension = NonNullable<Query<'get_analytics_customers'>['by']>;
type CustomersRow = Row<'get_analytics_customers'>;
type AnalyticsShare = Answer<'get_analytics_share'>['data'];

const BY = listChoices('get_analytics_customers', 'by');
const SORTS = listChoices('get_analytics_customers', 'sort');
type CustomersSort = (typeof SORTS)[number];
const SHOWN = 50;

/** Compares the share of new customers among creators' orders with that of the rest, and says how certain it is. */
function Difference({ of: { attributed, others, difference, interval } }: { of: AnalyticsShare['new_customers'] }) {
  if (difference === null || interval === null) {
    return (
      <p className="hint">
        It is too early to compare first orders: that takes orders with an email address both from creators and from
        elsewhere.
      </p>
    );
  }
  const isChance = interval.from <= 0 && interval.to >= 0;
  return (
    <>
      <p>
        {isChance
          ? 'No measurable difference: about the same share of creator orders and of other orders are first orders'
          : `A ${difference > 0 ? 'larger' : 'smaller'} share of creator orders are first orders`}{' '}
        ({aboutPercent(attributed.share)} vs {aboutPercent(others.share)}).
      </p>
      <details>
        <summary className="small muted">How certain this is</summary>
        <p className="hint">
          {aboutPercent(attributed.share)} of the orders that creators won are first orders of their customers; of all
          other orders it is {aboutPercent(others.share)}. With 95% confidence, the difference is between{' '}
          {roundly(interval.from)} and {roundly(interval.to)} percentage points
          {isChance && ', which includes zero: it may be chance'}.
        </p>
        <Interval {...interval} at={difference} />
      </details>
    </>
  );
}

const HALF = 100;
const HEIGHT = 20;
const LABELS = 9;
/** Labels nearer than this overlap. */
const BESIDE = 14;

/** The interval around zero, in percentage points. The sentence above it says the same. */
function Interval({ from, to, at }: { from: number; to: number; at: number }) {
  const most = Math.max(Math.abs(from), Math.abs(to), 1) * 1.15;
  const x = (points: number) => HALF + (points / most) * HALF;
  return (
    <svg className="interval" viewBox={`0 0 ${2 * HALF} ${HEIGHT + LABELS}`} aria-hidden="true">
      <path className="axis" d={`M0 ${HEIGHT / 2}H${2 * HALF}M${HALF} 2V${HEIGHT - 2}`} />
      <path className="range" d={`M${x(from)} ${HEIGHT / 2}H${x(to)}`} />
      <circle cx={x(at)} cy={HEIGHT / 2} r="4" />
      {[from, to].map((points) => (
        <text key={points} x={x(points)} y={HEIGHT + LABELS / 2} textAnchor="middle">
          {roundly(points)}
        </text>
      ))}
      {[from, to].every((points) => Math.abs(x(points) - HALF) > BESIDE) && (
        <text x={HALF} y={HEIGHT + LABELS / 2} textAnchor="middle">
          0
        </text>
      )}
    </svg>
  );
}

function ShareOfSales({ data }: { data: AnalyticsShare }) {
  const { new_customers: firsts } = data;
  const ofOrders = ({ orders, first_orders }: typeof firsts.others) =>
    `${number(first_orders)} of ${number(orders)} orders with an email address`;
  if (data.orders === 0) return <Empty title="No paid orders in this period" />;
  return (
    <>
      <Stats>
        {data.by_currency.map(({ currency, sales_minor, attributed_sales_minor, share }) => (
          <Stat
            key={currency}
            label="Sales through creators"
            value={aboutPercent(share)}
            note={`${minorMoney(attributed_sales_minor, currency)} of ${minorMoney(sales_minor, currency)}`}
          />
        ))}
        <Stat
          label="Orders through creators"
          value={aboutPercent(data.share)}
          note={`${number(data.attributed_orders)} of ${number(data.orders)}`}
        />
        <Stat
          label="First orders, through creators"
          value={aboutPercent(firsts.attributed.share)}
          note={ofOrders(firsts.attributed)}
        />
        <Stat
          label="First orders, elsewhere"
          value={aboutPercent(firsts.others.share)}
          note={ofOrders(firsts.others)}
        />
      </Stats>
      <Difference of={firsts} />
    </>
  );
}

/** The share of new customers who ordered again. Unknown until the first of them has been known for so long. */
const AGAIN = [
  ['Reordered in 30 days', 'repeat_rate_30'],
  ['In 60 days', 'repeat_rate_60'],
  ['In 90 days', 'repeat_rate_90'],
] as const;

/** Figures that no row has yet are left out. */
function buildColumns(
  by: CustomerDimension,
  sort: CustomersSort,
  rows: readonly CustomersRow[],
): Column<CustomersRow>[] {
  const figure = (of: CustomersSort) => ({ isNumber: true, sort: { by: of, isOn: sort === of } }) as const;
  const most = Math.max(1, ...rows.map(({ key, new_customers }) => (key === null ? 0 : new_customers)));
  const isMixed = new Set(rows.map(({ currency }) => currency)).size > 1;
  return [
    {
      head: toHead(by),
      cell: (row) => (
        <>
          <RowName by={by} of={row} />
          {isMixed && <span className="second">{row.currency}</span>}
          {row.key !== null && (
            <span className="part" aria-hidden>
              <span style={{ inlineSize: `${(100 * row.new_customers) / most}%` }} />
            </span>
          )}
        </>
      ),
    },
    { head: 'New', ...figure('new_customers'), cell: (row) => number(row.new_customers) },
    {
      head: 'Returning',
      ...figure('returning_customers'),
      cell: (row) => number(row.returning_customers),
      isWide: true,
    },
    { head: 'New share', ...figure('new_share'), cell: (row) => aboutPercent(row.new_share), isWide: true },
    {
      head: 'First order',
      ...figure('first_order_minor'),
      cell: (row) => minorMoney(row.first_order_minor, row.currency),
      isWide: true,
    },
    ...AGAIN.filter(([, of]) => rows.some((row) => row[of] !== null)).map(
      ([head, of]): Column<CustomersRow> => ({
        head,
        ...figure(of),
        isWide: true,
        cell: (row) => aboutPercent(row[of]),
      }),
    ),
    ...(rows.some(({ value_90_minor }) => value_90_minor !== null)
      ? [
          {
            head: 'Value in 90 d',
            ...figure('value_90_minor'),
            isWide: true,
            cell: (row: CustomersRow) => minorMoney(row.value_90_minor, row.currency),
          },
        ]
      : []),
    {
      head: 'Cost per new customer',
      ...figure('cost_per_new_customer_minor'),
      // Customers of no creator, campaign, link or store have no cost.
      cell: (row) => (row.key === null ? '–' : minorMoney(row.cost_per_new_customer_minor, row.currency)),
    },
  ];
}

function Known({ meta }: { meta: Answer<'get_analytics_customers'>['meta'] }) {
  return (
    <p className="hint">
      {meta.history_since !== null &&
        `Orders are known since ${day(meta.history_since)}: customers who last bought before that count as new. `}
      {meta.without_email > 0 &&
        `${number(meta.without_email)} of ${number(meta.orders)} orders have no email address and are in no row. `}
      “New share” counts customers, “First orders” above counts orders. “Reordered in 30 days” is the share of new
      customers who ordered again within 30 days. Such figures count only customers who have been known for that time; a
      dash means that there are none yet.
    </p>
  );
}

/** One dimension's customers. */
function CustomersBy({ query }: { query: Query<'get_analytics_customers'> & { by: CustomerDimension } }) {
  const { by } = query;
  const sort = findChoice(useFilters().get('sort'), SORTS) ?? 'new_customers';
  const {
    data: list,
    error,
    refetch,
  } = useCall('get_analytics_customers', { query: { ...query, sort, limit: SHOWN } });
  if (error) return <Failure error={error} again={() => void refetch()} />;
  if (!list) return <Loading rows={12} />;
  const bought = list.data.filter((row) => row.new_customers + row.returning_customers > 0);
  const idle = list.data.length - bought.length;
  // The row of no creator, campaign, link or store comes last.
  const rows = bought.toSorted((a, b) => Number(a.key === null) - Number(b.key === null));
  if (rows.length === 0) return <Empty title="No customers in this period" />;
  return (
    <>
      <PlainTable
        isTight
        caption={`Customers by ${by}`}
        rows={rows}
        getKey={({ key, currency }) => `${key} ${currency}`}
        columns={buildColumns(by, sort, rows)}
      />
      {idle > 0 && <p className="hint">The file also lists {counted(idle, by)} without customers in this period.</p>}
      <Known meta={list.meta} />
      {list.pagination.has_more && (
        <p className="hint">
          The first {number(SHOWN)} of {number(list.pagination.total)}. The file has all.
        </p>
      )}
    </>
  );
}

/** New and returning customers, and the creators' share of sales. */
function Figures({ tabs }: { tabs: ReactNode }) {
  const { get, set } = useFilters();
  const { from, to, time_zone, zone, filters } = usePeriod('90d');
  const by = findChoice(get('by'), BY) ?? 'creator';
  const query = { by, from, to, time_zone };
  const share = useCall('get_analytics_share', { query: { from, to, time_zone } });
  return (
    <>
      <FiguresHead
        title="Customers"
        hint={`Who bought from ${day(from)} to ${day(to)}, in ${zone}, and what a new customer costs.`}
        hasPeriod
      >
        <Download id="get_analytics_customers" query={query} name={`customers-by-${by}.csv`} />
      </FiguresHead>
      {tabs}
      <Filters of={filters} saved={['by', 'sort']} />
      <Card title="Creators’ share of sales">
        {share.error && <Failure error={share.error} again={() => void share.refetch()} />}
        {!share.error && !share.data && <Loading rows={4} />}
        {share.data && <ShareOfSales data={share.data.data} />}
      </Card>
      <Card
        title="New and returning customers"
        action={<Tabs legend="By" options={BY} chosen={by} onChoose={(one) => set('by', one)} />}
      >
        <CustomersBy key={by} query={query} />
      </Card>
    </>
  );
}

const VIEWS = ['figures', 'cohorts', 'each'] as const;
const VIEW_LABELS = { figures: 'Figures', cohorts: 'Cohorts', each: 'Customers of creators' } as const;

/** The figures of all customers, and those whose later orders earn for a creator. */
export function Customers() {
  const { get, set } = useFilters();
  const view = findChoice(get('view'), VIEWS) ?? 'figures';
  const tabs = (
    <Tabs
      legend="Show"
      options={VIEWS}
      chosen={view}
      onChoose={(one) => set('view', one === 'figures' ? '' : one)}
      toLabel={(one) => VIEW_LABELS[one]}
    />
  );
  if (view === 'figures') return <Figures tabs={tabs} />;
  if (view === 'cohorts') {
    return (
      <>
        <PageHead title="Customers" hint="Whether customers come back, by month or week of their first order." />
        {tabs}
        <Cohorts />
      </>
    );
  }
  return (
    <>
      <PageHead title="Customers" hint="Whose later orders earn for a creator, why, and until when.">
        <ImportCustomers />
        <Download id="list_customers" query={{}} name="customers.csv" />
      </PageHead>
      {tabs}
      <BroughtCustomers />
    </>
  );
}
