import { isCross, readAnswer, readLight } from './answers.ts';
import { isPlaceholder } from './cells.ts';
import { fold, foldWords } from './fold.ts';
import type { Glance } from './glance.ts';
import { isOrders, isPaid, type Kind } from './kinds.ts';
import { foldStatus, isKnownState } from './statuses.ts';
import { readTime } from './times.ts';

/** A column that says yes or no to a word. The status is that of a record of which it says that it does not count. */
export interface Flag {
  position: number;
  status: string;
  /** The answer by which a record has that status; `value` where the cell itself is the status. */
  by: 'yes' | 'no' | 'value' | 'filled';
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

const NO_CONSENT = foldWords('no consent').join('');
/** Zeros alone may be amounts as well: both say the same. */
export const isFlag = ({ filled, yes, no }: Glance): boolean => yes > 0 && yes + no === filled;

const LOST: Readonly<Record<string, string>> = {
  refunded: `refunded|returned|erstattet|rembourse|remboursee|reembolsado|reembolsada|rimborsato|rimborsata|terugbetaald
    zwrocono|zwrot|zwrocone|aterbetald|refunderet|refundert`,
  cancelled: `cancelled|canceled|storniert|annule|annulee|cancelado|cancelada|annullato|annullata|geannuleerd|anulowano
    anulowane|avbruten|annulleret|kansellert`,
  voided: 'voided|void',
  rejected: 'rejected|declined|denied|abgelehnt|refuse|rechazado',
  disputed: 'disputed|chargeback|chargedback|fraud|fraudulent|reversed',
  failed: 'failed|failure|bounced|bounce|unclaimed|fehlgeschlagen|echoue|fallido|fallito|mislukt',
  deleted: 'deleted|geloscht|trashed',
  unsubscribed:
    'unsubscribed|unsubscribe|unsub|unsubbed|optout|optedout|abgemeldet|desabonne|donotcontact|donotmail|dnc',
  inactive: 'left|terminated|archived|churned|removed|inactive|inaktiv|inactif',
  blocked: 'blocked|banned|suspended|blacklisted|gesperrt|bloque|bloqueado|bloccato',
  test: 'test|testing|sandbox|dummy',
};
const KEPT: Readonly<Record<string, string>> = {
  unpaid: `paid|bezahlt|paye|payee|pagado|pagada|pagato|pagata|betaald|pago|paga|oplacono|oplacone|zaplacone|betald
    betalt`,
  'not approved': 'approved|confirmed|valid|genehmigt|bestatigt|approuve|aprobado',
  inactive: 'active|aktiv|actif|activo|attivo|actief|ativo',
  'no consent':
    'consent|consented|gdpr|gdprconsent|optin|optedin|einwilligung|dsgvo|consentement|consentimiento|consenso',
  'not completed': `completed|complete|abgeschlossen|captured|termine|terminee|completado|completada|completato|completata
    voltooid|concluido|zrealizowane|slutford`,
  test: 'livemode',
};

const indexWords = (lists: Readonly<Record<string, string>>, by: Flag['by']) =>
  Object.entries(lists).flatMap(([status, words]) =>
    words.split(/[|\s]+/).map((word) => [word, { status: foldWords(status).join(''), by }] as const),
  );
const WORDS = new Map([...indexWords(LOST, 'yes'), ...indexWords(KEPT, 'no')]);
/** Words that ask the same above a column, and that name a line of its own kind below one. */
const NOUNS = new Map(
  indexWords(
    {
      refunded: `refund|refunds|return|returns|erstattung|retoure|remboursement|reembolso|devolucion|rimborso|reso`,
      cancelled: 'cancellation|storno|stornierung|annulation|cancelacion|annullamento',
      disputed: 'dispute|disputes|chargebacks',
    },
    'yes',
  ),
);
/** Words that say of money that it was paid, and of an order or a letter something else. */
const SENT = new Map(
  indexWords(
    {
      unpaid: `sent|settled|transferred|paidout|uberwiesen|ausgezahlt|gesendet|envoye|verse|enviado|inviato|verzonden`,
    },
    'no',
  ),
);
const LETTERS = new Set(['email', 'emails', 'mail', 'marketing']);
/** A cell such as “Paid”, “Cancelado” or “Zwrócono”, whatever stands above it. */
export const isState = (text: string): boolean =>
  text.length <= 40 && (WORDS.has(foldWords(text).join('')) || isKnownState(text));

const DIRECTIONS = new Set(
  `debit credit debet dr cr d c s h soll haben in out incoming outgoing inbound outbound received sent af bij
   lastschrift gutschrift eingang ausgang debito credito cargo abono entrada salida saida entrata uscita recu envoye`.split(
    /\s+/,
  ),
);
/** A cell such as `DR`, `Haben` or `outgoing`, by which a list tells money that went out from money that came in. */
export const isDirection = (text: string): boolean => text.length <= 12 && DIRECTIONS.has(foldWords(text).join(''));

const FILLERS = new Set([
  'is',
  'was',
  'has',
  'been',
  'order',
  'payment',
  'transaction',
  'time',
  'date',
  'at',
  'on',
  'since',
  'from',
  'all',
  'email',
  'emails',
  'mail',
  'marketing',
  'yes',
  'no',
  'y',
  'n',
  'ja',
  'nein',
]);

/** Headers of what a line is, beside sales and payments such as refunds and fees. */
const TYPE_HEADERS = new Set(
  `type|kind|order type|order kind|bestellart|auftragsart|document type|doc type|belegart|belegtyp|type de document|tipo de documento|tipo documento|transaction type|record type|entry type|event type|event|line type|reporting category|category|action|art|typ|
   vorgang|transaktionstyp|transaktionsart|buchungsart|type de transaction|type d'opération|tipo|tipo de transacción|
   tipo de operación|tipo di transazione|soort|type transactie|tipo de transação|typ transakcji|rodzaj`
    .split('|')
    .map(fold),
);

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
    ...['reversal date', 'return date', 'refund date'].map((name) => [name, 'refunded']),
    ...['rejection reason', 'reason for rejection', 'decline reason'].map((name) => [name, 'rejected']),
  ].map(([name = '', status = '']) => [fold(name), fold(status)] as const),
);

