import { z } from 'zod';
import { integer } from '../../kit/engines/clickhouse/query.ts';
import { tsvTime } from '../../kit/engines/clickhouse/tsv.ts';
import { DAY_MS } from '../../kit/values/duration.ts';
import { isDay, TimeText } from '../../kit/values/time.ts';

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

const KEYS = 'toDate(at) AS day, link_id, creator_id, currency';
const GROUP = 'GROUP BY day, link_id, creator_id, currency';

/** Commission by status. A manual commission has no link, but counts for its creator. */
const STATES = "('commission_pending', 'commission_approved', 'commission_paid')";

/** The ledger's postings that `inside` selects, summed as the views in sql/clickhouse sum them into `link_daily_v1`. */
export const postedRows = (inside: string) =>
  `SELECT ${KEYS}, 0 AS clicks, countIf(kind = 'sale' AND line = 0) AS conversions,
    -sumIf(amount_minor, account = 'sales') AS sales, sumIf(amount_minor, account = 'sales_refunds') AS refunds,
    -sumIf(amount_minor, account = 'commission_pending') AS pending,
    -sumIf(amount_minor, account = 'commission_approved') AS approved,
    -sumIf(amount_minor, account = 'commission_paid') AS paid,
    -sumIf(amount_minor, account = 'refund_adjustment') AS refund_adjustment
  FROM ledger_v1 WHERE ${inside} AND (link_id != '' OR account IN ${STATES}) ${GROUP}`;

/** The clicks and postings that `inside` selects, summed likewise. */
export const rawRows = (inside: string) => `(
  SELECT ${KEYS}, count() AS clicks, 0 AS conversions, 0 AS sales, 0 AS refunds, 0 AS pending, 0 AS approved,
    0 AS paid, 0 AS refund_adjustment
  FROM clicks_v1 WHERE ${inside} AND kind = 'counted' ${GROUP}
  UNION ALL ${postedRows(inside)})`;

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
export interface Window {
  from?: Date | undefined;
  until?: Date | undefined;
}

/** The description of the freshness header, for operations that return figures. */
export const FRESHNESS =
  'The header `X-Data-As-Of` is the time up to which all events are included. It is absent while that is unknown, such as during a rebuild.';

/** A whole UTC day, or a time to the millisecond. */
export const Boundary = TimeText.meta({ example: '2026-03-31' });

export const toStart = (boundary: string): Date => new Date(boundary);

/** The first moment after the boundary: the next day, or the next millisecond. */
export function toEnd(boundary: string): Date {
  const at = Date.parse(boundary);
  return new Date(isDay(boundary) ? at + DAY_MS : at + 1);
}

export const isDayEdge = (at: Date | undefined): boolean => at === undefined || at.getTime() % DAY_MS === 0;

/** A table to sum, or events folded like its rollup, with the condition on its rows. */
interface Source {
  from: string;
  params: Record<string, string>;
}

/** Events of a window that begins or ends within a day; rollups only have whole days. */
function rawSource(brandId: string, { from, until }: Window): Source {
  const params = {
    brand: brandId,
    ...(from ? { from: tsvTime(from) } : {}),
    ...(until ? { until: tsvTime(until) } : {}),
  };
  const inside = [
    'brand_id = {brand:String}',
    ...(from ? ["at >= {from:DateTime64(3, 'UTC')}"] : []),
    ...(until ? ["at < {until:DateTime64(3, 'UTC')}"] : []),
  ].join(' AND ');
  return { from: rawRows(inside), params };
}

/** Without a window, `rollup` must cover all time; with one, it needs a `day`. */
export function selectSource(brandId: string, window: Window, rollup: string): Source {
  if (!isDayEdge(window.from) || !isDayEdge(window.until)) return rawSource(brandId, window);
  const day = (at: Date) => tsvTime(at).slice(0, 10);
  const { from, until } = window;
  const inside = [
    'brand_id = {brand:String}',
    ...(from ? ['day >= {from:Date}'] : []),
    ...(until ? ['day < {until:Date}'] : []),
  ];
  const params = { brand: brandId, ...(from ? { from: day(from) } : {}), ...(until ? { until: day(until) } : {}) };
  return { from: `(SELECT * FROM ${rollup} WHERE ${inside.join(' AND ')})`, params };
}
