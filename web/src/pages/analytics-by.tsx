import type { Answer, Query, Row } from '../call/call.ts';
import { listChoices } from '../call/lists.ts';
import { useCall } from '../call/use.ts';
import { Download } from '../kit/download.tsx';
import { Filters, findChoice, useFilters } from '../kit/filters.tsx';
import { minorMoney, number, rate, words } from '../kit/format.ts';
import { Button, Card, Failure, Loading } from '../kit/parts.tsx';
import { type Column, PlainTable } from '../kit/table.tsx';

type BreakdownQuery = Query<'get_analytics_breakdown'>;
type BreakdownDimension = NonNullable<BreakdownQuery['by']>;
type BreakdownRow = Row<'get_analytics_breakdown'>;
type Figures = Omit<BreakdownRow, 'key' | 'label' | 'currency' | 'previous'>;

const BY = listChoices('get_analytics_breakdown', 'by');
const SORTS = listChoices('get_analytics_breakdown', 'sort');
type Sort = (typeof SORTS)[number];
const SORT_LABEL: Readonly<Record<Sort, string>> = {
  revenue: 'Sales',
  orders: 'Orders',
  clicks: 'Clicks',
  visitors: 'Visitors',
  commission: 'Commission',
  conversion_rate: 'Conversion',
  aov: 'Average order',
};
const SHOWN = 50;

/** Rows without a key, by what they lack. */
const NONE: Readonly<Record<BreakdownDimension, string>> = {
  creator: 'No creator',
  campaign: 'No campaign',
  link: 'No link or code',
  product: 'No product',
  country: 'Unknown',
  device: 'Won by a code',
  referrer: 'Unknown',
  platform: 'No platform',
  store: 'No store',
  source: 'No source',
  weekday: 'No day',
  hour: 'No hour',
  click_kind: 'Won by a code',
  utm_source: 'Without one',
  utm_medium: 'Without one',
  utm_campaign: 'Without one',
  utm_term: 'Without one',
  utm_content: 'Without one',
  group: 'No group',
  kind: 'No order',
};

/** The dimensions that an order has of its click. */
const OF_CLICK: readonly BreakdownDimension[] = [
  ...(['country', 'device', 'referrer', 'click_kind'] as const),
  ...(['utm_source', 'utm_medium', 'utm_campaign', 'utm_term', 'utm_content'] as const),
];

/** The dimensions that a click does not have. */
const OF_ORDER: readonly BreakdownDimension[] = ['product', 'store', 'source', 'kind'];

const DEVICES = listChoices('get_analytics_breakdown', 'device');
const KINDS = listChoices('get_analytics_breakdown', 'click_kind');
const ORDER_KINDS = listChoices('get_analytics_breakdown', 'kind');

/** The filters of the address, under the names of the dimensions. */
export function useDimensions() {
  const { get } = useFilters();
  return {
    creator: get('creator'),
    campaign: get('campaign'),
    link: get('link'),
    country: get('country'),
    referrer: get('referrer'),
    platform: get('platform'),
    group: get('group'),
    store: get('store'),
    source: get('source'),
    weekday: get('weekday'),
    hour: get('hour'),
    product: get('product'),
    utm_source: get('utm_source'),
    utm_medium: get('utm_medium'),
    utm_campaign: get('utm_campaign'),
    utm_term: get('utm_term'),
    utm_content: get('utm_content'),
    device: findChoice(get('device'), DEVICES),
    click_kind: findChoice(get('click_kind'), KINDS),
    kind: findChoice(get('kind'), ORDER_KINDS),
  };
}

interface BreakdownPeriod {
  from: string;
  to: string;
  time_zone?: string | undefined;
}

/** A chosen filter by the name that its row has. */
function ChosenOne({ by, value, ...period }: BreakdownPeriod & { by: BreakdownDimension; value: string }) {
  const { set } = useFilters();
  const query = { ...useDimensions(), ...period, by, limit: 1 };
  const { data, isPlaceholderData } = useCall('get_analytics_breakdown', { query });
  const row = data?.data.find(({ key }) => key === value);
  // An id says nothing while its name is read.
  const label = row?.label ?? (data && !isPlaceholderData ? value : '…');
  return (
    <Button onPress={() => set(by, '')}>
      {words(by)}: {value === 'none' ? NONE[by] : label} <span aria-hidden>×</span>
      <span className="sr-only">, remove</span>
    </Button>
  );
}

