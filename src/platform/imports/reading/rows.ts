import { CsvError, type InfoRecord, parse } from 'csv-parse';
import type { Stream } from './encoding.ts';
import { BrokenFile } from './problems.ts';

export interface Row {
  /** Where the row starts in the file. */
  line: number;
  cells: string[];
}

const LONGEST_ROW = 1 << 20;

/** How rows are written, wherever a file comes from. */
export const CSV_OPTIONS = {
  bom: true,
  record_delimiter: ['\r\n', '\n', '\r'],
  relax_column_count: true,
  relax_quotes: true,
  max_record_size: LONGEST_ROW,
};

const breaksIn = (cells: readonly string[], pattern: RegExp) =>
  cells.reduce((sum, cell) => sum + (cell.match(pattern)?.length ?? 0), 0);

/** Where rows start, derived from where the parser says they end: it counts a CRLF within a cell twice. */
export function countLines() {
  let next = 1;
  let surplus = 0;
  return {
    next: () => next,
    start(cells: readonly string[], { lines }: Pick<InfoRecord, 'lines'>): number {
      if (lines - surplus === next) {
        next += 1;
        return next - 1;
      }
      const line = lines - surplus - breaksIn(cells, /[\r\n]/g);
      surplus += breaksIn(cells, /\r\n/g);
      next = lines - surplus + 1;
      return line;
    },
  };
}

const isBlank = (cells: readonly string[]) => cells.every((cell) => cell === '' || cell.trim() === '');

/** The refusal of a file in which a quote never ends. */
export function readBroken(error: unknown, line: number): unknown {
  if (!(error instanceof CsvError)) return error;
  const why = `The row that starts on line ${line} opens a quote that is never closed.`;
  return new BrokenFile('quote_not_closed', why, line);
}

/** The rows of a stream, blank ones aside, some hundred at a time. A sheet's rows are counted as they stand there. */
export async function* readRows(open: Stream, separator: string, isSheet: boolean): AsyncGenerator<Row[]> {
  let rows: Row[] = [];
  const counter = countLines();
  const parser = parse({
    ...CSV_OPTIONS,
    delimiter: separator,
    on_record: (cells: string[], info) => {
      const start = counter.start(cells, info);
      if (!isBlank(cells)) rows.push({ line: isSheet ? info.records : start, cells });
      return null;
    },
  });
  let failure: Error | undefined;
  parser.on('error', (error) => {
    failure = error;
  });
  parser.resume();
  const settle = (start: (onEnd: (error?: Error | null) => void) => void) =>
    new Promise<void>((resolve) => start(() => resolve()));
  for await (const chunk of open()) {
    await settle((onEnd) => parser.write(chunk, onEnd));
    if (failure) throw readBroken(failure, counter.next());
    if (rows.length > 0) yield rows;
    rows = [];
  }
  await new Promise<void>((resolve) => {
    parser.once('error', () => resolve());
    parser.end(() => resolve());
  });
  if (failure) throw readBroken(failure, counter.next());
  if (rows.length > 0) yield rows;
}