/** The word of a header such as “Is refunded?” or “Cancelled at”. */
const findWord = (header: string): string =>
  foldWords(header)
    .filter((each) => !FILLERS.has(each))
    .join('');

/** A header that asks for a yes or no. */
export const isFlagWord = (header: string): boolean => WORDS.has(findWord(header)) || NOUNS.has(findWord(header));

function findNamed(header: string, of: Kind): { status: string; by: Flag['by'] } | undefined {
  const word = findWord(header);
  const isLetter = foldWords(header).some((each) => LETTERS.has(each));
  const named = WORDS.get(word) ?? NOUNS.get(word) ?? (isPaid(of) && !isLetter ? SENT.get(word) : undefined);
  // A buyer who wants no mails has bought all the same.
  return named?.status === NO_CONSENT && (isOrders(of) || isPaid(of)) ? undefined : named;
}

/** States of sales and payments whose columns may count, or say how much. */
const LOSSES = new Set(['refunded', 'cancelled', 'voided', 'rejected', 'disputed', 'failed']);
const MOST_ASKED = 8;

/** A word stands above something else than answers: sums, counts, addresses, or the days since when something holds. */
function isElse({ status, by }: Pick<Flag, 'status' | 'by'>, glance: Glance, of: Kind): boolean {
  const { filled, yes, no, blank, money, counts, emails, times } = glance;
  if (emails === filled) return true;
  const isLoss = (isOrders(of) || isPaid(of)) && by === 'yes' && LOSSES.has(status);
  if (!isLoss && (money === filled || counts === filled)) return true;
  return by === 'no' && yes === 0 && times > 0 && times + no + blank >= filled;
}

/**
 * Columns of a yes or no, or of the day since when, that no field takes and whose header says that records do not count.
 * A column of states that a person said is none of the status has no answers.
 */
export function findFlags(
  headers: readonly string[],
  takenColumns: ReadonlySet<number>,
  glance: (position: number) => Glance,
  of: Kind,
  isStatusDeclined = false,
): Flag[] {
  return headers.flatMap((header, position): Flag[] => {
    if (takenColumns.has(position)) return [];
    const seen = glance(position);
    const { filled, yes, no, times, directions, types, states } = seen;
    const isUnseen = filled === 0;
    const isDirected = isPaid(of) && filled > 0 && directions === filled;
    const isType = types > 0 && TYPE_HEADERS.has(fold(header));
    const reason = REASONS.get(fold(header));
    if (reason !== undefined) return [{ position, status: reason, by: 'filled', isEmptyOpen: false, isUnseen }];
    if (isDirected || isType || RETURN_STATES.has(fold(header)))
      return [{ position, status: '', by: 'value', isEmptyOpen: false, isUnseen }];
    const named = findNamed(header, of);
    // Empty cells below “Paid” say nothing where no other cell says anything.
    if (!named || (isUnseen && named.by === 'no')) return [];
    const flag: Flag = {
      position,
      ...named,
      isEmptyOpen: named.by === 'no' && no > 0,
      name: header.replace(/\s+/g, ' ').trim().slice(0, 60),
      isCrossOpen: yes === 0 && seen.crosses > 0 && seen.empty > 0,
      isUnseen,
    };
    const isDated = named.by === 'yes' && named.status !== 'test' && times + no === filled;
    if (yes + no === filled || isDated) return [flag];
    if (isElse(named, seen, of) || (isStatusDeclined && states * 3 >= filled)) return [];
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
  const own = WORDS.get(word) ?? NOUNS.get(word) ?? SENT.get(word);
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
  const light = by === 'no' ? readLight(cell) : undefined;
  return light ?? readOwn(flag, cell) ?? (status !== 'test' && readTime(cell) ? 'yes' : undefined);
}

/**
 * The status that a cell gives its record; undefined if the record counts. A day since when says yes. A cell that answers
 * neither way is a status of its own, which becomes a question.
 */
export function readFlag(flag: Flag, cell: string): string | undefined {
  const { status, by, isEmptyOpen, name, isMerged } = flag;
  if (by === 'value') return cell === '' ? undefined : foldStatus(cell);
  if (by === 'filled') return isPlaceholder(cell) || readAnswer(cell) === 'no' ? undefined : status;
  if (cell === '' && isEmptyOpen) return '';
  const answer = readFlagged(flag, cell);
  if (answer === undefined && name !== undefined)
    return `${name}: ${isMerged ? 'any other text' : cell.replace(/\s+/g, ' ').slice(0, 80)}`;
  return (answer === 'no') === (by === 'no') ? status : undefined;
}

/** A status by which an order was called off, unlike one that was never paid. */
export function saysCancelled(status: string): boolean {
  const word = foldWords(status).join('');
  const { status: meant, by } = WORDS.get(word) ?? NOUNS.get(word) ?? {};
  return by === 'yes' && (meant === 'cancelled' || meant === 'voided');
}
