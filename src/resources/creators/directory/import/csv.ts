import { pipeline, Readable } from 'node:stream';
import { type CsvError, parse } from 'csv-parse';
import { DirectoryCreatorDetail } from '../schema.ts';
import type { SourceRecord } from './source.ts';

const AT_ONCE = 1_000;
const LONGEST_RECORD_CHARACTERS = 1 << 20;
const NUMBERS = new Set(['pk', 'follower_count', 'engagement_rate', 'following_count', 'media_count', 'age']);
const BOOLEANS: Readonly<Record<string, boolean>> = { true: true, false: false };
const NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/;
/** What stands where bytes were not UTF-8. */
const REPLACEMENT = '\ufffd';

/** A cell that does not look like its column's type stays text, and the shape then says what it should have been. */
function readCell(column: string, cell: string): unknown {
  if (cell === '') return null;
  if (NUMBERS.has(column)) return NUMBER.test(cell) ? Number(cell) : cell;
  if (column === 'is_verified') return BOOLEANS[cell] ?? cell;
  return cell;
}

function assertHeader(header: string[]): void {
  const required = ['pk', 'username'].filter((column) => !header.includes(column));
  if (required.length > 0) {
    const known = Object.keys(DirectoryCreatorDetail.shape).join(', ');
    throw new Error(`The header row has no column ${required.join(' and no column ')}. Columns: ${known}.`);
  }
  const repeated = header.find((column, position) => header.indexOf(column) !== position);
  if (repeated !== undefined) throw new Error(`The header row names the column ${repeated} twice.`);
}

function problemOf(header: string[], cells: string[]): SourceRecord['problem'] {
  if (cells.length !== header.length) {
    return { code: 'column_count', reason: `The row has ${cells.length} cells, the header ${header.length}.` };
  }
  if (cells.some((cell) => cell.includes(REPLACEMENT))) {
    return { code: 'invalid_utf8', reason: `A cell is not UTF-8, or holds ${REPLACEMENT} where text was lost before.` };
  }
  return undefined;
}

/** Rows under a header row of the API's own field names. `line` is where a row starts. */
export async function* readCsv(file: string, chunks: AsyncIterable<Buffer>): AsyncGenerator<SourceRecord[]> {
  let records: SourceRecord[] = [];
  let header: string[] | undefined;
  let line = 1;

  function skip(error: CsvError | undefined): undefined {
    const problem = { code: 'invalid_csv', reason: error?.message ?? 'The row is not CSV.' };
    records.push({ file, line, text: '', value: undefined, problem });
    line = Number(error?.lines ?? line) + 1;
  }
  const parser = parse({
    bom: true,
    info: true,
    skip_empty_lines: true,
    relax_column_count: true,
    skip_records_with_error: true,
    max_record_size: LONGEST_RECORD_CHARACTERS,
    on_skip: skip,
  });
  pipeline(Readable.from(chunks), parser, () => undefined);

  const parsed: AsyncIterable<{ record: string[]; info: { lines: number } }> = parser;
  for await (const { record: cells, info } of parsed) {
    if (!header) {
      header = cells.map((name) => name.trim());
      assertHeader(header);
    } else {
      const columns = header;
      const problem = problemOf(columns, cells);
      const value = problem
        ? undefined
        : Object.fromEntries(columns.map((name, i) => [name, readCell(name, cells[i] ?? '')]));
      records.push({ file, line, text: cells.join(','), value, ...(problem ? { problem } : {}) });
    }
    line = info.lines + 1;
    if (records.length >= AT_ONCE) {
      yield records;
      records = [];
    }
  }
  yield records;
}
