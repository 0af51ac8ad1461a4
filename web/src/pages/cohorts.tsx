import { fromMinor } from '../../../src/kit/values/decimals.ts';
import type { Answer } from '../call/call.ts';
import { listChoices } from '../call/lists.ts';
import { useCall } from '../call/use.ts';
import { Download } from '../kit/download.tsx';
import { type Filter, Filters, findChoice, useFilters } from '../kit/filters.tsx';
import { aboutPercent, compactMoney, month, number, shortDay } from '../kit/format.ts';
import { Card, Empty, Failure, Loading } from '../kit/parts.tsx';
import { Frame } from '../kit/table.tsx';

type Cohort = Answer<'get_analytics_cohorts'>['data'][number];

const LENGTHS = listChoices('get_analytics_cohorts', 'by');
const METRICS = listChoices('get_analytics_cohorts', 'metric');
type Metric = (typeof METRICS)[number];

const METRIC_LABELS: Readonly<Record<Metric, string>> = {
  customers: 'Customers',
  orders: 'Orders',
  revenue: 'Sales',
};

const FILTERS: readonly Filter[] = [
  {
    name: 'cohort',
    label: 'First order by',
    kind: 'select',
    fallback: 'month',
    options: [
      ['month', 'Month'],
      ['week', 'Week'],
    ],
  },
  {
    name: 'metric',
    label: 'Shown',
    kind: 'select',
    fallback: 'customers',
    options: METRICS.map((one) => [one, METRIC_LABELS[one]]),
  },
  {
    name: 'of',
    label: 'Customers',
    kind: 'select',
    fallback: 'all',
    clears: ['creator'],
    options: [
      ['all', 'All'],
      ['attributed', 'Won by creators'],
    ],
  },
  { name: 'creator', label: 'Won by one creator', kind: 'entry', clears: ['of'] },
];

const SHADES = 5;

/** From 0, nothing, to 5, as much as the most. */
const toShade = (value: number, most: number) =>
  value <= 0 || most <= 0 ? 0 : Math.min(SHADES, Math.ceil((SHADES * value) / most));

const toShare = (value: number, { customers }: Cohort) => (customers === 0 ? 0 : value / customers);
const formatShare = (share: number) => aboutPercent(100 * share);

function Value({ value, metric, row }: { value: number; metric: Metric; row: Cohort }) {
  if (metric === 'revenue' && row.currency !== null) return compactMoney(fromMinor(value, row.currency), row.currency);
  if (metric === 'orders') return number(value);
  return (
    <>
      {formatShare(toShare(value, row))}
      <span className="second">{number(value)}</span>
    </>
  );
}

/** The last month or week of a row is not over, and so far without an order. */
const isJustBegun = ({ values }: Cohort, place: number) =>
  place > 0 && place === values.length - 1 && values[place] === 0;

/** Customers who came back, in percent of all cohorts that are old enough. */
function Average({ rows, places }: { rows: readonly Cohort[]; places: readonly number[] }) {
  const shares = places.map((i) => {
    const old = rows.filter((row) => row.values.length > i && !isJustBegun(row, i));
    const of = old.reduce((sum, { customers }) => sum + customers, 0);
    const again = old.reduce((sum, { values }) => sum + (values[i] ?? 0), 0);
    return { place: i, share: of === 0 ? undefined : again / of };
  });
  return (
    <tfoot>
      <tr>
        <th scope="row">All</th>
        <td className="number wide">{number(rows.reduce((sum, { customers }) => sum + customers, 0))}</td>
        {shares.map(({ place, share }) => (
          <td key={place} className="number">
            {share === undefined ? '–' : formatShare(share)}
          </td>
        ))}
      </tr>
    </tfoot>
  );
}

interface TriangleProps {
  rows: readonly Cohort[];
  by: (typeof LENGTHS)[number];
  metric: Metric;
}

