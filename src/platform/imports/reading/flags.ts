import { isCross, readAnswer, readLight } from './answers.ts';
import { isPlaceholder } from './cells.ts';
import { fold, foldWords } from './fold.ts';
import type { Glance } from './glance.ts';
import { FIELDS, type FieldType, isOrders, isPaid, type Kind } from './kinds.ts';
import { areTypes, countsLosses, mayLose, saysLoss } from './losses.ts';
import { namesInvoice, saysProgress } from './progress.ts';
import {
  findAsked,
  findState,
  findWord,
  foldJoined,
  isAskingWord,
  isStateWord,
  readCellState,
  type State,
} from './state-words.ts';
import { foldStatus, isKnownState, isType } from './statuses.ts';
import { readTime } from './times.ts';
import { findFields } from './words.ts';

/** A column that says yes or no to a word. The status is that of a record of which it says that it does not count. */
export interface Flag {
  position: number;
  status: string;
  /** The answer by which a record has that status; `value` where the cell itself is the status, `each` where both are asked. */
  by: 'yes' | 'no' | 'each' | 'value' | 'filled' | 'loss';
  /** The kind of file, where cells are looked through for losses; `isCount` where they count what came back. */
  of?: Kind;
  isCount?: boolean;
  /** Beside cells that say no, an empty one says nothing. Of reasons, any text says that there was one. */
  isEmptyOpen: boolean;
  /** By this name a cell that answers neither way is asked about. Plans of earlier versions lack it. */
  name?: string;
  /** Crosses stand beside empty cells and nothing that says yes: they may be ticks. */
  isCrossOpen?: boolean;
  /** So many different texts answer neither way that one question is about all of them. */
  isMerged?: boolean;
  /** The first rows say nothing at all. */
  isUnseen?: boolean;
}

/** Zeros alone may be amounts as well: both say the same. */
export const isFlag = ({ filled, yes, no }: Glance): boolean => yes > 0 && yes + no === filled;

/** A cell such as “Paid”, “Cancelado” or “Zwrócono”, whatever stands above it. */
export const isState = (text: string): boolean =>
  text.length <= 40 && (isStateWord(foldJoined(text)) || isKnownState(text));

const DIRECTIONS = new Set(
  `debit credit debet dr cr d c s h soll haben in out incoming outgoing inbound outbound received sent af bij
   lastschrift gutschrift eingang ausgang debito credito cargo abono entrada salida saida entrata uscita recu envoye`.split(
    /\s+/,
  ),
);
/** A cell such as `DR`, `Haben` or `outgoing`, by which a list tells money that went out from money that came in. */
export const isDirection = (text: string): boolean => text.length <= 12 && DIRECTIONS.has(foldWords(text).join(''));

/** A plus or a minus alone, in a column beside amounts that lack it. */
export const isSign = (text: string): boolean => /^[+\-−–]$/.test(text);

/** Headers of what a line is, beside sales and payments such as refunds and fees. */
const TYPE_HEADERS = new Set(
  `type|kind|entry|document|doc|txn type|trans type|order type|order kind|bestellart|auftragsart|document type|doc type|belegart|belegtyp|type de document|tipo de documento|tipo documento|transaction type|record type|entry type|event type|event|line type|reporting category|category|action|art|typ|
   vorgang|transaktionstyp|transaktionsart|buchungsart|type de transaction|type d'opération|tipo|tipo de transacción|
   tipo de operación|tipo di transazione|soort|type transactie|tipo de transação|typ transakcji|rodzaj`
    .split('|')
    .map(fold),
);

/** Headers that speak of nothing but the lines of an account. */
const OF_ACCOUNTS =
  /^(?:transaction|txn|trans|record|entry|document|doc|line)type$|^(?:belegart|belegtyp|transaktionstyp|transaktionsart|buchungsart)$|^type(?:de)?(?:transaction|doperation|transactie)$|^tipo(?:de|di)?(?:transaccion|operacion|transazione|transacao)$|^typtransakcji$/;

