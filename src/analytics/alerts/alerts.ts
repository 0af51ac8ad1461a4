import { type Selectable, sql } from 'kysely';
import { COUNT, countRows } from '../../kit/engines/postgres/count.ts';
import type { AlertsTable } from '../../kit/engines/postgres/database.ts';
import { listing } from '../../kit/engines/postgres/listing.ts';
import type { Db } from '../../kit/engines/postgres/open.ts';
import { periodicRows } from '../../kit/engines/postgres/periodic.ts';
import { table } from '../../kit/operation/table.ts';
import { getDecimals } from '../../kit/values/decimals.ts';
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../kit/values/duration.ts';
import type { ListWindow } from '../../kit/values/page.ts';
import { dayIn, daysAfter, timeIn, toMonday } from '../../kit/values/time-zone.ts';
import type { AlertBy, Metric } from './alerts.shapes.ts';

declare module '../../kit/engines/postgres/columns.ts' {
  interface ColumnShapes {
    'alerts.metric': Metric;
    'alerts.dimension': AlertBy;
  }
}

export type AlertRow = Selectable<AlertsTable>;

/** The keys for which an alert fires. */
export interface ShownAlert {
  firingSince: Date | null;
  firingKeys: string[];
}

const MAX_KEYS = 100;

const FIRING = sql`from alert_firings as firing where firing.alert_id = alerts.id`;

export const alerts = listing({
  noun: 'alert',
  table: 'alerts',
  time: 'createdAt',
  changed: ['createdAt', 'updatedAt'],
  matching: (db, _brandId, _where: ListWindow) => db.selectFrom('alerts'),
  rows: (db) =>
    db
      .selectFrom('alerts')
      .selectAll()
      .select([
        sql<Date | null>`(select min(firing.began_at) ${FIRING})`.as('firingSince'),
        sql<string[]>`array(select firing.key ${FIRING} and firing.key <> '' order by firing.began_at, firing.key
          limit ${sql.lit(MAX_KEYS)})`.as('firingKeys'),
      ]),
});

export const countAlerts = (db: Db, brandId: string): Promise<number> =>
  countRows(db.selectFrom('alerts').select(COUNT).where('brandId', '=', brandId));

export const alertRows = table<AlertsTable>('alerts', 'alert');

/** Deletes the keys that the alert fires for, without a mail. */
export async function deleteFirings(db: Db, brandId: string, alertId: string): Promise<void> {
  await db.deleteFrom('alertFirings').where('brandId', '=', brandId).where('alertId', '=', alertId).execute();
}

export const dueAlerts = periodicRows<'dueAt', AlertRow>({ table: 'alerts', due: 'dueAt' });

export async function listFiringKeys(db: Db, { brandId, id }: Pick<AlertRow, 'brandId' | 'id'>): Promise<string[]> {
  const rows = await db
    .selectFrom('alertFirings')
    .select('key')
    .where('brandId', '=', brandId)
    .where('alertId', '=', id)
    .execute();
  return rows.map(({ key }) => key);
}

/** Returns the keys for which the alert did not fire before. */
export async function beginFiring(
  db: Db,
  { brandId, id }: Pick<AlertRow, 'brandId' | 'id'>,
  keys: readonly string[],
  beganAt: Date,
): Promise<string[]> {
  const { rows } = await sql<{ key: string }>`
    insert into alert_firings (alert_id, brand_id, key, began_at)
    select ${id}, ${brandId}, key, ${beganAt}::timestamptz from unnest(${[...keys]}::text[]) as began (key)
    on conflict do nothing returning key`.execute(db);
  return rows.map(({ key }) => key);
}

/** Returns the keys for which the alert fired until now. */
export async function endFiring(
  db: Db,
  { brandId, id }: Pick<AlertRow, 'brandId' | 'id'>,
  keys: readonly string[],
): Promise<string[]> {
  const { rows } = await sql<{ key: string }>`
    delete from alert_firings where brand_id = ${brandId} and alert_id = ${id} and key = any(${[...keys]}::text[])
    returning key`.execute(db);
  return rows.map(({ key }) => key);
}

/** `unusual` compares with this many weeks, of which `LEAST_WEEKS` must have the figure. */
export const WEEKS = 8;
const LEAST_WEEKS = 4;
/** A smaller deviation counts as this share of the median. */
const LEAST_DEVIATION = 0.1;
export const USUAL_THRESHOLD = 3;

