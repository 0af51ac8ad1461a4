import { parse } from 'csv-parse/sync';
import { findDescriptionLine } from './description-line.ts';
import { repair } from './encoding.ts';
import { fold } from './fold.ts';
import { FORMATS } from './formats.ts';
import type { Kind } from './kinds.ts';
import { readNumber } from './numbers.ts';
import { readEmail } from './people.ts';
import { CSV_OPTIONS, countLines, type Row } from './rows.ts';
import { openSections } from './sections.ts';
import { readTime } from './times.ts';
import { findFields } from './words.ts';

const SEPARATORS = [',', ';', '\t', '|'] as const;
const SAMPLE_ROWS = 200;
const HEADER_ROWS = 30;

/** The first rows of a text under a separator, as far as they can be read. */
function readSample(text: string, separator: string, isSheet: boolean): Row[] {
  const rows: Row[] = [];
  const counter = countLines();
  try {
    parse(text, {
      ...CSV_OPTIONS,
      delimiter: separator,
      to: SAMPLE_ROWS,
      on_record: (cells: string[], info) => {
        const start = counter.start(cells, info);
        const repaired = cells.map((cell) => repair(cell) ?? cell);
        rows.push({ line: isSheet ? info.records : start, cells: repaired, isPlain: false });
        return null;
      },
    });
  } catch {
    // The sample may end within a quoted cell; a quote that never ends is reported by the reading itself.
  }
  return rows.filter(({ cells }) => cells.some((cell) => cell.trim() !== ''));
}

/** Counts the cells that stand in rows of equally many. */
function countEven(rows: readonly Row[]): number {
  const counts = new Map<number, number>();
  for (const { cells } of rows) counts.set(cells.length, (counts.get(cells.length) ?? 0) + 1);
  return Math.max(0, ...[...counts].map(([cells, times]) => (cells < 2 ? 0 : cells * times)));
}

export interface Shape {
  separator: string;
  /** The line of the header; null if there is none. */
  headerLine: number | null;
  headers: string[];
  /** The cells that the first rows begin with: the header of a table that lies on its side. */
  firstCells: string[];
  sample: Row[];
  /** The texts of each line above the header. */
  titles: string[][];
  /** The only heading of the file, where it stands below all records. The whole file has been read when it is known. */
  footer?: string;
  /** The line below the header that describes its columns; null if there is none. */
  descriptionLine: number | null;
}

const FORMAT_HEADERS = new Set(
  FORMATS.flatMap(({ needs, columns }) => [
    ...needs.flat(),
    ...Object.values(columns).flatMap((names) => names ?? []),
  ]).map(fold),
);

function isKnown(of: Kind, cell: string): boolean {
  const text = cell.trim();
  return text !== '' && text.length < 120 && (findFields(of, text).length > 0 || FORMAT_HEADERS.has(fold(text)));
}

/** A handle that is written as such, or the address of a page. */
const isAddress = (cell: string) => /^(?:@[\w.]{2,}$|https?:\/\/\S)/i.test(cell);

const isTyped = (cell: string) =>
  readNumber(cell) !== undefined || readTime(cell) !== undefined || readEmail(cell) !== undefined || isAddress(cell);

/** Names over columns of numbers, times or addresses. */
function isOverTyped({ cells }: Row, below: readonly Row[]): boolean {
  const filledCells = cells.map((cell) => cell.trim()).filter((cell) => cell !== '');
  if (filledCells.length < Math.max(1, cells.length / 2) || filledCells.some(isTyped) || below.length === 0)
    return false;
  return cells.some((cell, i) => {
    const values = below.map((row) => (row.cells[i] ?? '').trim()).filter((value) => value !== '');
    return cell.trim() !== '' && values.length > 0 && values.every(isTyped);
  });
}

/** A row with the names of two fields, or of one where there is one column. */
function findNames(of: Kind, rows: readonly Row[]): Row | undefined {
  const widest = Math.max(0, ...rows.map(({ cells }) => cells.length));
  const leastKnown = widest === 1 ? 1 : 2;
  return rows.slice(0, HEADER_ROWS).find(({ cells }) => {
    const knownNames = new Set(cells.filter((cell) => isKnown(of, cell)).map(fold));
    return knownNames.size >= leastKnown && !cells.some((cell) => readEmail(cell.trim()) !== undefined);
  });
}