/** Headers of how far something went back, beside a status of the payment. */
const RETURN_STATES = new Set(
  `refund status|refund state|return status|cancellation status|dispute status|chargeback status|erstattungsstatus|
   retourenstatus|statut de remboursement|estado del reembolso|stato rimborso`
    .split('|')
    .map(fold),
);
const REASONS = new Map(
  [
    ...['cancel reason', 'cancellation reason', 'reason for cancellation', 'stornogrund'].map((name) => [
      name,
      'cancelled',
    ]),
    ...['refund reason', 'return reason', 'reason for refund', 'retourengrund'].map((name) => [name, 'refund reason']),
    ...['failure reason', 'failed reason', 'error', 'error message', 'error code', 'fehler', 'fehlergrund'].map(
      (name) => [name, 'failed'],
    ),
    ...['reversal date', 'return date', 'refund date', 'clawback date', 'chargeback date'].map((name) => [
      name,
      'refunded',
    ]),
    ...['rejection reason', 'reason for rejection', 'decline reason'].map((name) => [name, 'rejected']),
  ].map(([name = '', status = '']) => [fold(name), fold(status)] as const),
);

/** Headers of the numbers of what came back, which say nothing of how much. */
const RETURN_NUMBERS = new Set(
  'refund id|refund number|credit note|credit memo|credit note number|rma|rma number|return id|return number|chargeback id|dispute id|gutschriftsnummer'
    .split('|')
    .map(fold),
);

/** A header that asks for a yes or no. */
export const isFlagWord = (header: string): boolean => isAskingWord(findWord(header));

/** States of sales and payments whose columns may count, or say how much. */
const LOSSES = new Set(['refunded', 'cancelled', 'voided', 'rejected', 'disputed', 'failed']);
/** States that pass: the day since when, or until when, does not say that they hold. */
const PASSING = new Set(['test', 'pending', 'hold', 'draft', 'unpaid', 'duplicate']);
const MOST_ASKED = 8;

/** A word stands above something else than answers: sums, counts, addresses, or the days since when something holds. */
function isElse({ status, by }: State, glance: Glance, of: Kind): boolean {
  const { filled, yes, no, blank, money, counts, emails, times } = glance;
  if (emails === filled) return true;
  const isLoss = (isOrders(of) || isPaid(of)) && by === 'yes' && LOSSES.has(status);
  if (!isLoss && (money === filled || counts === filled)) return true;
  if (by === 'yes') return PASSING.has(status) && times === filled && filled > 0;
  return yes === 0 && times > 0 && times + no + blank >= filled;
}

/** Types of fields whose columns say nothing of whether a record counts, whatever their cells are. */
const ASIDE: ReadonlySet<FieldType> = new Set(['id', 'currency', 'zone', 'email', 'handle', 'list', 'text']);

/** Answers in words or ticks. Digits count, and single letters are short for other things where they do not differ. */
function isAnswered({ filled, yes, no, texts }: Glance): boolean {
  if (filled === 0 || yes + no < filled) return false;
  const words = [...texts].map((text) => foldJoined(text));
  if (words.every((word) => /^\d*$/.test(word))) return [...texts].some((text) => /[^\d\s.,\p{Pd}]/u.test(text));
  return words.some((word) => word.length > 1) || (yes > 0 && no > 0) || words.every((word) => word === 'x');
}

/** A question about the answers of a column whose header leaves open what they mean for its records. */
function askAnswers(header: string, position: number, seen: Glance, of: Kind): Flag[] {
  if (!isAnswered(seen) || findFields(of, header).some((field) => ASIDE.has(FIELDS[of][field] ?? 'text'))) return [];
  const asked = findAsked(header, of);
  if (asked === undefined) return [];
  const name = nameHeader(header);
  const status = asked === 'each' ? '' : `${name}: ${asked}`;
  return [{ position, status, by: asked, isEmptyOpen: false, name, isCrossOpen: isCrossOpen(seen) }];
}

const nameHeader = (header: string): string => header.replace(/\s+/g, ' ').trim().slice(0, 60);
const isCrossOpen = ({ yes, crosses, empty }: Glance): boolean => yes === 0 && crosses > 0 && empty > 0;

const isDirected = ({ filled, directions }: Glance): boolean => filled > 0 && directions === filled;
/** Pluses tell lines from others; a dash alone is what stands for nothing. */
const isSigned = ({ filled, signs, texts }: Glance): boolean => filled > 0 && signs === filled && texts.has('+');

/** A column of what its lines are: by a type among its cells, or by a header that speaks of nothing else. */
function saysTypes(header: string, seen: Glance, of: Kind): boolean {
  const { filled, types, texts, times, counts, rateTypes } = seen;
  if (types > 0 && TYPE_HEADERS.has(fold(header))) return true;
  if (areTypes(seen, of)) return true;
  const isOther = times > 0 || counts > 0 || rateTypes === filled;
  return isPaid(of) && OF_ACCOUNTS.test(fold(header)) && !isOther && texts.size > 1 && texts.size <= MOST_ASKED;
}

