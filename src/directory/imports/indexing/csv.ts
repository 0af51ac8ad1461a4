import { type CsvError, type InfoRecord, type Parser, parse } from 'csv-parse';
import { parse as parseAll } from 'csv-parse/sync';
import { z } from 'zod';
import { isRounded } from '../../../platform/imports/reading/cells.ts';
import { openDecoder } from '../../../platform/imports/reading/code-pages.ts';
import { decode, detectEncoding } from '../../../platform/imports/reading/encoding.ts';
import { fold } from '../../../platform/imports/reading/fold.ts';
import { isUnknown, readPercent } from '../../../platform/imports/reading/judge-person.ts';
import { readCount } from '../../../platform/imports/reading/numbers.ts';
import { readHandle } from '../../../platform/imports/reading/people.ts';
import { splitScale } from '../../../platform/imports/reading/scale.ts';
import { detectShape } from '../../../platform/imports/reading/shape.ts';
import { CREATOR_FIELDS } from './fields.ts';
import { type MappedSource, makePk } from './mapping.ts';
import type { SourceRecord } from './source.ts';

const LONGEST_RECORD_CHARACTERS = 1 << 20;
const COUNTS = new Set(['follower_count', 'following_count', 'media_count']);
const NUMBERS = new Set(['pk', 'age', 'engagement_rate', ...COUNTS]);
/** A mark before three digits groups a count, which has no decimals. */
const GROUPED = /^\d{1,3}(?:\.\d{3})+$/;
/** Spreadsheets write their language's words. */
const TRUE = new Set(['true', 'wahr', 'vrai', 'verdadero', 'vero', 'verdadeiro', 'waar', 'prawda']);
const FALSE = new Set(['false', 'falsch', 'faux', 'falso', 'onwaar', 'fałsz']);
const NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/;
/** Decoding puts this in place of bytes that are not UTF-8. */
const REPLACEMENT = '\ufffd';
/** After these errors the start of the next row is unknown. */
const FATAL: Readonly<Record<string, string>> = {
  CSV_QUOTE_NOT_CLOSED: 'opens a quote that is never closed',
  CSV_MAX_RECORD_SIZE: `is longer than ${LONGEST_RECORD_CHARACTERS} characters, as when a quote is not closed`,
};

/** The file is no table, or lacks our header. It must be corrected, so a retry would not help. */
export class BrokenTable extends Error {}

/** Our fields by their folded names, because spreadsheets and people write `Follower Count`. */
const OWN_NAMES = new Map([...CREATOR_FIELDS, 'data_as_of'].map((field) => [fold(field), field]));
const toOwnName = (header: string): string => OWN_NAMES.get(fold(header)) ?? header.trim();

/**
 * A cell that does not look like its column's type stays text; validation then reports the type that it should have.
 */
function readCell(column: string, cell: string, rate: 'percent' | 'fraction', power = 0): unknown {
  if (cell === '') return null;
  if (NUMBERS.has(column)) return readNumber(column, cell, rate, power);
  if (column !== 'is_verified') return cell;
  const word = cell.trim().toLowerCase();
  return TRUE.has(word) || (FALSE.has(word) ? false : cell);
}

function readNumber(column: string, cell: string, rate: 'percent' | 'fraction', power: number): unknown {
  const isShare = column === 'engagement_rate';
  if (COUNTS.has(column) && power > 0) return isUnknown(cell) ? null : (readCount(cell, power) ?? cell);
  if (NUMBER.test(cell) && !(COUNTS.has(column) ? GROUPED.test(cell) : isShare && rate === 'fraction'))
    return Number(cell);
  if (isUnknown(cell)) return null;
  if (COUNTS.has(column)) return readCount(cell) ?? cell;
  const percent = isShare ? readPercent(cell, { rate }) : undefined;
  return percent === undefined ? cell : Number(percent);
}

const SEPARATORS = [',', ';', '\t', '|'] as const;
const NAMES: Readonly<Record<string, string>> = { '\t': 'a tab' };

