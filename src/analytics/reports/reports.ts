import type { Selectable } from 'kysely';
import { COUNT, countRows } from '../../kit/engines/postgres/count.ts';
import type { ReportsTable } from '../../kit/engines/postgres/database.ts';
import { listing } from '../../kit/engines/postgres/listing.ts';
import type { Db } from '../../kit/engines/postgres/open.ts';
import { periodicRows } from '../../kit/engines/postgres/periodic.ts';
import { findOperation } from '../../kit/operation/noun.ts';
import type { Operation } from '../../kit/operation/operation.ts';
import { table } from '../../kit/operation/table.ts';
import { getDecimals } from '../../kit/values/decimals.ts';
import { ApiError, type Problem, validationError } from '../../kit/values/errors.ts';
import { formatMoney, formatNumber } from '../../kit/values/format.ts';
import type { ListWindow } from '../../kit/values/page.ts';
import { daysAfter, isSameZone, timeIn, toMonday } from '../../kit/values/time-zone.ts';
import { Breakdown, BreakdownQuery, type BreakdownRow } from '../breakdown/breakdown.shapes.ts';
import { Customers, Share } from '../customers/customers.shapes.ts';
import { PerformanceList } from '../performance/performance.shapes.ts';
import { Returns } from '../returns/returns.shapes.ts';
import { Analytics } from '../summary/summary.shapes.ts';
import type { Figure, ReportInterval, ReportOperation } from './reports.shapes.ts';

declare module '../../kit/engines/postgres/columns.ts' {
  interface ColumnShapes {
    'reports.operation': ReportOperation;
    'reports.parameters': Record<string, string>;
  }
}

export type ReportRow = Selectable<ReportsTable>;

export const reports = listing({
  noun: 'report',
  table: 'reports',
  time: 'createdAt',
  changed: ['createdAt', 'updatedAt'],
  matching: (db, _brandId, _where: ListWindow) => db.selectFrom('reports'),
  rows: (db) => db.selectFrom('reports').selectAll(),
});

export const countReports = (db: Db, brandId: string): Promise<number> =>
  countRows(db.selectFrom('reports').select(COUNT).where('brandId', '=', brandId));

export const reportRows = table<ReportsTable>('reports', 'report');

export const dueReports = periodicRows<'dueAt', ReportRow>({ table: 'reports', due: 'dueAt' });

/** The first day after the period that a day belongs to. */
export function endOfPeriod(every: ReportInterval, day: string): string {
  if (every === 'day') return daysAfter(day, 1);
  if (every === 'week') return daysAfter(toMonday(day), 7);
  return `${daysAfter(`${day.slice(0, 7)}-28`, 4).slice(0, 7)}-01`;
}

/** The first day of the period before a day that ends one. */
function startOfPeriod(every: ReportInterval, endsOn: string): string {
  if (every === 'month') return `${daysAfter(endsOn, -1).slice(0, 7)}-01`;
  return daysAfter(endsOn, every === 'day' ? -1 : -7);
}

type Schedule = Pick<ReportRow, 'timezone' | 'at'>;

export const toDueAt = ({ timezone, at }: Schedule, endsOn: string): Date => timeIn(timezone, endsOn, at);

interface Days {
  from: string;
  /** Excluded. */
  until: string;
}

interface FirstAndLast {
  from: string;
  /** Included. */
  to: string;
}

/** The period that ends on a day, and the one before. */
export function toPeriods({ every, endsOn }: Pick<ReportRow, 'every' | 'endsOn'>): { now: Days; before: Days } {
  const from = startOfPeriod(every, endsOn);
  return { now: { from, until: endsOn }, before: { from: startOfPeriod(every, from), until: from } };
}

type Amount = Pick<Figure, 'unit' | 'currency'>;

export function amountText(value: number, { unit, currency }: Amount): string {
  if (unit === 'money') return formatMoney(Math.round(value), currency);
  return unit === 'percent' ? `${formatNumber(value)}%` : formatNumber(value);
}