const findHeader = (of: Kind, rows: readonly Row[]): Row | undefined =>
  findNames(of, rows) ?? rows.slice(0, HEADER_ROWS).find((row, i) => isOverTyped(row, rows.slice(i + 1, i + 20)));

/** A, B, … for the columns of a table without a header. */
function nameColumn(position: number): string {
  const letter = String.fromCharCode(65 + (position % 26));
  return position < 26 ? letter : nameColumn(Math.floor(position / 26) - 1) + letter;
}

/** A header that stands twice gets its place among the same, so that a mapping can name either. */
function numberRepeated(headers: string[]): void {
  const counts = new Map<string, number>();
  for (const [position, header] of headers.entries()) {
    const count = (counts.get(header) ?? 0) + 1;
    counts.set(header, count);
    if (count > 1 && header !== '') headers[position] = `${header} (${count})`;
  }
}

export interface ShapeWish {
  separator?: string | undefined;
  headerLine?: number | undefined;
  isSheet?: boolean;
}

/** A row of names with no number, time or address among them: another table begins. */
export const startsTable = (of: Kind, row: Row): boolean =>
  findHeader(of, [row]) !== undefined && !row.cells.some((cell) => cell.trim() !== '' && isTyped(cell.trim()));

/** A row that repeats the header, as where exports were joined, is no record. */
export const repeatsHeader = (cells: readonly string[], headers: readonly string[]): boolean =>
  cells.length >= headers.length &&
  headers.some((header) => header !== '') &&
  headers.every((header, at) => header.replace(/ \(\d+\)$/, '') === (cells[at] ?? '').trim());

/** The first rows of a text show how its table is written. */
export function detectShape(text: string, of: Kind, wish: ShapeWish): Shape {
  const said = /^\uFEFF?"?sep=(.)"?\s*?(?:\r\n|\n|\r)/i.exec(text)?.[1];
  const forcedSeparator = wish.separator ?? said;
  const separators = forcedSeparator === undefined ? SEPARATORS : [forcedSeparator];
  const [best] = separators
    .map((separator) => ({ separator, sample: readSample(text, separator, wish.isSheet ?? false) }))
    .map((each) => ({ ...each, even: countEven(each.sample), isNamed: findNames(of, each.sample) !== undefined }))
    // Lists of codes or tags have separators of their own, which the header lacks.
    .toSorted((a, b) => Number(b.isNamed) - Number(a.isNamed) || b.even - a.even);
  const { separator, sample } = best ?? { separator: ',', sample: [] };
  const rows = said === undefined ? sample : sample.slice(1);
  const header =
    wish.headerLine === undefined ? findHeader(of, rows) : rows.find(({ line }) => line === wish.headerLine);
  const width = Math.max(0, ...rows.map(({ cells }) => cells.length));
  const headers = header
    ? header.cells.map((cell) => cell.trim())
    : Array.from({ length: width }, (_, position) => nameColumn(position));
  numberRepeated(headers);
  // One empty cell too many at the end does not count.
  if (header && headers.length > 1 && headers.at(-1) === '') headers.pop();
  const headerLine = header?.line ?? (said === undefined ? null : 1);
  const firstCells = rows.slice(0, HEADER_ROWS).map(({ cells }) => (cells[0] ?? '').trim());
  const isBelow = ({ line, cells }: Row) => line > (headerLine ?? 0) && !repeatsHeader(cells, headers);
  const below = rows.filter(isBelow);
  const descriptionLine = header ? findDescriptionLine(of, headers, below, isTyped) : null;
  const records = descriptionLine === null ? below : below.slice(1);
  const titles = rows
    .filter(({ line }) => line < (headerLine ?? 0))
    .map(({ cells }) => cells.map((cell) => cell.trim()).filter((cell) => cell !== ''));
  const mark = openSections(of, headers, { titles }, true);
  for (const row of records) mark(row);
  const sampleRows = records.filter(({ isHeading, isNote }) => !isHeading && !isNote);
  return { separator, headerLine, headers, firstCells, titles, sample: sampleRows, descriptionLine };
}