/** How a table is written: what separates its cells, the line of its header, and the header if a mapping reads it. */
interface TableLayout {
  separator: string;
  headerLine: number | null;
  headers: string[] | undefined;
}

const FirstRow = z.array(z.array(z.string()));

/** The cells of the first row under a separator. */
function readFirstRow(head: string, separator: string): string[] {
  try {
    const [row = []] = FirstRow.parse(parseAll(head, { to: 1, delimiter: separator, bom: true, relax_quotes: true }));
    return row.map(toOwnName);
  } catch {
    return [];
  }
}

/** The separator under which the first row has our own names. */
const findOwnSeparator = (head: string, required: readonly string[]) =>
  SEPARATORS.find((separator) => {
    const names = readFirstRow(head, separator);
    return required.every((column) => names.includes(column));
  });

export const hasOwnNames = (head: string, required: readonly string[]): boolean =>
  findOwnSeparator(head, required) !== undefined;

/** A first row with our own names settles it; the rows below decide otherwise. */
function findLayout(head: string, required: readonly string[], mapped: MappedSource | undefined): TableLayout {
  const own = findOwnSeparator(head, required);
  if (own !== undefined && !mapped) return { separator: own, headerLine: 1, headers: undefined };
  const { separator: said, header_line: line } = mapped?.mapping ?? {};
  const { separator, headerLine, headers } = detectShape(head, 'directory', { separator: said, headerLine: line });
  return { separator, headerLine: headerLine ?? (mapped ? null : 1), headers: mapped && headers };
}

export const MOST_COLUMNS_SHOWN = 40;

