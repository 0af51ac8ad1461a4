import type { Assigned, Assignment } from './columns.ts';
import { BASIC } from './doubts.ts';
import { foldWords } from './fold.ts';
import { bareHeader } from './words.ts';

/** Words of headers that only say that a column is an amount, or a currency, folded. */
const AMOUNTS = new Set(
  `amount|total|subtotal|value|sum|betrag|summe|gesamt|montant|somme|importe|monto|importo|somma|bedrag|totaal|valor|kwota|suma|
   of|in|the|der|des|de|di|la|le|el|il`.split(/[|\s]+/),
);
const CURRENCIES = new Set(
  'currency|currencies|ccy|curr|cur|wahrung|devise|monnaie|moneda|divisa|valuta|munteenheid|moeda|waluta|iso|code'.split(
    '|',
  ),
);
const COMPOUND = /(?:s?betrag|s?summe|s?wahrung)$/;

const split = (header: string): string[] => foldWords(bareHeader(header).replace(/(\p{Ll})(\p{Lu})/gu, '$1 $2'));

/** The words that say of what a column is an amount or a currency: `payout` of `Payout amount` and of `Payout currency`. */
const nameSubject = (header: string): string =>
  split(header)
    .filter((word) => !AMOUNTS.has(word) && !CURRENCIES.has(word))
    .map((word) => word.replace(COMPOUND, ''))
    .filter((word) => word !== '')
    .join(' ');

const saysCurrency = (header: string): boolean =>
  split(header).some((word) => CURRENCIES.has(word) || word.endsWith('wahrung'));

interface Wish {
  headers: readonly string[];
  isCurrencies: (position: number) => boolean;
  isAmounts: (position: number) => boolean;
}

/** Columns that are the currency of another amount of the file are currencies as well, should that amount be taken. */
export function assignPairs(assignment: Assignment, takenColumns: Set<number>, wish: Wish): void {
  const { headers, isCurrencies, isAmounts } = wish;
  const assigned = assignment.get('currency');
  if (!assigned || assigned.positions.length === 0 || assigned.by === 'mapping' || assigned.by === 'own') return;
  // A known tool's columns are settled, but for an amount that somebody chose.
  const isChosen = BASIC.some((field) => ['mapping', 'stored'].includes(assignment.get(field)?.by ?? ''));
  if ((assigned.by === 'format' || assigned.by === 'stored') && !isChosen) return;
  const subjects = new Set(headers.flatMap((header, at) => (isAmounts(at) ? [nameSubject(header)] : [])));
  const pairs = headers.flatMap((header, at) => {
    const subject = nameSubject(header);
    const isPair = subject !== '' && subjects.has(subject) && saysCurrency(header) && isCurrencies(at);
    return isPair && !takenColumns.has(at) ? [at] : [];
  });
  if (pairs.length === 0) return;
  assignment.set('currency', { ...assigned, positions: [...assigned.positions, ...pairs], confidence: 'asked' });
  for (const at of pairs) takenColumns.add(at);
}

/** The currency column of an amount, by the words that both headers have; undefined if several may be. */
export function findPair(
  { positions }: Pick<Assigned, 'positions'>,
  amount: number | undefined,
  headers: readonly string[],
): number | undefined {
  const subject = nameSubject(headers[amount ?? -1] ?? '');
  const named = positions.map((at) => ({ at, subject: nameSubject(headers[at] ?? '') }));
  const exact = named.filter((each) => each.subject === subject);
  if (exact.length > 0) return exact.length === 1 ? exact[0]?.at : undefined;
  const others = new Set(headers.flatMap((header, at) => (positions.includes(at) ? [] : [nameSubject(header)])));
  const [left, ...more] = named.filter((each) => each.subject === '' || !others.has(each.subject));
  return left?.subject === '' && more.length === 0 ? left.at : undefined;
}
