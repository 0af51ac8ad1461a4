import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../kit/values/duration.ts';
import { decimalsOf } from '../../kit/values/money.ts';
import { dayIn, daysAfter, mondayOf, timeIn } from '../../kit/values/time-zone.ts';
import type { AlertRow } from './queries.ts';
import type { AlertBy, Metric } from './schema.ts';

/** Weeks that `unusual` compares with, and how many of them must have the figure. */
export const WEEKS = 8;
const LEAST_WEEKS = 4;
/** Of the median: a smaller deviation counts as this. */
const LEAST_DEVIATION = 0.1;
export const USUAL_THRESHOLD = 3;

type Timed = Pick<AlertRow, 'span' | 'timezone'>;

const daysOf = ({ span }: Timed) => (span === 'week' ? 7 : 1);

/** The end of the last window that has ended by a time. */
export function lastEnd(alert: Timed, now: Date): Date {
  const { span, timezone } = alert;
  if (span === 'hour') return new Date(Math.floor(now.getTime() / HOUR_MS) * HOUR_MS);
  const day = dayIn(timezone, now);
  return timeIn(timezone, span === 'week' ? mondayOf(day) : day);
}

/** Events of a window's last moments need minutes to arrive in the figures. */
export const AFTER_END_MS = 10 * MINUTE_MS;

/** When the window that ends at a time is checked. */
export const dueAfter = (end: Date): Date => new Date(end.getTime() + AFTER_END_MS);

/** A window's end, moved by so many windows. */
export function movedEnd(alert: Timed, end: Date, windows: number): Date {
  if (alert.span === 'hour') return new Date(end.getTime() + windows * HOUR_MS);
  return timeIn(alert.timezone, daysAfter(dayIn(alert.timezone, end), windows * daysOf(alert)));
}

/** The end of the same window that many weeks before. */
export function weeksBefore({ span, timezone }: Timed, end: Date, weeks: number): Date {
  if (span === 'hour') return new Date(end.getTime() - weeks * 7 * DAY_MS);
  return timeIn(timezone, daysAfter(dayIn(timezone, end), -7 * weeks));
}

/** The figures of one key in one window. */
export interface Totals {
  clicks: number;
  orders: number;
  click_orders: number;
  sales: number;
  refunds: number;
  commission: number;
}

export const NOTHING: Totals = { clicks: 0, orders: 0, click_orders: 0, sales: 0, refunds: 0, commission: 0 };

/** Of each metric its name, its unit, and its value; money is in minor units. Null if there is nothing to divide by. */
const VALUES: Record<
  Metric,
  { title: string; unit: 'money' | 'count' | 'percent'; of: (totals: Totals) => number | null }
> = {
  clicks: { title: 'Clicks', unit: 'count', of: ({ clicks }) => clicks },
  orders: { title: 'Orders', unit: 'count', of: ({ orders }) => orders },
  revenue: { title: 'Revenue', unit: 'money', of: ({ sales, refunds }) => sales - refunds },
  refunds: { title: 'Refunds', unit: 'money', of: ({ refunds }) => refunds },
  commission: { title: 'Commission', unit: 'money', of: ({ commission }) => commission },
  conversion_rate: {
    title: 'Conversion rate',
    unit: 'percent',
    of: ({ clicks, click_orders }) => (clicks === 0 ? null : (100 * click_orders) / clicks),
  },
  aov: {
    title: 'Average order',
    unit: 'money',
    of: ({ orders, sales, refunds }) => (orders === 0 ? null : Math.round((sales - refunds) / orders)),
  },
};

export const metricOf = (metric: Metric) => VALUES[metric];

/** Clicks and orders count whatever their currency. */
export const isInCurrency = (metric: Metric): boolean => metric !== 'clicks' && metric !== 'orders';

function medianOf(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const half = sorted.length / 2;
  return ((sorted[Math.ceil(half) - 1] ?? 0) + (sorted[Math.floor(half)] ?? 0)) / 2;
}

function isUnusual(value: number, before: readonly (number | null)[], deviations: number): boolean | undefined {
  const known = before.filter((one) => one !== null);
  if (known.filter((one) => one !== 0).length < LEAST_WEEKS) return undefined;
  const median = medianOf(known);
  const deviation = medianOf(known.map((one) => Math.abs(one - median)));
  return Math.abs(value - median) > deviations * Math.max(deviation, LEAST_DEVIATION * Math.abs(median));
}

function hasChanged(value: number, before: number | null | undefined, percent: number): boolean | undefined {
  if (before === null || before === undefined) return undefined;
  // Also of 0, so that an alert ends once nothing happens any more.
  if (value === before) return false;
  if (before <= 0) return undefined;
  const change = (100 * (value - before)) / before;
  return percent < 0 ? change <= percent : change >= percent;
}

/** A threshold in the unit of its metric's values. */
export const minorOf = (threshold: number, { unit, currency }: { unit: string; currency: string }): number =>
  unit === 'money' ? threshold * 10 ** decimalsOf(currency) : threshold;

/**
 * Whether the condition holds. Undefined if that is unknown, which changes nothing: without clicks or orders there is no
 * rate, without figures before no change and nothing usual.
 */
export function holds(
  { metric, condition, threshold, currency }: Pick<AlertRow, 'metric' | 'condition' | 'threshold' | 'currency'>,
  now: Totals,
  before: readonly Totals[],
): boolean | undefined {
  const { unit, of } = VALUES[metric];
  const value = of(now);
  if (value === null) return undefined;
  if (condition === 'unusual') return isUnusual(value, before.map(of), threshold);
  if (condition === 'change_percent') return hasChanged(value, before.map(of)[0], threshold);
  const bound = minorOf(threshold, { unit, currency });
  return condition === 'above' ? value > bound : value < bound;
}

/** The page of the app that shows the figures. */
export const pageOf = (by: AlertBy | null): string => (by === null ? 'analytics' : `analytics?of=${by}`);

export const nameOf = ({ name, metric, dimension }: Pick<AlertRow, 'name' | 'metric' | 'dimension'>): string =>
  name ?? `${VALUES[metric].title}${dimension === null ? '' : ` by ${dimension}`}`;
