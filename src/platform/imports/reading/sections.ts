import { cleanCell, isPlaceholder } from './cells.ts';
import { fold, foldWords } from './fold.ts';
import { isPaid, type Kind } from './kinds.ts';
import { readNumber } from './numbers.ts';
import { readEmail } from './people.ts';
import type { Row } from './rows.ts';
import { isRecordWord, isStateNoun, namesState } from './state-words.ts';
import { foldStatus, isGood, isKnownState, isType, readStatus, readType } from './statuses.ts';
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

const toWords = (list: string): ReadonlySet<string> =>
  new Set(
    list
      .split('|')
      .map((words) => foldWords(words).join(''))
      .filter(Boolean),
  );

/** Words and phrases that only a heading has for lines that are still to be paid, came back, or are none yet. */
const HEADING_WORDS = toWords(
  `offen|offene|offener|fällig|fällige|due|owed|owing|payable|upcoming|scheduled|next|future|later|waiting|open|outstanding|overdue
   |planned|forecast|estimated|estimate|projected|queue|queued|archive|archives|archiv|in review|under review|in prüfung|to pay|to be paid
   |do not pay|don't pay|not to pay|zu zahlen|à payer|à régler|por pagar|da pagare|te betalen|a pagar|to do|resi|free products|gifted
   |pendientes|geplant|prévu|prévus|previsto|former|formerly|ex|ehemalige|ehemaliger|anciens|antiguos|ausgeschieden`,
);
/** The same for people. */
const OF_PEOPLE = toWords(
  `old|alumni|applicants|applications|bewerber|bewerbungen|candidates|candidats|candidatos|waitlist|waiting list|warteliste|prospects|leads
   |interested|blacklist|black list|do not work with|do not contact|no longer with us|on a break|dormant`,
);

/** Words that name a state alone, and beside others may be a part of somebody's name or say something else. */
const WEAK = new Set(
  `left ended quit made done issued fait hecho fatto feito gedaan complete valid active aktiv actif activo test testing sample samples draft
   open processed locked released next future later new ex exchange sent received return returns hold warranty dispute removed old leads
   archive queue estimate gifted interested planned`.split(/\s+/),
);
const NOT = new Set('not no non never nicht kein keine pas nie niet sin senza nao without'.split(' '));

const isState = (of: Kind, word: string): boolean =>
  namesState(word) ||
  isKnownState(word) ||
  HEADING_WORDS.has(word) ||
  (of === 'roster' && OF_PEOPLE.has(word)) ||
  ([word, word.replace(/(?:e[nrs]?|n|s)$/, '')].some(isType) && !isRecordWord(word));

const MOST_JOINED = 4;

/** Some words that stand beside each other name a state together: `en attente de paiement`. */
const hasJoinedState = (of: Kind, words: readonly string[]): boolean =>
  words.some((_, from) =>
    Array.from({ length: MOST_JOINED - 1 }, (__, i) => words.slice(from, from + i + 2)).some(
      (some) => some.length > 1 && !some.every(isRecordWord) && isState(of, some.join('')),
    ),
  );

interface Heading {
  status: string;
  /** The heading says a state and nothing else that is not known. */
  isPlain: boolean;
}

/** The status that a line of one text gives the lines below it; undefined if it names no state. */
function readHeading(of: Kind, text: string): Heading | undefined {
  if (text === '' || text.length > 60 || text.startsWith('@') || readEmail(text) !== undefined) return undefined;
  // `TEST-1001` is an id.
  if (/^\S*(?:\p{L}[-_#/.]?\d|\d[-_#/.]?\p{L})\S*$/u.test(text)) return undefined;
  const words = foldWords(text).filter((word) => !/^\d+$/.test(word));
  if (words.length === 0 || words.length > 8) return undefined;
  const rest = words.filter((word) => !FILLERS.has(word) && !isRecordWord(word) && !isStateNoun(word));
  const joined = rest.join('');
  if (rest.length > 0 && isState(of, joined)) return { status: foldStatus(joined), isPlain: true };
  const whole = foldStatus(text);
  if (isState(of, words.join(''))) return { status: foldStatus(words.join('')), isPlain: true };
  if (rest.length === 0 && isType(text)) return { status: whole, isPlain: true };
  const isNegated = words.some((word) => NOT.has(word));
  const isNamed =
    hasJoinedState(of, words) ||
    (rest.length > 0 && rest.every((word) => isState(of, word))) ||
    rest.some((word) => isState(of, word) && (isNegated || !WEAK.has(word)));
  return isNamed ? { status: whole, isPlain: false } : undefined;
}

interface Lone {
  text: string;
  position: number;
  /** A number stands beside it: the sum of what is below. */
  hasSum: boolean;
}

const LONGEST_SUM = 20;
/** What most second cells have, and no sum: tried first, because every row of a file is looked at. */
const NO_SUM = /[:/@]|\d-\d|\p{L}{4}/u;

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
    if (cell.length > LONGEST_SUM || (NO_SUM.test(cell) && !isPlaceholder(cell.trim()))) return undefined;
    const text = cleanCell(cell);
    if (isPlaceholder(text)) continue;
    if (hasSum || readNumber(text) === undefined) return undefined;
    hasSum = true;
  }
  return first < 0 ? undefined : { text: cleanCell(cells[first] ?? ''), position: first, hasSum };
}

const ITEMS = new Set(['sku', 'title', 'quantity', 'line_amount', 'note', 'tags']);

/** A line of one filled cell that stands where a record or another line of an order would say something else. */
function isRecordCell(of: Kind, headers: readonly string[], { text, position, hasSum }: Lone): boolean {
  const fields = findFields(of, headers[position] ?? '');
  const isFirst = headers.slice(0, position).every((header) => header === '');
  if (headers.length === 1) return !fields.includes('email');
  if (hasSum) return !isFirst || !(of === 'orders' || isPaid(of)) || fields.includes('status') || /\d/.test(text);
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
    .map((text) => readHeading(of, text))
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
    const heading = lone && !isRecordCell(of, headers, lone) ? readHeading(of, lone.text) : undefined;
    if (lone && heading && !saysTotal(lone.text)) {
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
