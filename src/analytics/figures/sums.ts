import { z } from 'zod';
import { integer } from '../../kit/engines/clickhouse/query.ts';
import { tsvTime } from '../../kit/engines/clickhouse/tsv.ts';
import { DAY_MS } from '../../kit/values/duration.ts';
import { validationError } from '../../kit/values/errors.ts';
import type { Unchecked } from '../../kit/values/problems.ts';
import { isBackwards, isDay, TimeText } from '../../kit/values/time.ts';
import { timeIn, toInstant } from '../../kit/values/time-zone.ts';
import { hasStoredDays, type LocalSpan, STORED_ZONE, toLocalTime, toMoment } from './local-time.ts';

/** Columns that every rollup sums. */
export const COLUMNS = [
  'clicks',
  'conversions',
  'sales',
  'refunds',
  'pending',
  'approved',
  'paid',
  'refund_adjustment',
] as const;

/** The engine merges parts lazily, so every read must sum. */
export const SUMS = COLUMNS.map((column) => `sum(${column}) AS ${column}`).join(', ');

/** A row of zeros disappears when its part is merged, so readers must never see it. */
export const IS_ANYTHING = COLUMNS.map((column) => `${column} != 0`).join(' OR ');

const toKeys = (day: string) => `${day} AS day, link_id, creator_id, currency`;
const GROUP = 'GROUP BY day, link_id, creator_id, currency';

/** Commission by status. A manual commission has no link, but counts for its creator. */
const STATES = "('commission_pending', 'commission_approved', 'commission_paid')";

/**
 * An order that turned out to be a test takes its sale back, on the same day. The column has no sign, and sums of it wrap as they
 * should.
 */
const CONVERSIONS =
  "toUInt64(countIf(kind = 'sale' AND line = 0) - countIf(kind = 'test' AND line = 0)) AS conversions";

/** The ledger's postings that `inside` selects, summed as the views in sql/clickhouse sum them into `link_daily_v1`. */
export const postedRows = (inside: string, day = 'toDate(at)') =>
  `SELECT ${toKeys(day)}, 0 AS clicks, ${CONVERSIONS},
    -sumIf(amount_minor, account = 'sales') AS sales, sumIf(amount_minor, account = 'sales_refunds') AS refunds,
    -sumIf(amount_minor, account = 'commission_pending') AS pending,
    -sumIf(amount_minor, account = 'commission_approved') AS approved,
    -sumIf(amount_minor, account = 'commission_paid') AS paid,
    -sumIf(amount_minor, account = 'refund_adjustment') AS refund_adjustment
  FROM ledger_v1 WHERE ${inside} AND (link_id != '' OR account IN ${STATES}) ${GROUP}`;

/** The clicks and postings that `inside` selects, summed likewise. */
export const rawRows = (inside: string, day = 'toDate(at)') => `(
  SELECT ${toKeys(day)}, count() AS clicks, 0 AS conversions, 0 AS sales, 0 AS refunds, 0 AS pending, 0 AS approved,
    0 AS paid, 0 AS refund_adjustment
  FROM clicks_v1 WHERE ${inside} AND kind = 'counted' ${GROUP}
  UNION ALL ${postedRows(inside, day)})`;

/** The stream of acknowledged clicks that are not yet in ClickHouse. The keys share a slot, because one script uses them all. */
export const CLICK_STREAM = 'clicks:{clicks}';
/** The batch of clicks that is being inserted. */
export const CLICK_CLAIM = 'claim:{clicks}';
/** Brands whose figures are rebuilt, with the time until which their clicks are not inserted. */
export const CLICKS_PAUSED = 'paused:{clicks}';
/** The brands that were paused when the batch was fixed. */
export const CLICK_CLAIM_PAUSED = 'claim-paused:{clicks}';
/** Clicks of paused brands. They return to the stream once no brand is paused. */
export const CLICKS_HELD = 'held:{clicks}';

/**
 * The time between the announcement of a rebuild and its first deleted row. A read that began before the announcement
 * and took less time than this saw complete figures and need not check again.
 */
export const REBUILD_NOTICE_MS = 250;

/** Sums of one currency, in its minor units. Commissions are counted under their current status. */
export const Sums = z.object({
  currency: z.string(),
  clicks: integer,
  conversions: integer,
  sales: integer,
  refunds: integer,
  pending: integer,
  approved: integer,
  paid: integer,
  refund_adjustment: integer,
});
export type Sums = z.output<typeof Sums>;

/** Revenue: sales minus refunds. */
export const computeRevenue = ({ sales, refunds }: Pick<Sums, 'sales' | 'refunds'>): number => sales - refunds;

/** Commission of any status, minus what refunds took back after payment. */
export const computeCommission = (sums: Pick<Sums, 'pending' | 'approved' | 'paid' | 'refund_adjustment'>): number =>
  sums.pending + sums.approved + sums.paid + sums.refund_adjustment;

/** A creator's or a brand's figures in one currency. */
export interface CurrencyFigures {
  currency: string;
  clicks: number;
  conversions: number;
  revenueMinor: number;
  commissionMinor: number;
}

/** Clicks and conversions of a link, and its money in its own currency. */
export interface LinkFigures {
  clicks: number;
  conversions: number;
  revenueMinor: number;
  commissionMinor: number;
  /** Figures in other currencies than the link's. */
  others: CurrencyFigures[];
}

export const toCurrencyFigures = (sums: Sums): CurrencyFigures => ({
  currency: sums.currency,
  clicks: sums.clicks,
  conversions: sums.conversions,
  revenueMinor: computeRevenue(sums),
  commissionMinor: computeCommission(sums),
});