function changeText({ value, previous, ...amount }: Figure): string {
  if (value === null || previous === null) return '';
  const before = amountText(previous, amount);
  if (value === previous) return ' (no change)';
  const way = value > previous ? 'up' : 'down';
  const by = Math.abs(value - previous);
  if (amount.unit === 'percent') return ` (${way} ${formatNumber(by)} points from ${before})`;
  if (previous <= 0) return ` (${way} from ${before})`;
  return ` (${way} ${formatNumber(Math.round((by / previous) * 1_000) / 10)}% from ${before})`;
}

/** A figure and its change, such as "$1,240.00 (up 12% from $1,107.14)". */
export const figureText = (figure: Figure): string =>
  figure.value === null ? 'not known' : `${amountText(figure.value, figure)}${changeText(figure)}`;

type MetricValue<Row> = { unit: Figure['unit']; of: (row: Row) => number | null };

/** The titles and values of the metrics of breakdowns. */
const METRICS: Record<BreakdownQuery['sort'], MetricValue<BreakdownRow> & { title: string }> = {
  clicks: { title: 'Clicks', unit: 'count', of: (row) => row.clicks },
  visitors: { title: 'Visitors', unit: 'count', of: (row) => row.visitors },
  orders: { title: 'Orders', unit: 'count', of: (row) => row.orders },
  revenue: { title: 'Revenue', unit: 'money', of: (row) => row.revenue_minor },
  commission: { title: 'Commission', unit: 'money', of: (row) => row.commission_minor },
  conversion_rate: { title: 'Conversion rate', unit: 'percent', of: (row) => row.conversion_rate },
  aov: { title: 'Average order', unit: 'money', of: (row) => row.aov_minor },
};

interface Row {
  key: string | null;
  label: string | null;
  currency: string;
}

interface Page<R> {
  data: readonly R[];
  pagination: { has_more: boolean };
}

/** A figure for each row. A row that was not there before was 0, if all earlier rows were read. */
function compareRows<R extends Row>(now: Page<R>, before: Page<R>, { unit, of }: MetricValue<R>): Figure[] {
  return now.data.map((row) => {
    const { key, currency } = row;
    const earlier = before.data.find((one) => one.key === key && one.currency === currency);
    const absent = before.pagination.has_more || of(row) === null || unit === 'percent' ? null : 0;
    const isRepeated = unit !== 'money' && now.data.some((one) => one !== row && one.key === key);
    const label = row.label ?? key ?? 'None';
    return {
      label: isRepeated ? `${label} (${currency})` : label,
      value: of(row),
      previous: earlier ? of(earlier) : absent,
      unit,
      currency,
    };
  });
}

type Parameters = Readonly<Record<string, string>>;

interface ReportSource {
  /** The id of the operation. */
  id: string;
  /** Its parameters for the first and last moment. */
  ends: readonly [from: string, to: string];
  /** True if it has rows, of which the first ones are mailed. */
  hasRows: boolean;
  /** True if its answer says up to when it is complete. */
  isDated: boolean;
  page: string;
  /** The parameters as its page names them. */
  search: (parameters: Parameters) => Parameters;
  title: (parameters: Parameters) => string;
  figures: (now: unknown, before: unknown, more: { parameters: Parameters; currency: string }) => Figure[];
}

const ANALYTICS_ENDS = ['from', 'to'] as const;
const PERFORMANCE_ENDS = ['date_from', 'date_to'] as const;