type WindowSpan = Pick<AlertRow, 'span' | 'timezone'>;

/** The end of the last window that has ended by a time. */
export function lastEnd(alert: WindowSpan, now: Date): Date {
  const { span, timezone } = alert;
  if (span === 'hour') return new Date(Math.floor(now.getTime() / HOUR_MS) * HOUR_MS);
  const day = dayIn(timezone, now);
  return timeIn(timezone, span === 'week' ? toMonday(day) : day);
}

/** Events of a window's last moments need minutes to arrive in the figures. */
export const AFTER_END_MS = 10 * MINUTE_MS;

/** The time at which the window that ends at `end` is checked. */
export const dueAfter = (end: Date): Date => new Date(end.getTime() + AFTER_END_MS);

/** A window's end, moved by so many windows. */
export function shiftEnd(alert: WindowSpan, end: Date, windows: number): Date {
  if (alert.span === 'hour') return new Date(end.getTime() + windows * HOUR_MS);
  return timeIn(alert.timezone, daysAfter(dayIn(alert.timezone, end), windows * (alert.span === 'week' ? 7 : 1)));
}

/** The end of the same window that many weeks before. */
export function weeksBefore({ span, timezone }: WindowSpan, end: Date, weeks: number): Date {
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

export const ZERO_TOTALS: Totals = { clicks: 0, orders: 0, click_orders: 0, sales: 0, refunds: 0, commission: 0 };

/** The name, unit and value of each metric; money is in minor units. Null if there is nothing to divide by. */
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

export const getMetric = (metric: Metric) => VALUES[metric];

/** Clicks and orders count whatever their currency. */
export const isInCurrency = (metric: Metric): boolean => metric !== 'clicks' && metric !== 'orders';

function computeMedian(values: readonly number[]): number {
  const sortedValues = values.toSorted((a, b) => a - b);
  const half = sortedValues.length / 2;
  return ((sortedValues[Math.ceil(half) - 1] ?? 0) + (sortedValues[Math.floor(half)] ?? 0)) / 2;
}

function isUnusual(value: number, before: readonly (number | null)[], deviations: number): boolean | undefined {
  const values = before.filter((one) => one !== null);
  if (values.filter((one) => one !== 0).length < LEAST_WEEKS) return undefined;
  const median = computeMedian(values);
  const deviation = computeMedian(values.map((one) => Math.abs(one - median)));
  return Math.abs(value - median) > deviations * Math.max(deviation, LEAST_DEVIATION * Math.abs(median));
}

function hasChanged(value: number, before: number | null | undefined, percent: number): boolean | undefined {
  if (before === null || before === undefined) return undefined;
  // This includes 0, so that an alert ends once nothing happens any more.
  if (value === before) return false;
  if (before <= 0) return undefined;
  const change = (100 * (value - before)) / before;
  return percent < 0 ? change <= percent : change >= percent;
}

/** A threshold in the unit of its metric's values. */
export const toMinorThreshold = (threshold: number, { unit, currency }: { unit: string; currency: string }): number =>
  unit === 'money' ? threshold * 10 ** getDecimals(currency) : threshold;

/**
 * Evaluates the condition. Undefined means unknown, and the alert stays as it is: without clicks or orders there is no
 * rate, and without earlier figures there is no change and no usual value.
 */
export function evaluateCondition(
  { metric, condition, threshold, currency }: Pick<AlertRow, 'metric' | 'condition' | 'threshold' | 'currency'>,
  now: Totals,
  before: readonly Totals[],
): boolean | undefined {
  const { unit, of } = VALUES[metric];
  const value = of(now);
  if (value === null) return undefined;
  if (condition === 'unusual') return isUnusual(value, before.map(of), threshold);
  if (condition === 'change_percent') return hasChanged(value, before.map(of)[0], threshold);
  const bound = toMinorThreshold(threshold, { unit, currency });
  return condition === 'above' ? value > bound : value < bound;
}

/** The page of the app that shows the figures. */
export const toPagePath = (by: AlertBy | null): string => (by === null ? 'analytics' : `analytics?of=${by}`);

export const getAlertName = ({ name, metric, dimension }: Pick<AlertRow, 'name' | 'metric' | 'dimension'>): string =>
  name ?? `${VALUES[metric].title}${dimension === null ? '' : ` by ${dimension}`}`;
