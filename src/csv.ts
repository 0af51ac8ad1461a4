import { pipeline, Readable } from 'node:stream';
import { stringify } from 'csv-stringify';
import type { z } from 'zod';

function cell(value: unknown): unknown {
  return typeof value === 'object' && value !== null ? JSON.stringify(value) : value;
}

async function* linesOf(item: z.ZodObject, rows: AsyncIterable<unknown>): AsyncGenerator<unknown[]> {
  for await (const row of rows) yield Object.values(item.parse(row)).map(cell);
}

/**
 * Rows as CSV, streamed: a header of the item's fields, lists and objects as JSON, and no cell that a spreadsheet
 * would run as a formula. A failure in mid-stream destroys the stream, so that the answer ends without its last chunk.
 */
export function csvOf(item: z.ZodObject, rows: AsyncIterable<unknown>): Readable {
  const lines = stringify({
    header: true,
    columns: Object.keys(item.shape),
    escape_formulas: true,
    cast: { boolean: (value) => String(value) },
  });
  // The failure reaches whoever reads `lines`; there is nobody else to tell.
  return pipeline(Readable.from(linesOf(item, rows)), lines, () => undefined);
}
