import { cleanCell, isPlaceholder } from './cells.ts';
import { fold, foldWords } from './fold.ts';
import type { Kind } from './kinds.ts';
import { readNumber } from './numbers.ts';
import { readEmail } from './people.ts';
import type { Row } from './rows.ts';
import { isRecordWord, isStateNoun, namesState } from './state-words.ts';
import { foldStatus, isGood, isKnownState, isType, readStatus, readType } from './statuses.ts';
import { readTime } from './times.ts';
import { readSubtotal, saysTotal } from './totals.ts';
import { findFields } from './words.ts';

/** Words that a heading has beside its state, and that say nothing of its lines. */
const FILLERS = new Set(
  `the of in for on and all list report export overview summary filter date by new this last month year week quarter q1 q2 q3 q4
   der die das den im für und alle liste bericht monat jahr le la les des du de en et tous toutes liste el los las del y todos todas
   il lo gli dei e tutti i het een van do da dos das os as o a
   creators affiliates partners influencers ambassadors publishers invoices items lines records
   bestellungen auftrage zahlungen auszahlungen rechnungen provisionen commandes paiements factures virements
   pedidos comisiones facturas ordini pagamenti commissioni fatture bestellingen betalingen facturen comissoes
   january february march april may june july august september october november december jan feb mar apr jun jul aug sep sept oct nov dec
   januar februar marz mai juni juli oktober dezember`
    .split(/\s+/)
    .map(fold),
);

/** Words that only a heading has for lines that are still to be paid, or for people who left. */
const HEADING_WORDS = new Set(
  `offen offene faellig fallig due owed owing payable upcoming scheduled next future later waiting open outstanding overdue
   former formerly ex ehemalige anciens antiguos ausgeschieden
   tobepaid zuzahlen apayer porpagar dapagare tebetalen doosa aregler rtpending todo pendientes`
    .split(/\s+/)
    .map(fold),
);

/** Words that name a state alone, and beside others may be a part of somebody's name or say something else. */
const WEAK = new Set(
  `left ended quit made done issued fait hecho fatto feito gedaan complete valid active aktiv actif activo test testing sample samples draft
   open processed locked released next future later new ex exchange sent received return returns hold warranty dispute removed`.split(
    /\s+/,
  ),
);

const isState = (word: string): boolean =>
  namesState(word) || isKnownState(word) || HEADING_WORDS.has(word) || (isType(word) && !isRecordWord(word));

interface Heading {
  status: string;
  /** The heading says a state and nothing else that is not known. */
  isPlain: boolean;
}

/** The status that a line of one text gives the lines below it; undefined if it names no state. */
export function readHeading(text: string): Heading | undefined {
  if (text === '' || text.length > 60 || text.startsWith('@')) return undefined;
  if (readNumber(text) || readTime(text) || readEmail(text) !== undefined) return undefined;
  const words = foldWords(text);
  const rest = words.filter(
    (word) => !FILLERS.has(word) && !isRecordWord(word) && !isStateNoun(word) && !/^\d+$/.test(word),
  );
  if (words.length > 8) return undefined;
  const joined = rest.join('');
  if (rest.length > 0 && isState(joined)) return { status: foldStatus(joined), isPlain: true };
  const whole = foldStatus(text);
  if (rest.length === 0) return isType(text) ? { status: whole, isPlain: true } : undefined;
  if (isState(words.join(''))) return { status: whole, isPlain: true };
  const isNamed = rest.every(isState) || rest.some((word) => isState(word) && !WEAK.has(word));
  return isNamed ? { status: whole, isPlain: false } : undefined;
}

interface Lone {
  text: string;
  position: number;
  hasSums: boolean;
}

/** The only text of a row, alone or beside sums. */
function findLone(cells: readonly string[]): Lone | undefined {
  let lone: Lone | undefined;
  let hasSums = false;
  for (let position = 0; position < cells.length; position += 1) {
    const cell = cells[position] ?? '';
    if (cell === '' || cell.trim() === '') continue;
    const text = cleanCell(cell);
    if (lone && isPlaceholder(text)) continue;
    if (lone && readNumber(text) === undefined) return undefined;
    if (lone) hasSums = true;
    lone ??= { text, position, hasSums: false };
  }
  return lone && { ...lone, hasSums };
}

const ITEMS = new Set(['sku', 'title', 'quantity', 'line_amount', 'note', 'tags']);

/** A line of one filled cell that stands where a record or another line of an order would say something else. */
function isOfRecord(of: Kind, headers: readonly string[], { position, hasSums }: Lone): boolean {
  const fields = findFields(of, headers[position] ?? '');
  const isFirst = headers.slice(0, position).every((header) => header === '');
  if (headers.length === 1) return !fields.includes('email');
  if (hasSums) return !isFirst || fields.includes('status');
  return !isFirst && (fields.length === 0 || fields.some((field) => field === 'status' || ITEMS.has(field)));
}

const countBreaks = (cells: readonly string[]): number =>
  cells.reduce((sum, cell) => sum + (/[\r\n]/.test(cell) ? (cell.match(/\r\n|\n|\r/g)?.length ?? 0) : 0), 0);

/**
 * Gives each row the status of the heading that it stands below, and marks the headings. Below a blank line or a total
 * without another heading the status is empty, which becomes a question, unless the lines above counted anyway.
 */
export function openSections(of: Kind, headers: readonly string[], titles: readonly string[], isSheet: boolean) {
  const hasStatus = headers.some((header) => findFields(of, header).includes('status'));
  const title = titles
    .map((text) => readHeading(text))
    .findLast((heading) => heading !== undefined && (heading.isPlain || !hasStatus));
  let current = of === 'directory' ? undefined : title?.status;
  let next = -1;
  let isBelowHeading = true;
  const end = () => {
    if (current === undefined || current === '') return;
    const meaning = readStatus(of, current) ?? readType(of, current);
    current = meaning !== undefined && isGood(meaning) ? undefined : '';
  };
  return (row: Row): void => {
    if (of === 'directory') return;
    if (current !== undefined && next >= 0 && row.line > next && !isBelowHeading) end();
    if (current !== undefined) next = row.line + 1 + (isSheet ? 0 : countBreaks(row.cells));
    const lone = findLone(row.cells);
    const heading = lone && !isOfRecord(of, headers, lone) ? readHeading(lone.text) : undefined;
    if (lone && heading && (heading.isPlain || !lone.hasSums) && !saysTotal(lone.text)) {
      const isBare = isType(lone.text) && isRecordWord(fold(lone.text));
      if (!isBare || current !== undefined) {
        current = heading.status;
        next = row.line + 1;
        row.isHeading = true;
        isBelowHeading = true;
        return;
      }
    }
    isBelowHeading = false;
    if (current === undefined) return;
    row.section = current;
    const first = lone?.text ?? row.cells.map((cell) => cleanCell(cell)).find((cell) => cell !== '') ?? '';
    if (saysTotal(first) || readSubtotal(first) !== undefined) end();
  };
}
