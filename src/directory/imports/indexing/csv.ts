import { type CsvError, type InfoRecord, type Parser, parse } from 'csv-parse';
import { DirectoryCreatorDetail } from '../../search/creator.shapes.ts';
import type { SourceRecord } from './source.ts';

const LONGEST_RECORD_CHARACTERS = 1 << 20;
const NUMBERS = new Set(['pk', 'follower_count', 'engagement_rate', 'following_count', 'media_count', 'age']);
const BOOLEANS: Readonly<Record<string, boolean>> = { true: true, false: false };
const NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/;
/** Decoding puts this in place of bytes that are not UTF-8. */
const REPLACEMENT = '\ufffd';
/** After these errors the start of the next row is unknown. */
const FATAL: Readonly<Record<string, string>> = {
  CSV_QUOTE_NOT_CLOSED: 'opens a quote that is never closed',
  CSV_MAX_RECORD_SIZE: `is longer than ${LONGEST_RECORD_CHARACTERS} characters, as when a quote is not closed`,
};

/** The file is not valid CSV or lacks our header. It must be corrected, so a retry would not help. */
export class BrokenCsv extends Error {}

/**
 * A cell that does not look like its column's type stays text; validation then reports the type that it should have.
 */
function readCell(column: string, cell: string): unknown {
  if (cell === '') return null;
  if (NUMBERS.has(column)) return NUMBER.test(cell) ? Number(cell) : cell;
  if (column === 'is_verified') return BOOLEANS[cell] ?? cell;
  return cell;
}

function assertHeader(header: string[], required: readonly string[]): void {
  const missing = required.filter((column) => !header.includes(column));
  if (missing.length > 0) {
    const known = Object.keys(DirectoryCreatorDetail.shape).join(', ');
    throw new BrokenCsv(`The header row has no column ${missing.join(' and no column ')}. Columns: ${known}.`);
  }
  const repeated = header.find((column, position) => header.indexOf(column) !== position);
  if (repeated !== undefined) throw new BrokenCsv(`The header row names the column ${repeated} twice.`);
}

function findProblem(header: string[], cells: string[]): SourceRecord['problem'] {
  if (cells.length !== header.length) {
    return { code: 'column_count', reason: `The row has ${cells.length} cells, the header ${header.length}.` };
  }
  if (cells.some((cell) => cell.includes(REPLACEMENT))) {
    return {
      code: 'invalid_utf8',
      reason: `A cell is not UTF-8, or contains ${REPLACEMENT} from an earlier conversion.`,
    };
  }
  return undefined;
}

const breaksIn = (cells: string[], pattern: RegExp) =>
  cells.reduce((sum, cell) => sum + (cell.match(pattern)?.length ?? 0), 0);

/** Derives the start of rows and the lines they cover from where the parser says they end. */
function lineCounter() {
  let next = 1;
  let emptyLines = 0;
  /** The number of lines that the parser counted too many: it counts a CRLF within a cell twice. */
  let surplus = 0;
  let broken: { line: number; bytes: unknown; reason: string } | undefined;

  /** The row that could not be read; it ends before this line. */
  function takeBroken(before: number): { line: number; lines: number; reason: string } | undefined {
    const taken = broken && { line: broken.line, lines: Math.max(before - broken.line, 1), reason: broken.reason };
    broken = undefined;
    return taken;
  }

  return {
    takeBroken,
    startOf: (error: CsvError) => broken?.line ?? next + Number(error.empty_lines) - emptyLines,
    /** Records an error in a row, which may not be the first after `bytes`, the end of the last good row. */
    fault: (error: CsvError) => {
      if (broken?.bytes === error.bytes) return undefined;
      const line = Number(error.lines) - surplus;
      const before = takeBroken(line);
      const start = before ? line : next + Number(error.empty_lines) - emptyLines;
      broken = { line: start, bytes: error.bytes, reason: error.message };
      return before;
    },
    row: (cells: string[], info: InfoRecord) => {
      const isLong = info.lines - surplus > next;
      const breaks = isLong ? breaksIn(cells, /[\r\n]/g) : 0;
      const line = info.lines - surplus - breaks;
      surplus += isLong ? breaksIn(cells, /\r\n/g) : 0;
      next = info.lines - surplus + 1;
      emptyLines = info.empty_lines;
      return { line, lines: next - line };
    },
    end: (lines: number) => lines - surplus,
  };
}

function openParser(file: string, required: readonly string[]): { parser: Parser; taken(): SourceRecord[] } {
  let records: SourceRecord[] = [];
  let header: string[] | undefined;
  const counter = lineCounter();

  function addBroken(broken: ReturnType<typeof counter.takeBroken>): void {
    if (!broken) return;
    const { reason, ...where } = broken;
    records.push({ file, ...where, text: '', value: undefined, problem: { code: 'invalid_csv', reason } });
  }

  function add(cells: string[], info: InfoRecord): null {
    const where = counter.row(cells, info);
    addBroken(counter.takeBroken(where.line));
    if (!header) {
      header = cells.map((name) => name.trim());
      assertHeader(header, required);
      return null;
    }
    const problem = findProblem(header, cells);
    const value = problem
      ? undefined
      : Object.fromEntries(header.map((name, i) => [name, readCell(name, cells[i] ?? '')]));
    records.push({ file, ...where, text: cells.join(','), value, ...(problem ? { problem } : {}) });
    return null;
  }

  function skip(error: CsvError | undefined): undefined {
    if (!error) return;
    const fatal = FATAL[error.code];
    if (fatal) throw new BrokenCsv(`The row that starts on line ${counter.startOf(error)} ${fatal}.`);
    addBroken(counter.fault(error));
  }

  // The parser reports each row through a callback and outputs none, so that good and bad rows stay in order.
  const parser = parse({
    bom: true,
    // Set explicitly instead of detected from the first row, because a file may be combined from several.
    record_delimiter: ['\r\n', '\n', '\r'],
    skip_empty_lines: true,
    relax_column_count: true,
    skip_records_with_error: true,
    max_record_size: LONGEST_RECORD_CHARACTERS,
    on_record: add,
    on_skip: skip,
  });
  // The write that fails is awaited elsewhere.
  parser.on('error', () => undefined).resume();
  return {
    parser,
    taken: () => {
      if (parser.writableFinished) addBroken(counter.takeBroken(counter.end(parser.info.lines)));
      const taken = records;
      records = [];
      return taken;
    },
  };
}

/** Resolves when the parser has read everything. */
function waitForEnd(start: (onEnd: (error?: Error | null) => void) => void): Promise<void> {
  return new Promise((resolve, reject) => start((error) => (error ? reject(error) : resolve())));
}

/** Rows below a header row with the API's field names. `line` is where a row starts. */
export async function* readCsv(
  file: string,
  chunks: AsyncIterable<Buffer>,
  required: readonly string[],
): AsyncGenerator<SourceRecord[]> {
  const { parser, taken } = openParser(file, required);
  for await (const chunk of chunks) {
    await waitForEnd((onEnd) => parser.write(chunk, onEnd));
    yield taken();
  }
  await waitForEnd((onEnd) => parser.end(onEnd));
  yield taken();
}
