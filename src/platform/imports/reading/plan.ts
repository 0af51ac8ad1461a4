import type { Flag } from './flags.ts';
import type { Kind } from './kinds.ts';
import type { DecimalSign, Goods, StatusMeaning, TaxPlace } from './shapes.ts';
import type { TimeReading } from './times.ts';

/** Everything that decides how a row becomes a record. It is plain data, so that a job can continue with it. */
export interface Plan {
  of: Kind;
  format: string | null;
  headers: string[];
  columns: Record<string, number>;
  constants: Record<string, string>;
  decimals: Record<number, DecimalSign>;
  times: Record<number, Omit<TimeReading, 'timeZone'>>;
  /** Columns whose header says that their times are UTC. */
  utc: number[];
  /** Columns whose header names another zone. Plans of earlier versions lack it. */
  zones?: Record<number, string>;
  timeZone: string;
  unit: 'major' | 'minor';
  /** Columns that are counted in cents, thousands or millions, with the power of ten. Plans of earlier versions lack it. */
  scales?: Record<number, number>;
  goods: Goods | null;
  tax: TaxPlace | null;
  taxInPrices: 'proportional' | 'goods_only';
  partialRefunds: 'proportional' | 'goods_first';
  adjustedZero: 'refunded' | 'unadjusted';
  /** Of amounts that stand on several lines of an order, each is the whole order's, or its line's part. */
  repeats: 'order' | 'lines';
  /** An order with the time of a refund and no amount of it was refunded whole. */
  refundsWhole: boolean;
  /** The amount of an order is what is left after its refund. Plans of earlier versions lack it. */
  netOfRefunds?: boolean;
  rate: 'percent' | 'fraction';
  /** The currency of amounts that say none. */
  currency: string | null;
  symbols: Record<string, string>;
  /** The currency that the header of the amounts names. */
  headerCurrency?: string;
  /** Some amount has a sign or a word of a currency beside it. */
  hasSymbols: boolean;
  statuses: Record<string, StatusMeaning>;
  /** Some cell of the status column says something. */
  hasStatuses: boolean;
  /** Columns that say yes or no to something that decides whether a record counts. */
  flags: readonly Flag[];
  damaged: number[];
  /** Columns of ids that were written as numbers: their digits are the ids. Plans of earlier versions lack it. */
  numbered?: number[];
  totalsLines: number[];
  /** The line that describes the columns. Plans of earlier versions, and of files without one, lack it. */
  descriptionLine?: number;
  /** The only heading of a file that stands below all of its records. */
  footer?: string;
  people: Record<string, string>;
}
