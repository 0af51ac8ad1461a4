import { pipeline, Readable } from 'node:stream';
import { stringify } from 'csv-stringify';
import { z } from 'zod';

function cell(value: unknown): unknown {
  return typeof value === 'object' && value !== null ? JSON.stringify(value) : value;
}

/** A column, and where its value lies in the item: `performance.clicks` is a field of a field. */
type Column = readonly [string, ...string[]];

function objectOf(shape: unknown): z.ZodObject | undefined {
  let inner = shape;
  while (inner instanceof z.ZodOptional || inner instanceof z.ZodNullable) inner = inner.unwrap();
  return inner instanceof z.ZodObject ? inner : undefined;
}

/** The fields of an object are columns of their own; a list is one, as JSON. */
function columnsOf(item: z.ZodObject): Column[] {
  return Object.entries(item.shape).flatMap(([name, shape]): Column[] => {
    const inner = objectOf(shape);
    return inner ? columnsOf(inner).map((column): Column => [name, ...column]) : [[name]];
  });
}

const isRecord = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null;

function valueAt(item: unknown, column: Column): unknown {
  let value: unknown = item;
  for (const name of column) value = isRecord(value) ? value[name] : null;
  return value;
}

/** Rows hold a database connection and its snapshot while they are being read, which others wait for. */
const PATIENCE_MS = 30_000;
/** What is read at this rate gives back the patience that waiting for it takes: 32 kB a second. */
const LEAST_BYTES_PER_MS = 32;

const sizeOf = (cells: readonly unknown[]): number =>
  cells.reduce((sum: number, value) => sum + String(value ?? '').length + 1, 0);

/** Says when the reader took too little for too long; what the rows themselves wait for does not count. */
async function* linesOf(
  item: z.ZodObject,
  rows: AsyncIterable<unknown>,
  giveUp: () => void,
): AsyncGenerator<unknown[]> {
  const columns = columnsOf(item);
  let patienceMs = PATIENCE_MS;
  for await (const row of rows) {
    const parsed = item.parse(row);
    const cells = columns.map((column) => cell(valueAt(parsed, column)));
    const offeredAt = performance.now();
    const patience = setTimeout(giveUp, patienceMs);
    try {
      yield cells;
    } finally {
      clearTimeout(patience);
    }
    const takenMs = performance.now() - offeredAt;
    patienceMs = Math.min(PATIENCE_MS, patienceMs - takenMs + sizeOf(cells) / LEAST_BYTES_PER_MS);
  }
}

/**
 * Rows as CSV, streamed: a header of the item's fields, those of an object as columns of their own, lists as JSON, and no cell that a spreadsheet
 * would run as a formula. A failure in mid-stream destroys the stream, and so does a reader who takes too little for long:
 * the answer ends without its last chunk.
 */
export function csvOf(item: z.ZodObject, rows: AsyncIterable<unknown>): Readable {
  const lines = stringify({
    header: true,
    columns: columnsOf(item).map((column) => column.join('.')),
    escape_formulas: true,
    cast: { boolean: (value) => String(value) },
  });
  const giveUp = () => lines.destroy(new Error(`The reader took less than ${LEAST_BYTES_PER_MS} kB a second.`));
  // The failure reaches whoever reads `lines`; there is nobody else to tell.
  return pipeline(Readable.from(linesOf(item, rows, giveUp)), lines, () => undefined);
}
