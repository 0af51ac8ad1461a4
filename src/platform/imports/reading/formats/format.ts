import type { Kind } from '../kinds.ts';
import type { DateOrder, Goods } from '../shapes.ts';

/** Rows that a tool's own file does not mean. */
export interface LeftOut {
  column: string;
  /** Folded values; `filled` means any. */
  values: readonly string[] | 'filled' | 'not_filled';
  kind: string;
}

/** A file of a tool, as its own code or documentation, or public files of others, show it. */
export interface Format {
  key: string;
  name: string;
  of: readonly Kind[];
  /** Headers that all must be there; several in one entry are alternatives. */
  needs: readonly (readonly string[])[];
  /** Headers that must not be there. */
  lacks?: readonly string[];
  /** The file has these headers and no others. */
  isExact?: boolean;
  /** Fields by the headers that are them; null says that no column is. */
  columns: Readonly<Record<string, readonly string[] | null>>;
  goods?: Goods;
  /** The amount includes tax and shipping, so what it means becomes a question. */
  asksGoods?: boolean;
  /** The order of day and month, where the tool always writes so. */
  dates?: DateOrder;
  isUtc?: boolean;
  /** The platform whose connected store has the currency that the file lacks. */
  platform?: string;
  /** A column says the currency, whatever sign stands beside the amounts. */
  ignoresSigns?: boolean;
  /** The column of the currency has amounts with its sign, which amounts elsewhere lack. */
  hasSignedCurrency?: boolean;
  leftOut?: readonly LeftOut[];
  /** Negative amounts are what was sent. */
  isNegative?: boolean;
  /** A second row of an order with a negative amount is a refund. */
  hasRefundRows?: boolean;
  /** Rows of one reference are one payment. */
  groups?: boolean;
  /** A payment that came back is a row of its own: the headers of its type, and of the payment's reference. */
  returns?: { types: readonly string[]; of: readonly string[] };
  rate?: 'percent' | 'fraction';
  /** The file is an order to pay, not a proof of payment. */
  asksProof?: boolean;
  /** Quotes have a backslash before them. */
  hasSlashes?: boolean;
  warning?: string;
}

export const ORDERS: readonly Kind[] = ['orders', 'reconciliation'];
export const PAID: readonly Kind[] = ['commissions', 'payouts'];
export const PEOPLE: readonly Kind[] = ['roster', 'payment_details'];
