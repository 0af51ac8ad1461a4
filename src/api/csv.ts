import { pipeline, Readable } from 'node:stream';
import { stringify } from 'csv-stringify';
import type { z } from 'zod';

function cell(value: unknown): unknown {
  return typeof value === 'object' && value !== null ? JSON.stringify(value) : value;
}

/** Rows hold a database connection while they are being read, which others wait for. */
const PATIENCE_MS = 30_000;

/** Says when the next line was not taken for too long; what the rows themselves wait for does not count. */
async function* linesOf(
  item: z.ZodObject,
  rows: AsyncIterable<unknown>,
  giveUp: () => void,
): AsyncGenerator<unknown[]> {
  for await (const row of rows) {
    const patience = setTimeout(giveUp, PATIENCE_MS);
    try {
      yield Object.values(item.parse(row)).map(cell);
    } finally {
      clearTimeout(patience);
    }
  }
}

/**
 * Rows as CSV, streamed: a header of the item's fields, lists and objects as JSON, and no cell that a spreadsheet
 * would run as a formula. A failure in mid-stream destroys the stream, and so does a reader who takes nothing for long:
 * the answer ends without its last chunk.
 */
export function csvOf(item: z.ZodObject, rows: AsyncIterable<unknown>): Readable {
  const lines = stringify({
    header: true,
    columns: Object.keys(item.shape),
    escape_formulas: true,
    cast: { boolean: (value) => String(value) },
  });
  const giveUp = () => lines.destroy(new Error(`The reader took nothing for ${PATIENCE_MS / 1_000} s.`));
  // The failure reaches whoever reads `lines`; there is nobody else to tell.
  return pipeline(Readable.from(linesOf(item, rows, giveUp)), lines, () => undefined);
}
