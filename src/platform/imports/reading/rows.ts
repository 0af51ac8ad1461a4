import { isAscii } from 'node:buffer';
import { CsvError, type InfoRecord } from 'csv-parse';
import { parse } from 'csv-parse/sync';
import { z } from 'zod';
import type { Stream } from './encoding.ts';
import { BrokenFile } from './problems.ts';

export interface Row {
  /** The line on which the row starts in the file. */
  line: number;
  cells: string[];
  /** All of the row is ASCII, which most rows are: nothing in it can have been decoded wrongly. */
  isPlain: boolean;
  /** The status that the heading above gives the row; empty where such a section has ended. */
  section?: string;
  /** The row heads those below it by a state, and is no record. */
  isHeading?: boolean;
  /** The row is a note, or empty but for a template's zeros: no record. */
  isNote?: boolean;
}

const LONGEST_ROW = 1 << 20;
const FIRST_WINDOW = 1 << 12;

/** Rows are written so, wherever a file comes from. */
export const CSV_OPTIONS = {
  bom: true,
  record_delimiter: ['\r\n', '\n', '\r'],
  relax_column_count: true,
  relax_quotes: true,
  max_record_size: LONGEST_ROW,
};

const countBreaks = (text: string) => text.match(/\r\n|\n|\r/g)?.length ?? 0;

const breaksIn = (cells: readonly string[], pattern: RegExp) =>
  cells.reduce((sum, cell) => sum + (cell.match(pattern)?.length ?? 0), 0);