/** Many different texts below a type become one question, beside those that are known. */
function mergeTypes(header: string, { texts }: Glance): Pick<Flag, 'name' | 'isMerged'> {
  const isMany = [...texts].filter((text) => !isType(text)).length > MOST_ASKED;
  return isMany ? { name: nameHeader(header), isMerged: true } : {};
}

function progressFlag(header: string, position: number, seen: Glance): Flag {
  const isNamed = namesInvoice(header);
  const name = isNamed ? { name: nameHeader(header) } : {};
  return {
    position,
    status: '',
    by: isNamed ? 'each' : 'value',
    isEmptyOpen: !isNamed,
    ...name,
    ...mergeTypes(header, seen),
  };
}

export interface FlagContext {
  takenColumns: ReadonlySet<number>;
  /** Columns of texts that decide nothing, such as an item's name, unless all of their cells say what the lines are. */
  textColumns: ReadonlySet<number>;
  /** A person said that no column is the status, or which one is. */
  isStatusDeclined: boolean;
  isStatusChosen: boolean;
  /** A column says how much came back. */
  hasRefunds: boolean;
}

/** A column beside the status, of which only cells that name a loss are asked about. */
function watchLosses(header: string, position: number, seen: Glance, of: Kind): Flag[] {
  if (isOrders(of) && countsLosses(header, of) && seen.counts === seen.filled) {
    const isUnseen = [...seen.texts].every((text) => !/[1-9]/.test(text));
    const isMerged = seen.texts.size > MOST_ASKED;
    return [
      {
        position,
        status: '',
        by: 'loss',
        isCount: true,
        isEmptyOpen: false,
        name: nameHeader(header),
        isMerged,
        isUnseen,
      },
    ];
  }
  if (!mayLose(header, seen, of)) return [];
  const lost = [...seen.texts].filter((text) => saysLoss(of, text));
  const isMerged = lost.length > MOST_ASKED;
  // Where no cell names a loss yet, nothing is known of the status.
  const isUnseen = lost.length === 0;
  return [{ position, status: '', by: 'loss', of, isEmptyOpen: false, name: nameHeader(header), isMerged, isUnseen }];
}

function findTypes(header: string, position: number, glance: (position: number) => Glance, of: Kind): Flag[] {
  const seen = glance(position);
  if (!areTypes(seen, of)) return [];
  return [{ position, status: '', by: 'value', isEmptyOpen: false, ...mergeTypes(header, seen) }];
}

/**
 * Columns of a yes or no, or of the day since when, that no field takes and whose header says that records do not count,
 * or leaves it open. A column of states that a person said is none of the status has no answers.
 */
export function findFlags(
  headers: readonly string[],
  { takenColumns, textColumns, isStatusDeclined, isStatusChosen, hasRefunds }: FlagContext,
  glance: (position: number) => Glance,
  of: Kind,
): Flag[] {
  return headers.flatMap((header, position): Flag[] => {
    if (takenColumns.has(position)) return textColumns.has(position) ? findTypes(header, position, glance, of) : [];
    const seen = glance(position);
    const { filled, yes, no, times, states } = seen;
    const isUnseen = filled === 0;
    const isNumber = !hasRefunds && isOrders(of) && RETURN_NUMBERS.has(fold(header));
    const reason = REASONS.get(fold(header)) ?? (isNumber ? fold(header) : undefined);
    if (reason !== undefined) return [{ position, status: reason, by: 'filled', isEmptyOpen: false, isUnseen }];
    if (isPaid(of) && isSigned(seen))
      return [{ position, status: '', by: 'each', isEmptyOpen: false, name: nameHeader(header) }];
    if ((isPaid(of) && isDirected(seen)) || saysTypes(header, seen, of) || RETURN_STATES.has(fold(header)))
      return [{ position, status: '', by: 'value', isEmptyOpen: false, isUnseen, ...mergeTypes(header, seen) }];
    if (saysProgress(header, seen, of) && !(isStatusDeclined && states * 3 >= filled))
      return [progressFlag(header, position, seen)];
    // Between columns of the status a person has chosen already.
    const isChosen = isStatusDeclined || (isStatusChosen && findFields(of, header).includes('status'));
    const losses = isChosen ? [] : watchLosses(header, position, seen, of);
    const named = findState(header, of);
    if (!named) {
      const answers = askAnswers(header, position, seen, of);
      return answers.length > 0 ? answers : losses;
    }
    // Empty cells below “Paid” say nothing where no other cell says anything.
    if (isUnseen && named.by === 'no') return [];
    const flag: Flag = {
      position,
      ...named,
      isEmptyOpen: named.by === 'no' && no > 0,
      name: nameHeader(header),
      isCrossOpen: isCrossOpen(seen),
      isUnseen,
    };
    const isDated = named.by === 'yes' && !PASSING.has(named.status) && times + no === filled;
    if (yes + no === filled || isDated) return [flag];
    const isPlain = isFlagWord(header) || yes + no > 0;
    if (!isPlain || isElse(named, seen, of) || (isStatusDeclined && states * 3 >= filled)) return losses;
    const unclear = [...seen.texts].filter((text) => readFlagged(flag, text) === undefined);
    return [{ ...flag, isMerged: unclear.length > MOST_ASKED }];
  });
}

