import { pipeline, Readable } from 'node:stream';
import { stringify } from 'csv-stringify';
import { stringify as stringifyAll } from 'csv-stringify/sync';
import { z } from 'zod';
import { toPlainText } from '../values/text.ts';

function cell(value: unknown): unknown {
  const cellValue = typeof value === 'object' && value !== null ? JSON.stringify(value) : value;
  return typeof cellValue === 'string' ? toPlainText(cellValue, { lines: true }) : cellValue;
}

/** The path of a column's value in the item, such as `performance.clicks`. */
type ColumnPath = readonly [string, ...string[]];

function getObject(shape: unknown): z.ZodObject | undefined {
  let inner = shape;
  while (inner instanceof z.ZodOptional || inner instanceof z.ZodNullable) inner = inner.unwrap();
  return inner instanceof z.ZodObject ? inner : undefined;
}

/** Each field of a nested object is a column; a list is one column of JSON. */
function listColumns(item: z.ZodObject): ColumnPath[] {
  return Object.entries(item.shape).flatMap(([name, shape]): ColumnPath[] => {
    const inner = getObject(shape);
    return inner ? listColumns(inner).map((column): ColumnPath => [name, ...column]) : [[name]];
  });
}

const isRecord = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null;

function valueAt(item: unknown, column: ColumnPath): unknown {
  let value: unknown = item;
  for (const name of column) value = isRecord(value) ? value[name] : null;
  return value;
}

/** A reader may stall this long. Rows being read hold a database connection and snapshot that others wait for. */
const PATIENCE_MS = 30_000;
/** Reading at this rate, 32 kB a second, offsets the time spent waiting for the reader. */
const LEAST_BYTES_PER_MS = 32;

const measureCells = (cells: readonly unknown[]): number =>
  cells.reduce((sum: number, value) => sum + String(value ?? '').length + 1, 0);

/** Calls `giveUp` when the reader is too slow for too long. Time spent waiting for rows does not count. */
async function* linesOf(
  item: z.ZodObject,
  rows: AsyncIterable<unknown>,
  giveUp: () => void,
): AsyncGenerator<unknown[]> {
  const columns = listColumns(item);
  let patienceMs = PATIENCE_MS;
  for await (const row of rows) {
    const parsedItem = item.parse(row);
    const cells = columns.map((column) => cell(valueAt(parsedItem, column)));
    const offeredAt = performance.now();
    const patience = setTimeout(giveUp, patienceMs);
    try {
      yield cells;
    } finally {
      clearTimeout(patience);
    }
    const takenMs = performance.now() - offeredAt;
    patienceMs = Math.min(PATIENCE_MS, patienceMs - takenMs + measureCells(cells) / LEAST_BYTES_PER_MS);
  }
}

/** A spreadsheet takes a table without a byte order mark for one in its own encoding. */
export interface CsvStyle {
  bom: boolean;
  lineEnd: '\n' | '\r\n';
}

const BOM = Buffer.from([0xef, 0xbb, 0xbf]);

/** Puts a byte order mark before a stream. */
export const prefixBom = (stream: Readable): Readable =>
  Readable.from(
    (async function* prefixed() {
      yield BOM;
      yield* stream;
    })(),
    { objectMode: false },
  );

/**
 * Streams rows as CSV: a header with the item's fields, nested objects as separate columns, lists as JSON, and no cell
 * that a spreadsheet would run as a formula. A failure or a slow reader destroys the stream, so that the response ends
 * without its last chunk.
 */
export function toCsv(item: z.ZodObject, rows: AsyncIterable<unknown>, style?: CsvStyle): Readable {
  const lines = stringify({
    header: true,
    columns: listColumns(item).map((column) => column.join('.')),
    escape_formulas: true,
    bom: style?.bom ?? false,
    record_delimiter: style?.lineEnd ?? '\n',
    cast: { boolean: (value) => String(value) },
  });
  const giveUp = () => lines.destroy(new Error(`The reader took less than ${LEAST_BYTES_PER_MS} kB a second.`));
  // The reader of `lines` gets the error.
  return pipeline(Readable.from(linesOf(item, rows, giveUp)), lines, () => undefined);
}

export type Cells = readonly (string | number)[];

/** A small CSV whose first row is its header. No cell is run as a formula. */
export const toTable = (rows: readonly Cells[], style?: CsvStyle): Readable =>
  Readable.from([
    stringifyAll(
      rows.map((cells) => cells.map(cell)),
      { escape_formulas: true, bom: style?.bom ?? false, record_delimiter: style?.lineEnd ?? '\n' },
    ),
  ]);

/**
 * A small CSV without a header. Cells are not escaped, because the service that reads the upload would not undo that.
 */
export const toPlainCsv = (rows: readonly Cells[]): Readable =>
  Readable.from([stringifyAll(rows.map((cells) => cells.map(cell)))]);
