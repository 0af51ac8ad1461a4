import type { Goods } from '../../src/platform/imports/reading/shapes.ts';
import type { Locale, Random, Row, Truth } from './imports-draw.ts';

export interface Made {
  headers: string[];
  rows: Row[];
  /** Each row's truth; null for a row that is no record. */
  truth: (Truth | null)[];
}

export interface Format {
  key: string;
  of: 'orders' | 'commissions' | 'payouts' | 'roster';
  isKnown: boolean;
  /** Our own amounts are major units by definition. */
  isOwn?: boolean;
  /** The tool itself writes times so. */
  times: 'offset' | 'iso' | 'mdy' | 'day' | 'named' | 'locale';
  /** Numbers are written as in the country. */
  isLocal?: boolean;
  /** Columns that may be given another name without the file being another tool's. */
  renames?: Readonly<Record<string, string>>;
  idColumn?: string;
  statusColumn?: string;
  amountColumn: string;
  goods?: Goods;
  make(random: Random, locale: Locale, lines: number): Made;
}
