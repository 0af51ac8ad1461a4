import { cleanCell, isPlaceholder } from './cells.ts';
import { fold, foldWords } from './fold.ts';
import { readHeading } from './headings.ts';
import { FIELDS, isPaid, type Kind } from './kinds.ts';
import { readNumber } from './numbers.ts';
import { readEmail, readHandle } from './people.ts';
import type { Row } from './rows.ts';
import { isRecordWord } from './state-words.ts';
import { isBackType, isGood, isType, readStatus, readType } from './statuses.ts';
import { saysMonth } from './times.ts';
import { readSubtotal, saysFigure, saysTotal } from './totals.ts';
import { findFields } from './words.ts';

interface Lone {
  text: string;
  position: number;
  /** A number stands beside it: the sum of what is below. */
  hasSum: boolean;
}

const LONGEST_SUM = 20;
const LEAST_MERGED = 3;
/** Signs of a second cell that is no sum. They are tried first, because every row of a file is looked at. */
const NO_SUM = /[:/@]|\d-\d|\p{L}{4}/u;

/** Merged cells that were filled out say one thing. */
function isMerged(cells: readonly string[], first: string): boolean {
  const filled = cells.filter((cell) => cell.trim() !== '');
  return filled.length >= LEAST_MERGED && filled.every((cell) => cell === first);
}

/** The only text of a row, alone or beside one sum. */
function findLone(cells: readonly string[]): Lone | undefined {
  let first = -1;
  let hasSum = false;
  for (let position = 0; position < cells.length; position += 1) {
    const cell = cells[position] ?? '';
    if (cell === '' || cell.trim() === '') continue;
    if (first < 0) {
      first = position;
      continue;
    }
    if (cell === cells[first] && isMerged(cells, cell)) break;
    if (cell.length > LONGEST_SUM || (NO_SUM.test(cell) && !isPlaceholder(cell.trim()))) return undefined;
    const text = cleanCell(cell);
    if (isPlaceholder(text)) continue;
    if (hasSum || readNumber(text) === undefined) return undefined;
    hasSum = true;
  }
  return first < 0 ? undefined : { text: cleanCell(cells[first] ?? ''), position: first, hasSum };
}

const ITEMS = new Set(['sku', 'title', 'quantity', 'line_amount', 'note', 'tags']);
const NAMES = new Set(['name', 'first_name', 'last_name', 'full_name']);
const GOODS = new Set(['amount', 'subtotal', 'total']);

/** The columns that a record must fill, as far as their headers name them. */
interface Layout {
  of: Kind;
  headers: readonly string[];
  fields: readonly (readonly string[])[];
  emails: readonly number[];
  times: readonly number[];
  amounts: readonly number[];
  /** Columns of who a record is of. */
  who: readonly number[];
  hasStatus: boolean;
}

function layOut(of: Kind, headers: readonly string[]): Layout {
  const fields = headers.map((header) => findFields(of, header));
  const find = (isIt: (field: string) => boolean) => fields.flatMap((each, at) => (each.some(isIt) ? [at] : []));
  const isSold = of === 'orders' || isPaid(of);
  return {
    of,
    headers,
    fields,
    emails: find((field) => field === 'email'),
    times: isSold ? find((field) => FIELDS[of][field] === 'time') : [],
    amounts: isSold ? find((field) => GOODS.has(field)) : [],
    who: find((field) => NAMES.has(field) || /^(?:email|handle)$/.test(FIELDS[of][field] ?? '') || field === 'code'),
    hasStatus: find((field) => field === 'status').length > 0,
  };
}

const isFirst = ({ headers }: Layout, position: number): boolean =>
  headers.slice(0, position).every((header) => header === '');

/** A line of one filled cell that stands where a record or another line of an order would say something else. */
function isRecordCell(layout: Layout, { text, position, hasSum }: Lone): boolean {
  const { of, headers } = layout;
  const fields = layout.fields[position] ?? [];
  if (headers.length === 1) return !fields.includes('email');
  const leads = isFirst(layout, position);
  if (hasSum) return !leads || !(of === 'orders' || isPaid(of)) || fields.includes('status') || /\d/.test(text);
  return !leads && (fields.length === 0 || fields.some((field) => field === 'status' || ITEMS.has(field)));
}

/** No record can be read from a row: its address is none, or it has no amount, or no day. */
function isIncomplete({ emails, times, amounts }: Layout, cells: readonly string[]): boolean {
  const text = (at: number) => (cells[at] ?? '').trim();
  if (emails.some((at) => text(at) !== '' && !text(at).includes('@') && !isPlaceholder(text(at)))) return true;
  const lacks = (positions: readonly number[]) => positions.length > 0 && !positions.some((at) => /\d/.test(text(at)));
  return lacks(times) || lacks(amounts);
}

