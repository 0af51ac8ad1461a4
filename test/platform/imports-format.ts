import type { Goods } from '../../src/platform/imports/reading/shapes.ts';
import type { Locale, Random, Row, Truth } from './imports-draw.ts';

export interface Made {
  headers: string[];
  rows: Row[];
  /** What each row says; null for what is none. */
  truth: (Truth | null)[];
}

export interface Format {
  key: string;
  of: 'orders' | 'commissions' | 'payouts' | 'roster';
  isKnown: boolean;
  /** Our own amounts are major units by definition. */
  isOwn?: boolean;
  /** How the tool itself writes times. */
  times: 'offset' | 'iso' | 'mdy' | 'day' | 'named' | 'locale';
  /** Whether numbers are written as in the country. */
  isLocal?: boolean;
  /** Columns that may be given another name without the file being another tool's. */
  renames?: Readonly<Record<string, string>>;
  idColumn?: string;
  statusColumn?: string;
  amountColumn: string;
  goods?: Goods;
  make(random: Random, locale: Locale, lines: number): Made;
}