/** Each cell has its figure; the shade repeats it. */
function Triangle({ rows, by, metric }: TriangleProps) {
  const width = Math.max(0, ...rows.map(({ values }) => values.length));
  // All customers order in the month of their first order.
  const first = metric === 'customers' && width > 1 ? 1 : 0;
  const places = Array.from({ length: width - first }, (_, i) => i + first);
  const isMixed = new Set(rows.map(({ currency }) => currency)).size > 1;
  const weight = (value: number, row: Cohort) => (metric === 'customers' ? toShare(value, row) : value);
  // The first of each row is the largest by nature, and would make all others pale.
  const most = Math.max(0, ...rows.flatMap((row) => row.values.slice(1).map((value) => weight(value, row))));
  const nameCohort = ({ cohort }: Cohort) => (by === 'month' ? month(cohort) : shortDay(cohort));
  return (
    <Frame caption="Cohorts">
      <table className="triangle">
        <caption className="sr-only">{`${METRIC_LABELS[metric]} by ${by} since the first order`}</caption>
        <thead>
          <tr>
            <th scope="col" rowSpan={2}>
              First order
            </th>
            <th scope="col" rowSpan={2} className="number wide">
              Customers
            </th>
            <th scope="colgroup" colSpan={places.length}>
              {by === 'month' ? 'Months later' : 'Weeks later'}
            </th>
          </tr>
          <tr>
            {places.map((i) => (
              <th key={i} scope="col" className="number">
                {i}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr key={`${row.cohort} ${row.currency}`}>
              <th scope="row">
                {nameCohort(row)}
                {isMixed && <span className="second">{row.currency}</span>}
              </th>
              <td className="number wide">{number(row.customers)}</td>
              {places.map((i) => {
                const value = row.values[i];
                if (value === undefined) return <td key={i} />;
                return (
                  <td key={i} className={`number shade${i === 0 ? '' : toShade(weight(value, row), most)}`}>
                    {isJustBegun(row, i) ? '–' : <Value value={value} metric={metric} row={row} />}
                  </td>
                );
              })}
            </tr>
          ))}
        </tbody>
        {metric === 'customers' && <Average rows={rows} places={places} />}
      </table>
    </Frame>
  );
}

/** Customers by the month or week of their first order, and what they bought since. */
export function Cohorts() {
  const { get } = useFilters();
  const by = findChoice(get('cohort'), LENGTHS) ?? 'month';
  const metric = findChoice(get('metric'), METRICS) ?? 'customers';
  const entry = get('creator');
  const creator = useCall('get_roster_creator', { params: { id: entry ?? '' } }, { enabled: entry !== undefined });
  const won = creator.data?.data.id === entry ? creator.data?.data.creator_id : undefined;
  const of = won ?? findChoice(get('of'), ['all', 'attributed']) ?? 'all';
  const isKnown = entry === undefined || won !== undefined;
  const query = { by, metric, of };
  const call = useCall('get_analytics_cohorts', { query }, { enabled: isKnown });
  const error = isKnown ? call.error : creator.error;
  // Figures of another metric are not shown under this one's name.
  const data = call.isPlaceholderData || !isKnown ? undefined : call.data;
  return (
    <Card title="Cohorts" action={<Download id="get_analytics_cohorts" query={query} name="cohorts.csv" />}>
      <p className="hint">
        {by === 'month' ? 'Customers of the last 12 months' : 'Customers of the last 12 weeks'} by their first order,
        and what they bought in each {by} since, from creators or elsewhere. The last figure of a row is of a {by} that
        is not over.
      </p>
      <Filters of={FILTERS} label="Cohorts" saved={false} />
      {error && <Failure error={error} again={() => void (creator.error ? creator : call).refetch()} />}
      {!error && !data && <Loading rows={6} />}
      {data && data.data.length === 0 && (
        <Empty title="No customers yet">They appear with the first paid order that has an email address.</Empty>
      )}
      {data && data.data.length > 0 && <Triangle rows={data.data} by={by} metric={metric} />}
    </Card>
  );
}
