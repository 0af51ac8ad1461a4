/** Reads workbooks on behalf of `readWorkbook`, one after the other, in a thread on its own. */
import { parentPort } from 'node:worker_threads';
import { stringify } from 'csv-stringify/sync';
import readExcelFile from 'read-excel-file/node';
import { z } from 'zod';
import { listNeeded } from './columns-by-values.ts';
import { KINDS } from './kinds.ts';
import { detectShape } from './shape.ts';
import { findFields } from './words.ts';
import { showFormats } from './workbook-formats.ts';
import { writeNumber } from './workbook-numbers.ts';

const Task = z.object({
  bytes: z.instanceof(Uint8Array),
  of: z.enum(KINDS),
  sheet: z.string().nullable(),
  hidden: z.array(z.string()),
});

const HEAD_ROWS = 60;

/** Dates of a spreadsheet have no zone: they are written as its clock shows them, midnight as a date alone. */
function writeDate(date: Date): string {
  if (Number.isNaN(date.getTime())) return '';
  const roundedTime = new Date(Math.round(date.getTime() / 1_000) * 1_000).toISOString();
  const clock = roundedTime.slice(11, 19);
  // A time of day alone is a fraction of the first day of a spreadsheet's calendar, which begins in 1900 or 1904.
  if (date.getUTCFullYear() < 1905) return clock;
  return clock === '00:00:00' ? roundedTime.slice(0, 10) : `${roundedTime.slice(0, 10)} ${clock}`;
}

function writeCell(cell: unknown): string {
  if (cell instanceof Date) return writeDate(cell);
  return cell === null || cell === undefined ? '' : String(cell);
}

const OPEN_DATE = /^(\d{1,2})[./-](\d{1,2})[./-](?:\d{2}|\d{4})\b/;

/**
 * The columns in which a spreadsheet made dates of those texts that it could read in its own order of day and month,
 * and left the others as they were: then the dates that it made are of another order, and swapped.
 */
function findHalfDates(data: readonly (readonly unknown[])[]): number[] {
  const columns = new Map<number, { dates: number; texts: number; isOdd: boolean }>();
  for (const row of data)
    row.forEach((cell, at) => {
      const column = columns.get(at) ?? { dates: 0, texts: 0, isOdd: false };
      columns.set(at, column);
      if (cell instanceof Date) {
        column.dates += 1;
        if (cell.getUTCDate() > 12) column.isOdd = true;
        return;
      }
      const [, first, second] = (typeof cell === 'string' && OPEN_DATE.exec(cell.trim())) || [];
      if (first === undefined || second === undefined) return;
      column.texts += 1;
      if (Number(first) <= 12 && Number(second) <= 12) column.isOdd = true;
    });
  return [...columns].flatMap(([at, { dates, texts, isOdd }]) => (dates > 0 && texts > 0 && !isOdd ? [at] : []));
}

async function readTask(message: unknown) {
  const { bytes, of, sheet, hidden } = Task.parse(message);
  const sheets = await readExcelFile(Buffer.from(showFormats(bytes)), { trim: false, parseNumber: writeNumber });
  const write = (data: readonly (readonly unknown[])[]) => stringify(data.map((row) => row.map(writeCell)));
  const readShape = (data: readonly (readonly unknown[])[]) =>
    detectShape(write(data.slice(0, HEAD_ROWS)), of, { separator: ',', isSheet: true });
  const hasHeader = (data: readonly (readonly unknown[])[]) => {
    const shape = readShape(data);
    return shape.headerLine !== null && shape.sample.length > 0;
  };
  /** A summary may stand before the list, and has a header, too. */
  const hasAllNeeded = (data: readonly (readonly unknown[])[]) => {
    const fields = new Set(readShape(data).headers.flatMap((header) => findFields(of, header)));
    return listNeeded(of).every((group) => group.some((field) => fields.has(field)));
  };
  const wantedSheet = sheets.find((each) => each.sheet === sheet);
  // Hidden sheets are nobody's first choice, and may still be named.
  const orderedSheets = sheets.toSorted((a, b) => Number(hidden.includes(a.sheet)) - Number(hidden.includes(b.sheet)));
  const tables = orderedSheets.filter(({ data }) => hasHeader(data));
  const wholeTable = tables.find(({ data }) => hasAllNeeded(data));
  const chosenSheet =
    wantedSheet ?? wholeTable ?? tables[0] ?? orderedSheets.find(({ data }) => data.length > 0) ?? orderedSheets[0];
  const csv = Buffer.from(write(chosenSheet?.data ?? []));
  return {
    sheet: chosenSheet?.sheet ?? '',
    sheets: sheets.map((each) => each.sheet),
    others: tables.flatMap((each) => (each === chosenSheet ? [] : [each.sheet])),
    halfDates: findHalfDates(chosenSheet?.data ?? []),
    csv: new Uint8Array(csv),
  };
}

parentPort?.on('message', async (message) => parentPort?.postMessage(await readTask(message)));
