import { z } from 'zod';
import { integer } from '../../kit/engines/clickhouse/query.ts';
import { DAY_MS } from '../../kit/values/duration.ts';
import { isDay, TimeText } from '../../kit/values/time.ts';

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
export const revenueOf = ({ sales, refunds }: Pick<Sums, 'sales' | 'refunds'>): number => sales - refunds;

/** Commission of any status, minus what refunds took back after payment. */
export const commissionOf = (sums: Pick<Sums, 'pending' | 'approved' | 'paid' | 'refund_adjustment'>): number =>
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

export const figuresOf = (sums: Sums): CurrencyFigures => ({
  currency: sums.currency,
  clicks: sums.clicks,
  conversions: sums.conversions,
  revenueMinor: revenueOf(sums),
  commissionMinor: commissionOf(sums),
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

export const startOf = (boundary: string): Date => new Date(boundary);

/** The first moment after the boundary: the next day, or the next millisecond. */
export function endOf(boundary: string): Date {
  const at = Date.parse(boundary);
  return new Date(isDay(boundary) ? at + DAY_MS : at + 1);
}

export const isDayEdge = (at: Date | undefined): boolean => at === undefined || at.getTime() % DAY_MS === 0;