/** The chosen filters, each with a button that removes it. */
export function Chosen(period: BreakdownPeriod) {
  const dimensions = useDimensions();
  const buttons = BY.flatMap((by) => {
    const value = dimensions[by];
    return value === undefined ? [] : [<ChosenOne key={by} by={by} value={value} {...period} />];
  });
  return buttons.length > 0 && <div className="row">{buttons}</div>;
}

const FIGURE: Readonly<Record<Sort, (row: Figures) => number>> = {
  revenue: ({ revenue_minor }) => revenue_minor,
  orders: ({ orders }) => orders,
  clicks: ({ clicks }) => clicks,
  visitors: ({ visitors }) => visitors,
  commission: ({ commission_minor }) => commission_minor,
  conversion_rate: ({ conversion_rate }) => conversion_rate ?? 0,
  aov: ({ aov_minor }) => aov_minor ?? 0,
};

/** True if a row has more than clicks. */
const isOfOrders = ({ key, orders, revenue_minor, refunds_minor, commission_minor }: BreakdownRow) =>
  key !== null || [orders, revenue_minor, refunds_minor, commission_minor].some((figure) => figure !== 0);

function shownAs(sort: Sort, row: Figures, currency: string): string {
  if (sort === 'conversion_rate') return rate(row.conversion_rate);
  if (sort === 'aov') return minorMoney(row.aov_minor, currency);
  const figure = FIGURE[sort](row);
  return sort === 'revenue' || sort === 'commission' ? minorMoney(figure, currency) : number(figure);
}

/** All rows as one. Who clicked the links of several creators is a visitor of each, so that visitors have no sum. */
function sumRows(rows: readonly Figures[], clickOrders: number): Figures {
  const addUp = (of: (row: Figures) => number) => rows.reduce((sum, row) => sum + of(row), 0);
  const [clicks, orders, revenue] = [addUp((row) => row.clicks), addUp((row) => row.orders), addUp(FIGURE.revenue)];
  return {
    clicks,
    orders,
    revenue_minor: revenue,
    visitors: 0,
    refunds_minor: addUp((row) => row.refunds_minor),
    commission_minor: addUp(FIGURE.commission),
    conversion_rate: clicks === 0 ? null : (100 * clickOrders) / clicks,
    aov_minor: orders === 0 ? null : Math.round(revenue / orders),
  };
}

/** The figures of the whole earlier period, which also has values that are not among the rows. */
export type Earlier = Partial<Readonly<Record<Sort, string>>>;

/** The cells of the last row: the name, then what each figure comes to, and the one of the earlier period. */
function buildFoot(
  by: BreakdownDimension,
  rows: readonly BreakdownRow[],
  clickOrders: number,
  earlier: string | undefined,
): string[] | undefined {
  const [first] = rows;
  // An order counts for each of its products, and amounts in several currencies have no sum.
  if (!first || by === 'product' || rows.some(({ currency }) => currency !== first.currency)) return undefined;
  const all = sumRows(rows, clickOrders);
  const cells = figuresIn(by).map((one) => (one === 'visitors' ? '–' : shownAs(one, all, first.currency)));
  return ['All', ...cells, earlier ?? '–'];
}

/** The change from the earlier period, in percent; of rates in points. */
function changeText(sort: Sort, now: Figures, was: Figures): string | undefined {
  const [figure, earlier] = [FIGURE[sort](now), FIGURE[sort](was)];
  if (sort === 'conversion_rate') {
    const points = Math.round((figure - earlier) * 100) / 100;
    return `${points > 0 ? '+' : ''}${number(points)} points`;
  }
  if (earlier === figure) return 'No change';
  if (earlier <= 0) return earlier === 0 ? 'New' : undefined;
  const change = Math.round((100 * (figure - earlier)) / earlier);
  return change === 0 ? 'No change' : `${change > 0 ? '+' : ''}${number(change)}%`;
}

/** The figures of a dimension, in the order of their columns. */
const figuresIn = (by: BreakdownDimension): readonly Sort[] =>
  OF_ORDER.includes(by)
    ? ['orders', 'revenue', 'commission', 'aov']
    : ['clicks', 'visitors', 'orders', 'conversion_rate', 'revenue', 'commission', 'aov'];

interface BreakdownView {
  by: BreakdownDimension;
  sort: Sort;
  largest: number;
  narrow: (key: string) => void;
}

