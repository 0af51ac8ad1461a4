import { listSigns, readSaid, warns } from './answers.ts';
import { fold, foldWords } from './fold.ts';
import { isOrders, isPaid, type Kind } from './kinds.ts';
import type { StatusMeaning } from './shapes.ts';

const list = (text: string) => text.split(' ').map((word) => fold(word.replaceAll('_', ' ')));

const ORDER_MEANINGS: readonly (readonly [StatusMeaning, string])[] = [
  ['counts', 'paid partially_refunded processing completed complete fulfilled succeeded'],
  ['refunded', 'refunded'],
  [
    'left_out',
    `pending authorized voided on-hold hold failed cancelled canceled trash checkout-draft draft abandoned revoked
     unpaid test`.replace(/\s+/g, ' '),
  ],
];

/** All orders of a store are compared: only what was given back or cancelled is told apart. */
const COMPARED_MEANINGS: readonly (readonly [StatusMeaning, string])[] = [
  [
    'counts',
    `paid partially_paid partially_refunded processing completed complete fulfilled unfulfilled succeeded pending authorized
     on-hold hold failed checkout-draft draft abandoned unpaid expired open test`.replace(/\s+/g, ' '),
  ],
  ['refunded', 'refunded'],
  ['left_out', 'cancelled canceled voided trash revoked'],
];

const PAID_MEANINGS: readonly (readonly [StatusMeaning, string])[] = [
  ['paid', 'paid completed sent success successful succeeded yes true 1 abgeschlossen'],
  [
    'left_out',
    `unpaid pending rejected processed processing refunded duplicate fraud canceled cancelled hold on_hold due voided
     approved declined scheduled denied unclaimed returned held blocked failed reversed open draft no false 0 test`.replace(
      /\s+/g,
      ' ',
    ),
  ],
];

const PERSON_MEANINGS: readonly (readonly [StatusMeaning, string])[] = [
  ['active', 'approved active enabled'],
  ['paused', 'blocked inactive paused suspended deactivated banned'],
  ['left_out', 'pending rejected denied declined invited unsubscribed test'],
];

const index = (meanings: readonly (readonly [StatusMeaning, string])[]) =>
  new Map(meanings.flatMap(([meaning, words]) => list(words).map((word) => [word, meaning] as const)));

const ORDERS = index(ORDER_MEANINGS);
const COMPARED = index(COMPARED_MEANINGS);
const PAID = index(PAID_MEANINGS);
const PEOPLE = index(PERSON_MEANINGS);

/** A status without signs; WooCommerce writes `wc-completed` in some places. */
const bareStatus = (value: string): string => fold(value.replace(/^wc-/i, ''));

/** A cell with its column before it, such as `Refunded: 🔴`: the column's word is not what it says. */
const isOfColumn = (value: string): boolean => /:\s*\S/.test(value);

/** A status as it is compared: signs make another value of the same word, and a colon separates a column from its cell. */
export function foldStatus(value: string): string {
  const word = bareStatus(value);
  if (word === value) return value;
  const signs = listSigns(value).join('');
  if (word === '' && signs === '') return value.replace(/[\s\p{Pd}]+/gu, '');
  return `${isOfColumn(value) ? ':' : ''}${word}${signs}`;
}

export const isGood = (meaning: StatusMeaning | undefined): boolean =>
  meaning === 'counts' || meaning === 'paid' || meaning === 'active';

/** A status means the same in every file of a kind; undefined if its meaning must be asked. */
export function readStatus(of: Kind, value: string): StatusMeaning | undefined {
  if (isOfColumn(value)) return undefined;
  const isCompared = of === 'reconciliation';
  const meanings = isOrders(of) ? (isCompared ? COMPARED : ORDERS) : isPaid(of) ? PAID : PEOPLE;
  const word = bareStatus(value);
  const meaning = meanings.get(word) ?? meanings.get(readSaid(value) ?? '');
  return word !== '' && isGood(meaning) && warns(listSigns(value)) ? undefined : meaning;
}

