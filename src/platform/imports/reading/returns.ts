import type { Entry } from './entry.ts';
import { fold } from './fold.ts';
import type { Format } from './formats/format.ts';
import { readNumber } from './numbers.ts';
import type { Plan } from './plan.ts';

/** The columns that say that a line is a payment that came back, and which payment it was. */
export interface Returns {
  /** The column of the payment's id; -1 if the file lacks it. */
  of: number;
  type: number;
  amount: number;
}

/** Types such as Payment Refund, Mass Pay Reversal and Rückzahlung. */
const BACK =
  /refund|revers|return|ruckzahlung|ruckerstattung|ruckbuchung|ruckgabe|storno|rembours|annul|reembols|devoluc|rimbors|storn|terugbetal|terugboek|zwrot/;

const findColumn = (headers: readonly string[], names: readonly string[]): number => {
  const folded = new Set(names.map(fold));
  return headers.findIndex((header) => folded.has(fold(header)));
};

export function findReturns(
  format: Format | undefined,
  { headers, columns }: Pick<Plan, 'headers' | 'columns'>,
): Returns | undefined {
  if (!format?.returns || columns.amount === undefined) return undefined;
  const { of, types } = format.returns;
  const type = findColumn(headers, types);
  return type < 0 ? undefined : { of: findColumn(headers, of), type, amount: columns.amount };
}

/** Money that came in, of a type by which it had been sent before. */
export const isBack = ({ type, amount }: Returns, cells: readonly string[]): boolean =>
  BACK.test(fold(cells[type] ?? '')) && readNumber((cells[amount] ?? '').trim())?.value.isNegative === false;

/** The rows of a payment apart from those that say that money of it came back. */
export function splitReturned(entry: Entry, { columns }: Pick<Plan, 'columns'>): { own: Entry; returned: Entry[] } {
  const at = columns.amount ?? -1;
  const isSent = (row: Entry) => row.number(row.first(at))?.value.isNegative ?? false;
  const rows = entry.rows.length < 2 ? [] : entry.rows.map((_, i) => entry.row(i));
  const [own, ...others] = rows.filter(isSent);
  if (!own) return { own: entry, returned: [] };
  for (const row of others) own.merge(row);
  return { own, returned: rows.filter((row) => !isSent(row)) };
}
