import { foldWords } from './fold.ts';
import type { Glance } from './glance.ts';
import { isKnownState } from './statuses.ts';

/** A column that says yes or no to a word. The status is that of a record of which it says that it does not count. */
export interface Flag {
  position: number;
  status: string;
  /** The answer by which a record has that status. */
  by: 'yes' | 'no';
  /** Beside cells that say no, an empty one says nothing. */
  isEmptyOpen: boolean;
}

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
  refunded: 'refunded|returned|erstattet|rembourse|reembolsado|rimborsato|terugbetaald|zwrocono',
  cancelled: 'cancelled|canceled|storniert|annule|cancelado|annullato|geannuleerd|anulowano',
  voided: 'voided|void',
  rejected: 'rejected|declined|denied|abgelehnt|refuse|rechazado',
  disputed: 'disputed|chargeback|fraud|reversed',
  deleted: 'deleted|geloscht|trashed',
  unsubscribed: 'unsubscribed|unsubscribe|optedout|abgemeldet|desabonne',
  blocked: 'blocked|banned|suspended|gesperrt',
  test: 'test|testing|sandbox|dummy',
};
const KEPT: Readonly<Record<string, string>> = {
  unpaid: 'paid|bezahlt|paye|pagado|pagato|betaald|pago|oplacono',
  'not approved': 'approved|confirmed|valid|genehmigt|bestatigt|approuve|aprobado',
  inactive: 'active|aktiv|actif|activo|attivo|actief|ativo',
  'not completed': 'completed|complete|abgeschlossen|captured',
  test: 'livemode',
};

const indexWords = (lists: Readonly<Record<string, string>>, by: Flag['by']) =>
  Object.entries(lists).flatMap(([status, words]) =>
    words.split('|').map((word) => [word, { status: foldWords(status).join(''), by }] as const),
  );
const WORDS = new Map([...indexWords(LOST, 'yes'), ...indexWords(KEPT, 'no')]);
/** A cell such as “Paid”, “Cancelado” or “Zwrócono”, whatever stands above it. */
export const isState = (text: string): boolean =>
  text.length <= 40 && (WORDS.has(foldWords(text).join('')) || isKnownState(text));
const FILLERS = new Set([
  'is',
  'was',
  'has',
  'been',
  'order',
  'payment',
  'transaction',
  'yes',
  'no',
  'y',
  'n',
  'ja',
  'nein',
]);

/** Columns of a yes or no, or of the day since when, that no field takes and whose header says that records do not count. */
export function findFlags(
  headers: readonly string[],
  takenColumns: ReadonlySet<number>,
  glance: (position: number) => Glance,
): Flag[] {
  return headers.flatMap((header, position) => {
    if (takenColumns.has(position)) return [];
    const [word, ...others] = foldWords(header).filter((each) => !FILLERS.has(each));
    const flag = word === undefined || others.length > 0 ? undefined : WORDS.get(word);
    const { filled, yes, no, times } = glance(position);
    const isAnswered = yes + no === filled || (flag?.by === 'yes' && times + no === filled);
    return flag && filled > 0 && isAnswered ? [{ position, ...flag, isEmptyOpen: flag.by === 'no' && no > 0 }] : [];
  });
}

/** The status that a cell gives its record; undefined if the record counts. A day since when says yes. */
export function readFlag({ status, by, isEmptyOpen }: Flag, cell: string): string | undefined {
  if (cell === '' && isEmptyOpen) return '';
  const isNo = readAnswer(cell) === 'no';
  return isNo === (by === 'no') ? status : undefined;
}