/** A text in place of what identifies a record that cannot be one, whatever stands beside it. */
function findMisplaced(layout: Layout, cells: readonly string[]): Lone | undefined {
  const position = cells.findIndex((cell) => cell !== '' && cell.trim() !== '');
  const cell = cells[position] ?? '';
  if (cell === '' || cell.includes('@') || layout.headers.length === 1 || !isFirst(layout, position)) return undefined;
  const fields = layout.fields[position] ?? [];
  const isIdentity = fields.some(
    (field) => NAMES.has(field) || /^(?:email|handle|id|time|list)$/.test(FIELDS[layout.of][field] ?? ''),
  );
  if (!isIdentity || fields.some((field) => field === 'status' || ITEMS.has(field))) return undefined;
  // A header of another table names fields beside it.
  const isHeader =
    cells.filter((each, at) => at !== position && findFields(layout.of, each.trim()).length > 0).length > 1;
  return !isHeader && isIncomplete(layout, cells) ? { text: cleanCell(cell), position, hasSum: true } : undefined;
}

/** The text identifies a record, though nothing stands beside it. */
function identifies(of: Kind, field: string, text: string): boolean {
  const type = FIELDS[of][field];
  if (type === 'email') return readEmail(text) !== undefined;
  if (type === 'handle') return readHandle(text) !== undefined;
  return (type === 'id' || type === 'list') && /^\S*\d\S*$/.test(text);
}

/** A note, a name or a month that stands alone in its row, or the sum of something else than the records. */
function isNote(layout: Layout, { text, position, hasSum }: Lone): boolean {
  const fields = layout.fields[position] ?? [];
  const { of, headers } = layout;
  if (headers.length === 1 || !isFirst(layout, position) || saysTotal(text)) return false;
  if (hasSum) return saysFigure(text);
  if (fields.some((field) => field === 'status' || ITEMS.has(field) || identifies(of, field, text))) return false;
  return of !== 'orders' || fields.length > 0;
}

const EMPTY_AMOUNT = /^[^\p{L}\d]*0+(?:[.,]0+)?[^\p{L}\d]*$|^[A-Z]{3}$/u;
/** A row that a template has in advance: zeros, beside a currency at most. */
const isBlankForm = ({ of, times }: Layout, cells: readonly string[]): boolean =>
  times.length > 0 &&
  isPaid(of) &&
  cells.some((cell) => cell.includes('0')) &&
  cells.every((cell) => cell.trim() === '' || EMPTY_AMOUNT.test(cell.trim()));

/** A month, a day, a letter or a number groups what is below, and says nothing else of it. */
const isGroup = (text: string): boolean =>
  /^\p{L}$|^(?:.*\D)?(?:19|20)\d\d$/u.test(text) || /^\D*\d+\D*$/.test(text) || saysMonth(text);

