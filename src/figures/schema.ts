import { z } from 'zod';
import { integer } from '../engines/clickhouse/query.ts';
import { DAY_MS } from '../values/duration.ts';
import { isDay, TimeText } from '../values/time.ts';

/** The stream of clicks that are acknowledged and not yet in ClickHouse. Keys share a slot, for one script reaches them. */
export const CLICK_STREAM = 'clicks:{clicks}';
/** The batch of clicks that is being inserted. */
export const CLICK_CLAIM = 'claim:{clicks}';
/** While it stands no new batch of clicks is begun: a rebuild reads them again. */
export const CLICKS_PAUSED = 'paused:{clicks}';

/**
 * From the note that a brand's figures are rebuilt to the first row that goes. A read that asked before the note and
 * ended sooner than this saw them whole, and need not ask again.
 */
export const REBUILD_NOTICE_MS = 250;

/** Sums of one currency, in its minor units. A balance of commissions is that of their present states. */
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

/** What one number says of revenue: sales without what was refunded. */
export const revenueOf = ({ sales, refunds }: Pick<Sums, 'sales' | 'refunds'>): number => sales - refunds;

/** What a creator has of it, whatever its state: without what refunds took back after it was paid. */
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
  /** Money that came in other currencies than the link's. */
  others: CurrencyFigures[];
}

export const figuresOf = (sums: Sums): CurrencyFigures => ({
  currency: sums.currency,
  clicks: sums.clicks,
  conversions: sums.conversions,
  revenueMinor: revenueOf(sums),
  commissionMinor: commissionOf(sums),
});

/** Event times: from, included, until, excluded; undefined: without an end. */
export interface Window {
  from?: Date | undefined;
  until?: Date | undefined;
}

/** What an operation with figures says of its header. */
export const FRESHNESS =
  '`X-Data-As-Of` says until when every event is in the figures. It is left out while that is not known, as when figures are being rebuilt.';

/** A whole UTC day, or a time to the millisecond. */
export const Boundary = TimeText.meta({ example: '2026-03-31' });

export const startOf = (boundary: string): Date => new Date(boundary);

/** What comes after it: the next day, or the next millisecond. */
export function endOf(boundary: string): Date {
  const at = Date.parse(boundary);
  return new Date(isDay(boundary) ? at + DAY_MS : at + 1);
}

export const isDayEdge = (at: Date | undefined): boolean => at === undefined || at.getTime() % DAY_MS === 0;