function assertHeader(header: string[], required: readonly string[], { separator, headerLine }: TableLayout): void {
  const missing = required.filter((column) => !header.includes(column));
  if (missing.length > 0) {
    const knownColumns = CREATOR_FIELDS.join(', ');
    const columns = header.slice(0, MOST_COLUMNS_SHOWN).join(', ');
    throw new BrokenTable(
      `The header row has no column ${missing.join(' and no column ')}. Columns found: ${columns}. Columns known: ${knownColumns}. Line ${headerLine ?? 1} was ` +
        `read as the header, with ${NAMES[separator] ?? separator} between cells; \`import FILE --map\` shows how it can be read.`,
    );
  }
  const repeatedColumn = header.find((column, position) => header.indexOf(column) !== position);
  if (repeatedColumn !== undefined) throw new BrokenTable(`The header row names the column ${repeatedColumn} twice.`);
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

/** `1.29808E+08` or `129808000.0`: a program has read keys as fractions, and may have dropped digits of them. */
const FLOAT_KEY = /^-?\d+(?:(?:[.,]\d+)?e[+-]?\d+|[.,]0+)$/i;
/** A spreadsheet keeps this many digits, and makes the others zeros. */
const KEPT_DIGITS = 15;
const FEWEST_ROUNDED = 3;

/** Refuses a file whose keys have lost digits: they would be those of other creators. */
function openKeyCheck() {
  let [longKeys, roundedKeys] = [0, 0];
  const refuse = (what: string) =>
    new BrokenTable(
      `A spreadsheet or program has changed the keys in the column pk: ${what}. Send the .xlsx file or the export as it was downloaded, or write the column as text.`,
    );
  return {
    take: (cell: string, line: number): void => {
      const key = cell.trim();
      if (FLOAT_KEY.test(key)) throw refuse(`line ${line} has ${key}`);
      if (key.length <= KEPT_DIGITS || !/^\d+$/.test(key)) return;
      longKeys += 1;
      if (isRounded(key)) roundedKeys += 1;
    },
    /** One long key in ten ends in a zero; all of them only do after rounding. */
    end: (): void => {
      if (longKeys >= FEWEST_ROUNDED && roundedKeys === longKeys)
        throw refuse(`each of more than ${KEPT_DIGITS} digits ends in zeros`);
    },
  };
}

const isBlank = (cells: readonly string[]) => cells.every((cell) => cell.trim() === '');

const breaksIn = (cells: string[], pattern: RegExp) =>
  cells.reduce((sum, cell) => sum + (cell.match(pattern)?.length ?? 0), 0);

/** Derives the start of rows and the lines they cover from where the parser says they end. */
function lineCounter() {
  let next = 1;
  let emptyLines = 0;
  /** The number of lines that the parser counted too many: it counts a CRLF within a cell twice. */
  let surplus = 0;
  let brokenRow: { line: number; bytes: unknown; reason: string } | undefined;

  /** The row that could not be read; it ends before this line. */
  function takeBroken(before: number): { line: number; lines: number; reason: string } | undefined {
    const row = brokenRow && {
      line: brokenRow.line,
      lines: Math.max(before - brokenRow.line, 1),
      reason: brokenRow.reason,
    };
    brokenRow = undefined;
    return row;
  }

  return {
    takeBroken,
    startOf: (error: CsvError) => brokenRow?.line ?? next + Number(error.empty_lines) - emptyLines,
    /** Records an error in a row, which may not be the first after `bytes`, the end of the last good row. */
    fault: (error: CsvError) => {
      if (brokenRow?.bytes === error.bytes) return undefined;
      const line = Number(error.lines) - surplus;
      const before = takeBroken(line);
      const start = before ? line : next + Number(error.empty_lines) - emptyLines;
      brokenRow = { line: start, bytes: error.bytes, reason: error.message };
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

/** The fields of a row by their columns, each by its name unless a mapping says otherwise. */
function toValue(header: string[], cells: string[], mapped: MappedSource | undefined): Record<string, unknown> {
  const cellAt = (position: number) => cells[position]?.trim() ?? '';
  if (!mapped) return Object.fromEntries(header.map((name, i) => [name, readCell(name, cells[i] ?? '', 'percent')]));
  const { columns, rate = 'percent' } = mapped.mapping;
  const fields = Object.entries(columns).flatMap(([field, name]) =>
    name === null
      ? []
      : [[field, readCell(field, cellAt(header.indexOf(name)), rate, splitScale(name).power)] as const],
  );
  const value: Record<string, unknown> = Object.fromEntries(fields);
  const username = readHandle(String(value.username ?? ''));
  return { ...value, username, pk: value.pk ?? (username === undefined ? undefined : makePk(mapped.source, username)) };
}

/** A cell that is no handle names nobody. */
const findStranger = ({ username }: Record<string, unknown>, mapped: MappedSource | undefined) =>
  mapped && username === undefined
    ? {
        field: 'username',
        code: 'invalid',
        reason: 'must be a handle, such as ana.lopez, or the address of a profile.',
      }
    : undefined;

/** What is known of a table before it is read. */
export interface TableRequest {
  /** Columns without which nothing can be read. */
  required: readonly string[];
  mapped?: MappedSource | undefined;
  /** The rows of a sheet are counted, and not the lines of its text. */
  isSheet?: boolean;
  onColumns?: (columns: readonly string[]) => void;
}

function openParser(
  file: string,
  { required, mapped, isSheet = false, onColumns }: TableRequest,
  layout: TableLayout,
): { parser: Parser; taken(): SourceRecord[] } {
  let records: SourceRecord[] = [];
  let header: string[] | undefined;
  let keyAt = -1;
  const keys = openKeyCheck();
  const counter = lineCounter();

  function addBroken(brokenRow: ReturnType<typeof counter.takeBroken>): void {
    if (!brokenRow) return;
    const { reason, ...where } = brokenRow;
    records.push({ file, ...where, text: '', value: undefined, problem: { code: 'invalid_csv', reason } });
  }

  function setHeader(names: string[]): void {
    header = names;
    keyAt = names.indexOf(mapped ? (mapped.mapping.columns.pk ?? '') : 'pk');
    onColumns?.(names);
  }
  if (layout.headers) setHeader(layout.headers);

  function add(cells: string[], info: InfoRecord): null {
    const place = counter.row(cells, info);
    const where = isSheet ? { line: info.records, lines: 1 } : place;
    addBroken(counter.takeBroken(where.line));
    if (where.line < (layout.headerLine ?? 0) || (mapped && where.line === layout.headerLine)) return null;
    if (isBlank(cells)) return null;
    if (!header) {
      const names = cells.map(toOwnName);
      assertHeader(names, required, layout);
      setHeader(names);
      return null;
    }
    keys.take(cells[keyAt] ?? '', where.line);
    const isLonger = cells.length === header.length + 1 && cells.at(-1) === '';
    const value = toValue(header, cells, mapped);
    const problem = findProblem(header, isLonger ? cells.slice(0, -1) : cells) ?? findStranger(value, mapped);
    const text = cells.join(layout.separator);
    records.push({ file, ...where, text, value: problem ? undefined : value, ...(problem ? { problem } : {}) });
    return null;
  }

  function skip(error: CsvError | undefined): undefined {
    if (!error) return;
    const fatal = FATAL[error.code];
    if (fatal) throw new BrokenTable(`The row that starts on line ${counter.startOf(error)} ${fatal}.`);
    addBroken(counter.fault(error));
  }

  // The parser reports each row through a callback and outputs none, so that good and bad rows stay in order.
  const parser = parse({
    bom: true,
    delimiter: layout.separator,
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
      if (parser.writableFinished) {
        addBroken(counter.takeBroken(counter.end(parser.info.lines)));
        keys.end();
      }
      const batch = records;
      records = [];
      return batch;
    },
  };
}

/** Resolves when the parser has read everything. */
function waitForEnd(start: (onEnd: (error?: Error | null) => void) => void): Promise<void> {
  return new Promise((resolve, reject) => start((error) => (error ? reject(error) : resolve())));
}

const HEAD_BYTES = 256 * 1024;

/** The first bytes of a stream, and all of it. */
async function takeHead(chunks: AsyncIterable<Buffer>): Promise<{ head: Buffer; whole: AsyncIterable<Uint8Array> }> {
  const iterator = chunks[Symbol.asyncIterator]();
  const first: Buffer[] = [];
  for (let length = 0; length < HEAD_BYTES; ) {
    const { done, value } = await iterator.next();
    if (done) break;
    first.push(value);
    length += value.length;
  }
  async function* whole(): AsyncGenerator<Buffer> {
    yield* first;
    for (let next = await iterator.next(); !next.done; next = await iterator.next()) yield next.value;
  }
  return { head: Buffer.concat(first).subarray(0, HEAD_BYTES), whole: whole() };
}

/** The encoding of a file: as a mapping says, or UTF-16, which its first bytes show, or else UTF-8. */
async function findEncoding(head: Buffer, mapped: MappedSource | undefined): Promise<string> {
  if (mapped?.mapping.encoding !== undefined) return mapped.mapping.encoding;
  const encoding = await detectEncoding(async function* read() {
    yield head;
  });
  return encoding.startsWith('utf-16') ? encoding : 'utf-8';
}

/** The first bytes of a table as UTF-8, without a row that they may cut. */
export async function readHead(chunks: AsyncIterable<Buffer>): Promise<Buffer> {
  const { head } = await takeHead(chunks);
  const end = head.length < HEAD_BYTES ? -1 : head.lastIndexOf('\n');
  return end > 0 ? head.subarray(0, end) : head;
}

/** Rows below a header row with the API's field names, or as a mapping says. `line` is where a row starts. */
export async function* readCsv(
  file: string,
  chunks: AsyncIterable<Buffer>,
  request: TableRequest,
): AsyncGenerator<SourceRecord[]> {
  const { required, mapped } = request;
  const { head, whole } = await takeHead(chunks);
  const encoding = await findEncoding(head, mapped);
  const layout = findLayout(openDecoder(encoding).decode(head), required, mapped);
  const { parser, taken } = openParser(file, request, layout);
  for await (const chunk of decode(() => whole, encoding)()) {
    await waitForEnd((onEnd) => parser.write(chunk, onEnd));
    yield taken();
  }
  await waitForEnd((onEnd) => parser.end(onEnd));
  yield taken();
}