/** A remark about the file, or a platform, says nothing of the lines below. */
const REMARK =
  /^[*†(@#]|^(?:notes?|ps|nb|hinweis|anmerkung|remarque|nota|source|prepared|exported|generated|created|printed|updated|last updated|page|seite|report|end of|count|records?|instagram|tiktok|youtube)\b/i;

/** In a column of names, words in capitals are somebody of whom nothing else is known. */
const isName = ({ fields }: Layout, { text, position }: Lone): boolean =>
  (fields[position] ?? []).some((field) => NAMES.has(field)) && /^(?:\p{Lu}[\p{L}\p{M}'’.-]*\s?){1,4}$/u.test(text);

/** A row below is of the person whose name stands above it. */
function isNamed({ who }: Layout, text: string, cells: readonly string[]): boolean {
  const words = foldWords(text).filter((word) => word.length > 2);
  return who.some((at) => words.some((word) => fold(cells[at] ?? '').includes(word)));
}

const countBreaks = (cells: readonly string[]): number =>
  cells.reduce((sum, cell) => sum + (/[\r\n]/.test(cell) ? (cell.match(/\r\n|\n|\r/g)?.length ?? 0) : 0), 0);

/** Statuses of lines of which a text below or above them may say something. */
const BELOW = 'Below: ';
const ABOVE = 'Above: ';

/** The question about such lines; undefined for any other status. */
export function askPlace(status: string): string | undefined {
  const place = [BELOW, ABOVE].find((each) => status.startsWith(each));
  if (place === undefined) return undefined;
  return `What are the lines ${place === BELOW ? 'below' : 'above'} “${status.slice(place.length)}”?`;
}

/** Texts outside of the table that say something of all of its lines. */
export interface Around {
  titles: readonly (readonly string[])[];
  /** The only heading of the file stands below all of its records. */
  footer?: string | undefined;
}

/** A text before a number is the number's name. A year is none, and neither is a day. */
const isLabel = (next: string | undefined): boolean =>
  next !== undefined && !/^(?:19|20)\d\d$/.test(next) && readNumber(next) !== undefined;

/** The status that the lines above the header give all below it. */
function readTitles(of: Kind, { titles, footer }: Around, hasStatus: boolean): string | undefined {
  const said = titles.flatMap((texts) => {
    const isAlone = texts.length === 1;
    if (!isAlone && hasStatus) return [];
    // Beside others a type of line is the name of some columns.
    const namesColumns = (text: string) => !isAlone && isType(text) && !isBackType(text);
    const headings = texts.flatMap((text, at) =>
      isLabel(texts[at + 1]) || namesColumns(text) ? [] : (readHeading(of, text) ?? []),
    );
    const [first] = headings;
    const isOne = headings.every(({ status }) => status === first?.status);
    return first ? [isOne ? first : { status: texts.join(' ').slice(0, 60), isPlain: false }] : [];
  });
  const title = said.findLast(({ isPlain }) => isPlain || !hasStatus);
  if (title || footer === undefined || hasStatus) return title?.status;
  return `${ABOVE}${footer.slice(0, 60)}`;
}

/**
 * Gives each row the status of the heading that it stands below, and marks the headings. Below a blank line, a total or a
 * heading without a state the status is empty, which becomes a question, unless the lines above counted anyway. Where no
 * line has a status and the first records stand below no heading, a text alone in the midst of them is a status, too.
 */
export function openSections(of: Kind, headers: readonly string[], around: Around, isSheet: boolean) {
  const layout = layOut(of, headers);
  let current = of === 'directory' ? undefined : readTitles(of, around, layout.hasStatus);
  let next = -1;
  let isBelowHeading = true;
  let isSeries: boolean | undefined;
  let pending: string | undefined;
  const end = () => {
    if (current === undefined || current === '') return;
    const meaning = readStatus(of, current) ?? readType(of, current);
    current = meaning !== undefined && isGood(meaning) ? undefined : '';
  };
  const head = (row: Row, status: string) => {
    current = status;
    next = row.line + 1;
    row.isHeading = true;
    isBelowHeading = true;
    pending = undefined;
  };
  const note = (row: Row, lone: Lone) => {
    const { text, hasSum } = lone;
    row.isNote = true;
    next = row.line + 1;
    if (hasSum) return;
    isSeries ??= true;
    if (!isBelowHeading) end();
    const isClear = isGroup(text) || REMARK.test(text) || isName(layout, lone);
    pending = isSeries || layout.hasStatus || isClear ? undefined : text.slice(0, 60);
    isBelowHeading = true;
  };
  return (row: Row): void => {
    if (of === 'directory') return;
    if (current !== undefined && next >= 0 && row.line > next && !isBelowHeading) end();
    if (current !== undefined || pending !== undefined) next = row.line + 1 + (isSheet ? 0 : countBreaks(row.cells));
    const lone = findLone(row.cells);
    const isOfRecord = lone !== undefined && isRecordCell(layout, lone);
    const titled = lone && !isOfRecord ? lone : findMisplaced(layout, row.cells);
    const heading = titled ? readHeading(of, titled.text) : undefined;
    if (titled && heading && !saysTotal(titled.text)) {
      const isBare = isType(titled.text) && isRecordWord(fold(titled.text));
      if (!isBare || current !== undefined) {
        head(row, heading.status);
        return;
      }
    }
    if (lone && !heading && !isOfRecord && isNote(layout, lone)) {
      note(row, lone);
      return;
    }
    if (isBlankForm(layout, row.cells)) {
      row.isNote = true;
      return;
    }
    isSeries ??= false;
    if (pending !== undefined && !isNamed(layout, pending, row.cells)) current = `${BELOW}${pending}`;
    pending = undefined;
    isBelowHeading = false;
    if (current === undefined) return;
    row.section = current;
    const first = lone?.text ?? row.cells.map((cell) => cleanCell(cell)).find((cell) => cell !== '') ?? '';
    if (saysTotal(first) || readSubtotal(first) !== undefined) end();
  };
}
