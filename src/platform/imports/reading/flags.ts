import { isPlaceholder } from './cells.ts';
import { fold, foldWords } from './fold.ts';
import type { Glance } from './glance.ts';
import { isOrders, isPaid, type Kind } from './kinds.ts';
import { foldStatus, isKnownState } from './statuses.ts';

/** A column that says yes or no to a word. The status is that of a record of which it says that it does not count. */
export interface Flag {
  position: number;
  status: string;
  /** The answer by which a record has that status; `value` where the cell itself is the status. */
  by: 'yes' | 'no' | 'value' | 'filled';
  /** Beside cells that say no, an empty one says nothing. Of reasons, any text says that there was one. */
  isEmptyOpen: boolean;
}

const NO_CONSENT = foldWords('no consent').join('');
const YES = new Set(['yes', 'y', 'true', '1', 'x', 'ja', 'j', 'oui', 'si', 's', 'sim', 'tak', 't', 'wahr', 'vrai']);
const NO = new Set(['no', 'n', 'false', '0', 'nein', 'non', 'nao', 'nie', 'nee', 'falsch', 'faux', '']);

/** A cell that says yes or no in one of the languages of words; a tick says yes, a dash says no. */
export function readAnswer(text: string): 'yes' | 'no' | undefined {
  if (text.length > 10) return undefined;
  if (/^[✓✔☑✅]$/u.test(text)) return 'yes';
  const word = foldWords(text).join('');
  if (YES.has(word)) return 'yes';
  return NO.has(word) && (word !== '' || /^[-–—]?$/.test(text)) ? 'no' : undefined;
}

/** Zeros alone may be amounts as well: both say the same. */
export const isFlag = ({ filled, yes, no }: Glance): boolean => yes > 0 && yes + no === filled;

const LOST: Readonly<Record<string, string>> = {
  refunded: `refunded|returned|erstattet|rembourse|remboursee|reembolsado|reembolsada|rimborsato|rimborsata|terugbetaald
    zwrocono|zwrot|zwrocone|aterbetald|refunderet|refundert`,
  cancelled: `cancelled|canceled|storniert|annule|annulee|cancelado|cancelada|annullato|annullata|geannuleerd|anulowano
    anulowane|avbruten|annulleret|kansellert`,
  voided: 'voided|void',
  rejected: 'rejected|declined|denied|abgelehnt|refuse|rechazado',
  disputed: 'disputed|chargeback|fraud|reversed',
  failed: 'failed|failure|bounced|bounce|unclaimed',
  deleted: 'deleted|geloscht|trashed',
  unsubscribed: 'unsubscribed|unsubscribe|unsub|optout|optedout|abgemeldet|desabonne|donotcontact|donotmail|dnc',
  inactive: 'left|terminated|archived|churned|removed|inactive|inaktiv|inactif',
  blocked: 'blocked|banned|suspended|gesperrt',
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

/** Columns of a yes or no, or of the day since when, that no field takes and whose header says that records do not count. */
export function findFlags(
  headers: readonly string[],
  takenColumns: ReadonlySet<number>,
  glance: (position: number) => Glance,
  of: Kind,
): Flag[] {
  return headers.flatMap((header, position): Flag[] => {
    if (takenColumns.has(position)) return [];
    const isPeople = !isOrders(of) && !isPaid(of);
    const flag = WORDS.get(
      foldWords(header)
        .filter((each) => !FILLERS.has(each))
        .join(''),
    );
    const { filled, yes, no, times, directions, types } = glance(position);
    const isDirected = isPaid(of) && filled > 0 && directions === filled;
    const isType = types > 0 && TYPE_HEADERS.has(fold(header));
    const reason = REASONS.get(fold(header));
    if (filled > 0 && reason !== undefined) return [{ position, status: reason, by: 'filled', isEmptyOpen: false }];
    if (isDirected || isType || (filled > 0 && RETURN_STATES.has(fold(header))))
      return [{ position, status: '', by: 'value', isEmptyOpen: false }];
    const isDated = flag?.by === 'yes' && flag.status !== 'test' && times + no === filled;
    const isAnswered = yes + no === filled || isDated;
    // A buyer who wants no mails has bought all the same.
    if (flag?.status === NO_CONSENT && !isPeople) return [];
    return flag && filled > 0 && isAnswered ? [{ position, ...flag, isEmptyOpen: flag.by === 'no' && no > 0 }] : [];
  });
}

/** The status that a cell gives its record; undefined if the record counts. A day since when says yes. */
export function readFlag({ status, by, isEmptyOpen }: Flag, cell: string): string | undefined {
  if (by === 'value') return cell === '' ? undefined : foldStatus(cell);
  if (by === 'filled') return isPlaceholder(cell) || readAnswer(cell) === 'no' ? undefined : status;
  if (cell === '' && isEmptyOpen) return '';
  const isNo = readAnswer(cell) === 'no';
  return isNo === (by === 'no') ? status : undefined;
}