/** The starts of rows are derived from their ends, because the parser counts a CRLF within a cell twice. */
export function countLines() {
  let next = 1;
  let surplus = 0;
  return {
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

const Parsed = z.array(z.object({ record: z.array(z.string()), info: z.object({ bytes: z.number() }) }));

interface Taken {
  cells: string[];
  /** The row's share of the text, with the line break after it. */
  length: number;
}

/**
 * The row at the start of a text as csv-parse reads it; undefined if its end may lie beyond the text. It is looked for
 * rows with quotes that span lines or stand within cells; others are split here, because a million rows take it
 * longer than reading a file may.
 */
function parseRow(text: string, separator: string, isLast: boolean): Taken | undefined {
  for (let window = FIRST_WINDOW; ; window *= 8) {
    const isAll = window >= text.length;
    const part = Buffer.from(isAll ? text : text.slice(0, window));
    try {
      const rows = parse(part, { ...CSV_OPTIONS, bom: false, delimiter: separator, to: 1, info: true });
      const [row] = Parsed.parse(rows);
      if (!row) return undefined;
      const isComplete = row.info.bytes < part.length || (isAll && isLast);
      if (isComplete) return { cells: row.record, length: part.subarray(0, row.info.bytes).toString().length };
    } catch (error) {
      if (!(error instanceof CsvError) || (isAll && isLast) || window > LONGEST_ROW) throw error;
    }
    if (isAll) return undefined;
  }
}

/** The end of a quoted cell: its quote that no other follows. */
function findQuote(line: string, from: number): number {
  let end = line.indexOf('"', from);
  while (end >= 0 && line[end + 1] === '"') end = line.indexOf('"', end + 2);
  return end;
}

/** Cells of one line with quotes around whole cells only; undefined for every other way of quoting. */
function splitQuoted(line: string, separator: string): string[] | undefined {
  const cells: string[] = [];
  let at = 0;
  for (;;) {
    const isQuoted = line[at] === '"';
    const end = isQuoted ? findQuote(line, at + 1) : line.indexOf(separator, at);
    if (isQuoted && end < 0) return undefined;
    const next = isQuoted ? end + 1 : end < 0 ? line.length : end;
    const cell = isQuoted ? line.slice(at + 1, end) : line.slice(at, next);
    if (isQuoted ? next < line.length && line[next] !== separator : cell.includes('"')) return undefined;
    cells.push(isQuoted && cell.includes('"') ? cell.replaceAll('""', '"') : cell);
    if (next >= line.length) return cells;
    at = next + 1;
  }
}

/** Finds the ends of lines. Each mark is looked for once, however often it is looked for. */
function findLines(text: string, isLast: boolean) {
  let [feed, carriage] = [text.indexOf('\n'), text.indexOf('\r')];
  return (from: number): { end: number; next: number } | undefined => {
    if (feed >= 0 && feed < from) feed = text.indexOf('\n', from);
    if (carriage >= 0 && carriage < from) carriage = text.indexOf('\r', from);
    if (carriage >= 0 && (feed < 0 || carriage < feed)) {
      // A line feed may follow in the next chunk.
      if (carriage + 1 === text.length && !isLast) return undefined;
      return { end: carriage, next: text[carriage + 1] === '\n' ? carriage + 2 : carriage + 1 };
    }
    if (feed >= 0) return { end: feed, next: feed + 1 };
    return isLast ? { end: text.length, next: text.length } : undefined;
  };
}

/** Takes rows off a text that grows. */
function openSplitter(separator: string) {
  let line = 1;

  function takeRow(text: string, from: number, place: { end: number; next: number } | undefined, isLast: boolean) {
    if (place) {
      const content = text.slice(from, place.end);
      const cells = content.includes('"') ? splitQuoted(content, separator) : content.split(separator);
      if (cells) return { cells, length: place.next - from, lines: 1 };
    } else if (text.length - from < LONGEST_ROW) return undefined;
    const parsedRow = parseRow(text.slice(from), separator, isLast);
    return parsedRow && { ...parsedRow, lines: Math.max(countBreaks(text.slice(from, from + parsedRow.length)), 1) };
  }

  return {
    line: () => line,
    /** All rows that are complete, and the text after them. */
    take(text: string, isLast: boolean, isPlain: boolean): { rows: Row[]; rest: string } {
      const rows: Row[] = [];
      const findLine = findLines(text, isLast);
      let at = 0;
      while (at < text.length) {
        const parsedRow = takeRow(text, at, findLine(at), isLast);
        if (!parsedRow) break;
        rows.push({ line, cells: parsedRow.cells, isPlain });
        line += parsedRow.lines;
        at += parsedRow.length;
      }
      return { rows, rest: text.slice(at) };
    },
  };
}

/** The refusal of a file in which a quote never ends. */
function readBroken(error: unknown, line: number): unknown {
  if (!(error instanceof CsvError)) return error;
  return new BrokenFile(
    'quote_not_closed',
    `The row that starts on line ${line} opens a quote that is never closed.`,
    line,
  );
}

/** The rows of a stream, blank ones aside, some hundred at a time. A sheet's rows are counted as they stand there. */
export async function* readRows(open: Stream, separator: string, isSheet: boolean): AsyncGenerator<Row[]> {
  const decoder = new TextDecoder();
  const splitter = openSplitter(separator);
  let records = 0;
  let rest = '';
  let isRestPlain = true;
  const take = (text: string, isLast: boolean, isPlain: boolean): Row[] => {
    try {
      const splitRows = splitter.take(rest + text, isLast, isPlain && isRestPlain);
      isRestPlain = isPlain && (isRestPlain || splitRows.rows.length > 0);
      rest = splitRows.rest;
      const rows = isSheet ? splitRows.rows.map((row, i) => ({ ...row, line: records + i + 1 })) : splitRows.rows;
      records += rows.length;
      return rows.filter(({ cells }) => !isBlank(cells));
    } catch (error) {
      throw readBroken(error, splitter.line());
    }
  };
  for await (const chunk of open()) {
    const rows = take(decoder.decode(chunk, { stream: true }), false, isAscii(chunk));
    if (rows.length > 0) yield rows;
  }
  const rows = take(decoder.decode(), true, true);
  if (rows.length > 0) yield rows;
}
