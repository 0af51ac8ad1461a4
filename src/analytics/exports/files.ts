import { stringify } from 'csv-stringify/sync';
import { type Column, parquetOf } from '../../kit/engines/parquet.ts';
import type { Context } from '../../kit/operation/context.ts';
import {
  COLUMNS,
  type Dataset,
  type ExportedRow,
  findClickPart,
  type Place,
  readBatch,
  type Span,
  streamClickPart,
  type WrittenDataset,
} from './datasets.ts';

export const FORMATS = ['parquet', 'ndjson', 'csv'] as const;
export type Format = (typeof FORMATS)[number];

export const MIME_TYPES: Readonly<Record<Format, string>> = {
  parquet: 'application/vnd.apache.parquet',
  ndjson: 'application/x-ndjson',
  csv: 'text/csv',
};

/** ClickHouse's names of these formats. The header of CSV is ours, because not every installation streams it. */
const OF_CLICKHOUSE: Readonly<Record<Format, string>> = { parquet: 'Parquet', ndjson: 'JSONEachRow', csv: 'CSV' };

/** Rows that are in memory at once. */
const BATCH = 5_000;
/** Half of what a file may have, because a batch is written as a whole. */
const MAX_BYTES = 512 * 1024 * 1024;

export interface PartRequest {
  brandId: string;
  of: Dataset;
  span: Span;
  columns: readonly Column[];
  format: Format;
  /** The last row of the part before. */
  after: Place | null;
  /** Rows of one file. */
  maxRows: number;
  note(rows: number): void;
}

/** A file that is being written. `end` is valid once the bytes are read. */
export interface Part {
  bytes: AsyncIterable<Buffer>;
  end(): { rows: number; place: Place | null; isLast: boolean };
}

/** The columns that were chosen, in the order of the dataset. */
export const pickColumns = (of: Dataset, names: readonly string[] | undefined): Column[] =>
  Object.entries(COLUMNS[of])
    .filter(([name]) => names === undefined || names.includes(name))
    .map(([name, type]) => ({ name, type }));

const toText = (value: unknown): unknown => (value instanceof Date ? value.toISOString() : (value ?? null));

const toHeader = (columns: readonly Column[]) => Buffer.from(stringify([columns.map(({ name }) => name)]));

/** Values are written as they are, for programs: a spreadsheet may run text that begins with `=`. */
async function* toCsv(columns: readonly Column[], batches: AsyncIterable<readonly ExportedRow[]>) {
  yield toHeader(columns);
  for await (const rows of batches) {
    if (rows.length === 0) continue;
    const cells = rows.map((row) => columns.map(({ name }) => toText(row[name])));
    yield Buffer.from(stringify(cells, { cast: { boolean: (value) => String(value) } }));
  }
}

async function* toNdjson(columns: readonly Column[], batches: AsyncIterable<readonly ExportedRow[]>) {
  for await (const rows of batches) {
    const lines = rows.map((row) =>
      JSON.stringify(Object.fromEntries(columns.map(({ name }) => [name, toText(row[name])]))),
    );
    yield Buffer.from(lines.map((line) => `${line}\n`).join(''));
  }
}

const WRITERS = { parquet: parquetOf, ndjson: toNdjson, csv: toCsv } as const;

/**
 * Writes a part from rows that are read in batches. The next batch is read ahead, so that no part is empty unless it is
 * the only one.
 */
function writtenPart(context: Context, of: WrittenDataset, request: PartRequest): Part {
  const { brandId, span, columns, format, maxRows } = request;
  const limit = Math.min(BATCH, maxRows);
  let { after: place } = request;
  let rows = 0;
  let bytes = 0;
  let isLast = false;

  async function* batches(): AsyncGenerator<readonly ExportedRow[]> {
    let batch = await readBatch(context, brandId, of, span, { after: place, limit });
    for (;;) {
      const next = batch.isLast
        ? undefined
        : await readBatch(context, brandId, of, span, { after: batch.place, limit });
      yield batch.rows;
      rows += batch.rows.length;
      place = batch.place ?? place;
      request.note(rows);
      isLast = next === undefined || (next.isLast && next.rows.length === 0);
      if (next === undefined || isLast || rows >= maxRows || bytes >= MAX_BYTES) return;
      batch = next;
    }
  }

  async function* countBytes(): AsyncGenerator<Buffer> {
    for await (const chunk of WRITERS[format](columns, batches())) {
      bytes += chunk.length;
      yield chunk;
    }
  }
  return { bytes: countBytes(), end: () => ({ rows, place, isLast }) };
}

const NEWLINE = 10;
const PARQUET_END = 'PAR1';

const countLines = (chunk: Buffer): number => {
  let lines = 0;
  for (let at = chunk.indexOf(NEWLINE); at >= 0; at = chunk.indexOf(NEWLINE, at + 1)) lines += 1;
  return lines;
};

/** Passes the bytes on, and throws at their end if some are missing: a failure may cut them off without an error. */
async function* whole(bytes: AsyncIterable<Buffer>, format: Format, rows: number): AsyncGenerator<Buffer> {
  let lines = 0;
  let tail = Buffer.alloc(0);
  for await (const chunk of bytes) {
    if (format !== 'parquet') lines += countLines(chunk);
    tail = Buffer.concat([tail, chunk.subarray(-PARQUET_END.length)]).subarray(-PARQUET_END.length);
    yield chunk;
  }
  const isWhole = format === 'parquet' ? tail.toString('latin1') === PARQUET_END : lines === rows;
  if (!isWhole) throw new Error(`ClickHouse wrote ${lines} lines of ${rows} rows.`);
}

async function clickPart(context: Context, request: PartRequest): Promise<Part> {
  const { brandId, span, columns, format, after, maxRows } = request;
  const { rows, place } = await findClickPart(context, brandId, span, { after, limit: maxRows });
  const names = columns.map(({ name }) => name);

  async function* bytes(): AsyncGenerator<Buffer> {
    if (format === 'csv') yield toHeader(columns);
    if (rows === 0 && format !== 'parquet') return;
    if (rows === 0) return yield* parquetOf(columns, (async function* () {})());
    const clickRequest = { after, last: place, columns: names, format: OF_CLICKHOUSE[format] };
    yield* whole(await streamClickPart(context, brandId, span, clickRequest), format, rows);
    request.note(rows);
  }
  return { bytes: bytes(), end: () => ({ rows, place: rows === 0 ? after : place, isLast: rows < maxRows }) };
}

/** The next file of an export. ClickHouse writes clicks itself; other rows are written here. */
export async function nextPart(context: Context, request: PartRequest): Promise<Part> {
  const { of } = request;
  return of === 'clicks' ? await clickPart(context, request) : writtenPart(context, of, request);
}
