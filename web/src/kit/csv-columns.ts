import { readCsv } from './csv.ts';

/** Columns by the names that other tools give them, in lower case. */
export type ColumnNames<Column extends string> = Readonly<Record<Column, readonly string[]>>;

/** The rows of a file with a header row, each as a function that reads a cell. Throws if a needed column is missing. */
export function readColumns<Column extends string>(
  text: string,
  columns: ColumnNames<Column>,
  needed: readonly NoInfer<Column>[],
): ((column: Column) => string)[] {
  const [head = [], ...rows] = readCsv(text);
  const names = head.map((name) => name.trim().toLowerCase());
  const findColumn = (column: Column) => names.findIndex((name) => columns[column].includes(name));
  const missing = needed.filter((column) => findColumn(column) < 0);
  if (missing.length > 0) throw new Error(`The file has no column for ${missing.join(', ')}.`);
  return rows.map((row) => (column) => (row[findColumn(column)] ?? '').trim());
}

/** An offset only follows a time, because the end of 02-03-2026 looks like one. */
const ZONED = /\d[Zz]$|:\d\d(\.\d+)?\s*([AP]M)?\s*(GMT|UTC)?[+-]\d\d:?\d\d$/i;

/** A time in UTC unless it says otherwise; undefined if it cannot be read. */
export function parseTime(text: string): string | undefined {
  const ms = Date.parse(ZONED.test(text) ? text : `${text.replace(/(\d)T(?=\d)/, '$1 ')} UTC`);
  return Number.isNaN(ms) ? undefined : new Date(ms).toISOString();
}

/** An amount such as 1250.5 or 1,250.50; NaN for anything else, also for 1.250,50, whose meaning is not certain. */
export const parseAmount = (text: string) =>
  /^(\d+|\d{1,3}(,\d{3})+)(\.\d+)?$/.test(text) ? Number(text.replaceAll(',', '')) : Number.NaN;

/** Why a time, an amount or a currency of a line cannot be used. */
export function findLineProblem(at: string | undefined, amount: number, currency: string): string | undefined {
  if (at === undefined) return 'Its time cannot be read. Use 2026-03-02 09:30.';
  if (!(amount >= 0)) return 'Its amount cannot be read. Use 125.50.';
  return /^[A-Z]{3}$/.test(currency) ? undefined : 'Its currency is not a three-letter code, such as EUR.';
}