/** Event times: `from` is included, `until` excluded; undefined means unbounded. */
export type Window = LocalSpan;

/** The description of the freshness header, for operations that return figures. */
export const FRESHNESS =
  'The header `X-Data-As-Of` is the time up to which all events are included. It is absent while that is unknown, such as during a rebuild.';

/** A whole day of a zone, or a time to the millisecond. */
export const Boundary = TimeText.meta({ example: '2026-03-31' });

export const toStart = (boundary: string, timeZone = STORED_ZONE): Date =>
  isDay(boundary) ? timeIn(timeZone, boundary) : new Date(boundary);

/** The first moment after the boundary: the next day, or the next millisecond. */
export function toEnd(boundary: string, timeZone = STORED_ZONE): Date {
  const at = Date.parse(boundary);
  return new Date(isDay(boundary) ? toInstant(timeZone, at + DAY_MS) : at + 1);
}

const BACKWARDS = 'must not be after `to`';

/** Reports two boundaries that are in the wrong order in every zone. A day and a time may be in order in one zone alone. */
export function checkOrder({ from, to }: Unchecked<'from' | 'to'>, context: z.core.$RefinementCtx): void {
  if (typeof from !== 'string' || typeof to !== 'string') return;
  if (isBackwards(from, to)) context.addIssue({ code: 'custom', path: ['from'], message: BACKWARDS, input: from });
}

/** The first moment of a period and the first one after it. Throws if it has none in this zone. */
export function toPeriod({ from, to }: { from: string; to: string }, timeZone: string): { from: Date; until: Date } {
  const period = { from: toStart(from, timeZone), until: toEnd(to, timeZone) };
  if (period.from < period.until) return period;
  throw validationError([{ field: 'from', code: 'invalid', message: `${BACKWARDS}.` }]);
}

export const isDayEdge = (at: Date | undefined): boolean => at === undefined || at.getTime() % DAY_MS === 0;

/** A window as the whole days that rollups have, and the windows of events before and after them. */
interface Parts {
  whole: Window | undefined;
  edges: Window[];
}

export function splitWindow({ from, until }: Window): Parts {
  const first = from && new Date(Math.ceil(from.getTime() / DAY_MS) * DAY_MS);
  const last = until && new Date(Math.floor(until.getTime() / DAY_MS) * DAY_MS);
  if (first && last && first >= last && !(isDayEdge(from) && isDayEdge(until))) {
    return { whole: undefined, edges: [{ from, until }] };
  }
  return {
    whole: { from: first, until: last },
    edges: [...(isDayEdge(from) ? [] : [{ from, until: first }]), ...(isDayEdge(until) ? [] : [{ from: last, until }])],
  };
}

/** The condition on events of a window. */
export const toWindowCondition = ({ from, until }: Window): string =>
  [
    'brand_id = {brand:String}',
    ...(from ? [`at >= ${toMoment(from)}`] : []),
    ...(until ? [`at < ${toMoment(until)}`] : []),
  ].join(' AND ');

/** A table to sum, or events folded like its rollup, with the condition on its rows. */
interface SummedTable {
  from: string;
  params: Record<string, string>;
}

/** The end of the UTC day that ends at a moment or has it. */
const toEndOfDay = (at: Date): Date => new Date(Math.ceil(at.getTime() / DAY_MS) * DAY_MS);

/** The condition on the days of a rollup. */
export const toDayCondition = ({ from, until }: Window) =>
  [
    'brand_id = {brand:String}',
    ...(from ? [`day >= toDate('${tsvTime(from).slice(0, 10)}')`] : []),
    ...(until ? [`day < toDate('${tsvTime(until).slice(0, 10)}')`] : []),
  ].join(' AND ');

/**
 * The hours of a window, each with the moment at which it begins as `at`, from the only rollup that has hours. ClickHouse
 * may read the key of a row of another dimension before it leaves the row out.
 */
export const selectHours = (window: Window, columns: string): string => `(
  SELECT * FROM (
    SELECT brand_id, toDateTime64(day, 3, 'UTC') + toIntervalHour(toUInt8OrZero(key)) AS at, currency, ${columns}
    FROM dimension_daily_v1
    WHERE dimension = 'hour' AND ${toDayCondition({ from: window.from, until: window.until && toEndOfDay(window.until) })}
  ) WHERE ${toWindowCondition(window)})`;

/** The rollup's columns that are not sums. */
const ROLLUP_KEYS = {
  brand_daily_v1: ['day', 'currency'],
  link_daily_v1: ['day', 'link_id', 'creator_id', 'currency'],
  link_life_v1: ['link_id', 'creator_id', 'currency'],
} as const;

/**
 * Whole days of a rollup, and the events of the days at both ends. Without a window, the rollup must cover all time. If
 * days matter that are not those of rollups, all are events.
 */
export function selectSource(
  brandId: string,
  window: Window,
  rollup: keyof typeof ROLLUP_KEYS,
  { byDay = false } = {},
): SummedTable {
  const params = { brand: brandId };
  const { whole, edges } = splitWindow(window);
  if (!whole || (byDay && !hasStoredDays(window))) {
    return { from: rawRows(toWindowCondition(window), toLocalTime(window).day), params };
  }
  const columns = [...ROLLUP_KEYS[rollup], ...COLUMNS].join(', ');
  const parts = [
    `SELECT ${columns} FROM ${rollup} WHERE ${toDayCondition(whole)}`,
    ...edges.map((edge) => `SELECT ${columns} FROM ${rawRows(toWindowCondition(edge))}`),
  ];
  return { from: `(${parts.join(' UNION ALL ')})`, params };
}