function compareTotals(now: unknown, before: unknown, { currency }: { currency: string }): Figure[] {
  const [{ summary }, { summary: earlier }] = [Analytics.parse(now), Analytics.parse(before)];
  type Name = 'total_revenue' | 'total_conversions' | 'total_clicks' | 'total_commissions';
  const figure = (label: string, name: Name, unit: 'money' | 'count'): Figure => {
    const scale = unit === 'money' ? 10 ** getDecimals(currency) : 1;
    const inUnits = (value: number) => Math.round(value * scale);
    return { label, value: inUnits(summary[name]), previous: inUnits(earlier[name]), unit, currency };
  };
  return [
    figure('Revenue', 'total_revenue', 'money'),
    figure('Orders', 'total_conversions', 'count'),
    figure('Clicks', 'total_clicks', 'count'),
    figure('Commission', 'total_commissions', 'money'),
  ];
}

function compareShares(now: unknown, before: unknown): Figure[] {
  const [{ data }, { data: earlier }] = [Share.parse(now), Share.parse(before)];
  const percent = (label: string, value: number | null, previous: number | null): Figure => ({
    label,
    value,
    previous,
    unit: 'percent',
    currency: '',
  });
  return [
    percent('Orders', data.share, earlier.share),
    ...data.by_currency.map(({ currency, share }) => {
      const previous = earlier.by_currency.find((one) => one.currency === currency)?.share ?? null;
      return percent(`Sales in ${currency}`, share, previous);
    }),
  ];
}

function comparePerformance(now: unknown, before: unknown): Figure[] {
  const [{ summary }, { summary: earlier }] = [PerformanceList.parse(now), PerformanceList.parse(before)];
  return summary.by_currency.flatMap((sums) => {
    const { currency } = sums;
    const were = earlier.by_currency.find((one) => one.currency === currency);
    const figure = (label: string, unit: Figure['unit'], of: (row: typeof sums) => number): Figure => ({
      label: `${label} in ${currency}`,
      value: of(sums),
      previous: were ? of(were) : 0,
      unit,
      currency,
    });
    return [
      figure('Revenue', 'money', (row) => row.revenue_minor),
      figure('Orders', 'count', (row) => row.conversions),
      figure('Clicks', 'count', (row) => row.clicks),
    ];
  });
}

const findMetric = ({ sort }: Parameters) => METRICS[BreakdownQuery.shape.sort.parse(sort)];
const toDimension = ({ by }: Parameters, usual: string) => by ?? usual;

const REPORT_SOURCES: Record<ReportOperation, ReportSource> = {
  analytics: {
    id: 'get_analytics',
    ends: ANALYTICS_ENDS,
    hasRows: false,
    isDated: true,
    page: 'analytics',
    search: (parameters) => parameters,
    title: () => 'Totals of all creators',
    figures: compareTotals,
  },
  breakdown: {
    id: 'get_analytics_breakdown',
    ends: ANALYTICS_ENDS,
    hasRows: true,
    isDated: true,
    page: 'analytics',
    search: ({ by = 'creator', ...others }) => ({ of: by, ...others }),
    title: (parameters) => `${findMetric(parameters).title} by ${toDimension(parameters, 'creator').replace('_', ' ')}`,
    figures: (now, before, { parameters }) =>
      compareRows(Breakdown.parse(now), Breakdown.parse(before), findMetric(parameters)),
  },
  customers: {
    id: 'get_analytics_customers',
    ends: ANALYTICS_ENDS,
    hasRows: true,
    isDated: true,
    page: 'customers',
    search: (parameters) => parameters,
    title: (parameters) => `New customers by ${toDimension(parameters, 'creator')}`,
    figures: (now, before) =>
      compareRows(Customers.parse(now), Customers.parse(before), { unit: 'count', of: (row) => row.new_customers }),
  },
  returns: {
    id: 'get_analytics_returns',
    ends: ANALYTICS_ENDS,
    hasRows: true,
    isDated: true,
    page: 'returns',
    search: (parameters) => parameters,
    title: (parameters) => `Profit by ${toDimension(parameters, 'campaign')}`,
    figures: (now, before) =>
      compareRows(Returns.parse(now), Returns.parse(before), { unit: 'money', of: (row) => row.profit_minor }),
  },
  share: {
    id: 'get_analytics_share',
    ends: ANALYTICS_ENDS,
    hasRows: false,
    isDated: false,
    page: 'customers',
    search: () => ({}),
    title: () => "Creators' share of all sales",
    figures: compareShares,
  },
  performance: {
    id: 'list_affiliate_performance',
    ends: PERFORMANCE_ENDS,
    hasRows: true,
    isDated: true,
    page: 'links',
    search: () => ({}),
    title: () => 'Totals of codes and links',
    figures: comparePerformance,
  },
};