const NOT = new Set(['not', 'non', 'never', 'nicht', 'kein', 'keine', 'pas', 'nie', 'niet']);

/** The header's own word, or its opposite: “Refunded” and “Not refunded” below “Refunded”. */
function readOwn({ status, by }: Flag, text: string): 'yes' | 'no' | undefined {
  if (text.length > 40) return undefined;
  const words = foldWords(text);
  if (by === 'no' && words.join('') === status) return 'no';
  const isNegated = NOT.has(words[0] ?? '');
  const word = (isNegated ? words.slice(1) : words).join('');
  const own = readCellState(word);
  if (own?.status !== status) return undefined;
  return (own.by === by) === isNegated ? 'no' : 'yes';
}

/** A cell that answers the question of a flag's header, in words, signs, shares, or by the day since when. */
function readFlagged(flag: Flag, cell: string): 'yes' | 'no' | undefined {
  const { by, status, isCrossOpen = false } = flag;
  const answer = readAnswer(cell);
  if (answer !== undefined) return isCrossOpen && isCross(cell) ? undefined : answer;
  if (/^0+(?:[.,]0+)?\s?%?$/.test(cell)) return 'no';
  if (/^1[.,]0$|^100\s?%$/.test(cell)) return 'yes';
  if (by === 'yes' && isPlaceholder(cell)) return 'no';
  if (status === 'noconsent' && /^(?:never[_ ]?|un)?subscribed$/i.test(cell)) return /^s/i.test(cell) ? 'yes' : 'no';
  const light = by === 'no' ? readLight(cell) : undefined;
  return light ?? readOwn(flag, cell) ?? (PASSING.has(status) || !readTime(cell) ? undefined : 'yes');
}

/**
 * The status that a cell gives its record; undefined if the record counts. A day since when says yes. A cell that answers
 * neither way is a status of its own, which becomes a question.
 */
export function readFlag(flag: Flag, cell: string): string | undefined {
  const { status, by, isEmptyOpen, name, isMerged } = flag;
  if (by === 'value') {
    if (cell === '') return isEmptyOpen ? '' : undefined;
    return isMerged && !isType(cell) && !isDirection(cell) ? `${name}: any other text` : foldStatus(cell);
  }
  if (by === 'loss') {
    const isLost = flag.isCount ? /[1-9]/.test(cell) : flag.of !== undefined && saysLoss(flag.of, cell);
    if (!isLost) return undefined;
    return `${name}: ${isMerged ? 'any loss' : cell.replace(/\s+/g, ' ').slice(0, 80)}`;
  }
  if (by === 'filled') return isPlaceholder(cell) || readAnswer(cell) === 'no' ? undefined : status;
  if (cell === '' && isEmptyOpen) return '';
  if (by === 'each' && cell === '') return undefined;
  if (by === 'each' && isSign(cell)) return `${name}: ${cell === '+' ? 'plus' : 'minus'}`;
  const answer = readFlagged(flag, cell);
  if ((answer === undefined || by === 'each') && name !== undefined)
    return `${name}: ${isMerged ? 'any other text' : cell.replace(/\s+/g, ' ').slice(0, 80)}`;
  return (answer === 'no') === (by === 'no') ? status : undefined;
}

/** A status by which an order was called off, unlike one that was never paid. */
export function saysCancelled(status: string): boolean {
  const own = readCellState(foldWords(status).join(''));
  return own?.by === 'yes' && (own.status === 'cancelled' || own.status === 'voided');
}