function buildColumns({ by, sort, largest, narrow }: BreakdownView): Column<BreakdownRow>[] {
  const figure = (one: Sort): Column<BreakdownRow> => ({
    head: SORT_LABEL[one],
    isNumber: true,
    isWide: one !== 'orders' && one !== 'revenue' && one !== sort,
    sort: { by: one, isOn: one === sort },
    cell: (row) => shownAs(one, row, row.currency),
  });
  return [
    {
      head: words(by),
      cell: ({ key, label, ...row }) => (
        <>
          <button type="button" className="link" onClick={() => narrow(key ?? 'none')}>
            {key === null ? NONE[by] : (label ?? key)}
          </button>
          <span className="part" aria-hidden>
            <span style={{ inlineSize: `${largest > 0 ? (100 * Math.max(FIGURE[sort](row), 0)) / largest : 0}%` }} />
          </span>
        </>
      ),
    },
    ...figuresIn(by).map(figure),
    {
      head: `${SORT_LABEL[sort]} before`,
      isNumber: true,
      isWide: true,
      cell: ({ previous, ...row }) =>
        previous && (
          <>
            {shownAs(sort, previous, row.currency)}
            <span className="second">{changeText(sort, row, previous)}</span>
          </>
        ),
    },
  ];
}

function Coverage({ by, of }: { by: BreakdownDimension; of: Answer<'get_analytics_breakdown'>['meta']['coverage'] }) {
  if (!OF_CLICK.includes(by) || of.by_code === 0) return null;
  return (
    <p className="hint">
      A code won {number(of.by_code)} of {number(of.orders)} orders: no click says where they came from.
    </p>
  );
}

interface Asked extends BreakdownPeriod {
  compare: 'previous' | 'year';
}

/** The figures of the period by the page's dimension, in its order. */
export function useBreakdown({ from, to, time_zone, compare }: Asked) {
  const { get } = useFilters();
  const by = findChoice(get('of'), BY) ?? 'creator';
  const sort = findChoice(get('sort'), SORTS) ?? 'revenue';
  const query = { ...useDimensions(), by, from, to, time_zone, compare, sort };
  const call = useCall('get_analytics_breakdown', { query: { ...query, limit: SHOWN } });
  // The rows of another dimension are not shown in the meantime.
  return { by, sort, query, call, data: call.isPlaceholderData ? undefined : call.data };
}

/** The figures of the period by one dimension, largest first; a row narrows the page to itself. */
export function Breakdown({ from, to, time_zone, compare, earlier }: Asked & { earlier: Earlier }) {
  const { get, set } = useFilters();
  const { by, sort, query, call, data } = useBreakdown({ from, to, time_zone, compare });
  const breakdownRows = (data?.data ?? []).filter((row) => !OF_ORDER.includes(by) || isOfOrders(row));
  // Days and hours have an order of their own.
  const isTimely = (by === 'weekday' || by === 'hour') && get('sort') === undefined;
  const rows = isTimely ? breakdownRows.toSorted((a, b) => ((a.key ?? '') < (b.key ?? '') ? -1 : 1)) : breakdownRows;
  const largest = Math.max(0, ...rows.map((row) => FIGURE[sort](row)));
  const foot = data && !data.pagination.has_more && buildFoot(by, rows, data.meta.coverage.by_click, earlier[sort]);
  return (
    <Card
      title="Breakdown"
      action={<Download id="get_analytics_breakdown" query={query} name={`analytics-by-${by}.csv`} />}
    >
      <Filters
        saved={false}
        of={[
          {
            name: 'of',
            label: 'By',
            kind: 'select',
            fallback: 'creator',
            options: BY.map((one) => [one, words(one)]),
          },
          {
            name: 'sort',
            label: 'Ranked by',
            kind: 'select',
            fallback: 'revenue',
            options: SORTS.map((one) => [one, SORT_LABEL[one]]),
          },
        ]}
      />
      {call.error && <Failure error={call.error} again={() => void call.refetch()} />}
      {!call.error && !data && <Loading rows={4} />}
      {data && (
        <>
          <PlainTable
            isTight
            caption={`Analytics by ${words(by).toLowerCase()}`}
            rows={rows}
            getKey={({ key, currency }) => `${key} ${currency}`}
            {...(foot ? { foot } : {})}
            columns={buildColumns({ by, sort, largest, narrow: (key) => set(by, key) })}
          />
          <Coverage by={by} of={data.meta.coverage} />
          {data.pagination.has_more && (
            <p className="hint">
              The first {number(SHOWN)} of {number(data.pagination.total)}. The file has all.
            </p>
          )}
        </>
      )}
    </Card>
  );
}