export const getReportSource = (operation: ReportOperation): ReportSource => REPORT_SOURCES[operation];

/** The page of the app that shows the figures of these days. */
export function toPagePath(
  { operation, parameters, timezone }: Pick<ReportRow, 'operation' | 'parameters' | 'timezone'>,
  days: FirstAndLast,
  brandZone: string,
): string {
  const { page, search } = REPORT_SOURCES[operation];
  const zone = isSameZone(timezone, brandZone) ? {} : { time_zone: timezone };
  return `${page}?${new URLSearchParams({ ...search(parameters), ...days, ...zone })}`;
}

/** The reading operation of a report. */
export function getOperation(operation: ReportOperation): Operation {
  const declaration = findOperation(REPORT_SOURCES[operation].id);
  if (!declaration) throw new Error(`There is no operation ${REPORT_SOURCES[operation].id}.`);
  return declaration;
}

/** The query of a period. The last moment of a period is included. */
export function toQuery(
  { operation, parameters, timezone }: Pick<ReportRow, 'operation' | 'parameters' | 'timezone'>,
  { from, until }: Days,
  limit: number,
): Record<string, string> {
  const { ends, hasRows } = REPORT_SOURCES[operation];
  const last = new Date(timeIn(timezone, until).getTime() - 1);
  return {
    ...parameters,
    [ends[0]]: timeIn(timezone, from).toISOString(),
    [ends[1]]: last.toISOString(),
    time_zone: timezone,
    ...(hasRows ? { limit: String(limit) } : {}),
  };
}

const OWN_PARAMETERS = new Set([
  'from',
  'to',
  'date_from',
  'date_to',
  'time_zone',
  'page',
  'limit',
  'offset',
  'compare',
  'granularity',
]);

const underParameters = (problem: Problem): Problem => ({ ...problem, field: `parameters.${problem.field}` });
const toProblem = (name: string, message: string): Problem =>
  underParameters({ field: name, code: 'invalid', message });

/** Throws VALIDATION_ERROR for parameters that the operation does not take, or that the report sets. */
export function assertParameters(report: Pick<ReportRow, 'operation' | 'parameters' | 'timezone'>): void {
  const { operation, parameters } = report;
  const own = Object.keys(parameters).filter((name) => OWN_PARAMETERS.has(name));
  if (own.length > 0) throw validationError(own.map((name) => toProblem(name, 'is set by the report itself.')));
  const query = toQuery(report, { from: '2026-01-01', until: '2026-01-02' }, 1);
  try {
    const { ignored } = getOperation(operation).prepare({ params: {}, query, body: undefined, answer: 'json' });
    const unknown = ignored.map((name) => toProblem(name, `is not a parameter of ${operation}.`));
    if (unknown.length > 0) throw validationError(unknown);
  } catch (error) {
    if (!(error instanceof ApiError) || error.code !== 'VALIDATION_ERROR') throw error;
    const problems = error.details ?? [];
    throw validationError(problems.map((one) => (one.field.startsWith('parameters.') ? one : underParameters(one))));
  }
}

const INTERVAL_NAMES: Record<ReportInterval, string> = { day: 'Daily', week: 'Weekly', month: 'Monthly' };

export const getReportName = ({ name, every, operation }: Pick<ReportRow, 'name' | 'every' | 'operation'>): string =>
  name ?? `${INTERVAL_NAMES[every]} ${operation}`;