const ANSWERS = new Set(['yes', 'no', 'true', 'false', '1', '0']);

/** Says that a part of an order was given back, which is known only where the file says how much. */
export const isPartialRefund = (value: string): boolean => bareStatus(value) === 'partiallyrefunded';

/** A word that says the state of something in files of any kind. */
export function isKnownState(value: string): boolean {
  const word = bareStatus(value);
  return !ANSWERS.has(word) && [ORDERS, COMPARED, PAID, PEOPLE].some((meanings) => meanings.has(word));
}

/** A state in which a record of a kind does not count, or somebody does not work for the brand. */
export function isLost(of: Kind, value: string): boolean {
  const meaning = readStatus(of, value);
  return meaning !== undefined && !isGood(meaning);
}

/** Lines that are what the file is of, in a column that says what each line is. */
const TYPES: Readonly<Partial<Record<Kind, ReadonlySet<string>>>> = {
  orders: new Set(
    list(
      `sale sales order orders invoice rechnung facture factura fattura charge purchase capture bestellung verkauf vente venta vendita venda none no_refund no_return
       not_refunded not_returned not_cancelled`.replace(/\s+/g, ' '),
    ),
  ),
  commissions: new Set(
    list('commission commissions referral sale bonus reward conversion provision comision prowizja'),
  ),
  payouts: new Set(list('payment payments payout payouts transfer mass_payment zahlung auszahlung uberweisung')),
};
const OTHER_TYPES = new Set(
  list(
    `refund refunds return returns chargeback reversal adjustment fee fees withdrawal deposit credit_note void dispute
     credit debit tip topup shipping tax erstattung ruckerstattung gutschrift storno gebuhr remboursement avoir frais reembolso
     devolucion rimborso reso zwrot terugbetaling sample samples replacement seeding gifting warranty bill bills`.replace(
      /\s+/g,
      ' ',
    ),
  ),
);
const ALL_TYPES = [OTHER_TYPES, ...Object.values(TYPES)];

/** A word that says whether a line is a sale, a payment, or something else. */
export const isType = (value: string): boolean => ALL_TYPES.some((words) => words.has(bareStatus(value)));

/** Types of lines that accompany sales and payments, or that methods of payment are called by, too. */
const BESIDE_TYPES = new Set(
  list(
    'fee fees withdrawal deposit credit debit tip topup shipping tax gutschrift gebuhr frais sample samples replacement seeding gifting warranty bill bills adjustment',
  ),
);
/** A line by which a sale or a payment came back, in one word. */
export const isBackType = (value: string): boolean =>
  OTHER_TYPES.has(bareStatus(value)) && !BESIDE_TYPES.has(bareStatus(value));
const SAYS_NONE = new Set(list('none no_refund no_return not_refunded not_returned not_cancelled'));
/** A line that is what a file of the kind is of, in one word. */
export const isMainType = (of: Kind, value: string): boolean =>
  (TYPES[of]?.has(bareStatus(value)) ?? false) && !SAYS_NONE.has(bareStatus(value));

/** A few words with such a word among them: `Bill Payment (Check)`, `Credit card refund`. */
export const hasType = (value: string): boolean =>
  isType(value) || (value.length <= 60 && foldWords(value).slice(0, 5).some(isType));

/** A line that says that it is what the file is of counts; every other type becomes a question. */
export function readType(of: Kind, value: string): StatusMeaning | undefined {
  if (!TYPES[of]?.has(bareStatus(value)) || isOfColumn(value) || warns(listSigns(value))) return undefined;
  return isPaid(of) ? 'paid' : 'counts';
}

/** The meanings that may be chosen for a status, by kind of file. */
export function listMeanings(of: Kind): readonly StatusMeaning[] {
  if (isOrders(of)) return ['counts', 'refunded', 'left_out'];
  return isPaid(of) ? ['paid', 'left_out'] : ['active', 'paused', 'left_out'];
}
