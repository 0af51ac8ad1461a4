import { Currency } from '../../../kit/values/money.ts';
import { readNumber } from './numbers.ts';
import { readEntities } from './people.ts';
import { splitScale } from './scale.ts';

/** Signs that mean one currency, folded to upper case without dots and blanks. */
const SIGNS: Readonly<Record<string, string>> = {
  '€': 'EUR',
  '£': 'GBP',
  ZŁ: 'PLN',
  R$: 'BRL',
  US$: 'USD',
  C$: 'CAD',
  CA$: 'CAD',
  A$: 'AUD',
  AU$: 'AUD',
  NZ$: 'NZD',
  HK$: 'HKD',
  S$: 'SGD',
  MX$: 'MXN',
  NT$: 'TWD',
  SFR: 'CHF',
  FR: 'CHF',
  '₹': 'INR',
  '₺': 'TRY',
  '₴': 'UAH',
  '₽': 'RUB',
  '₩': 'KRW',
  '₪': 'ILS',
  '₫': 'VND',
  '₦': 'NGN',
  '₱': 'PHP',
  '฿': 'THB',
  '₸': 'KZT',
  '₡': 'CRC',
  '₲': 'PYG',
  '₵': 'GHS',
  '₼': 'AZN',
  '₾': 'GEL',
  KČ: 'CZK',
  FT: 'HUF',
  LEI: 'RON',
  'JP¥': 'JPY',
  'CN¥': 'CNY',
  円: 'JPY',
  元: 'CNY',
  원: 'KRW',
  RP: 'IDR',
  RM: 'MYR',
  R: 'ZAR',
  DIN: 'RSD',
  ГРН: 'UAH',
  РУБ: 'RUB',
  '৳': 'BDT',
};

/** Signs that several currencies share, with those they may mean, the commonest first. */
const SHARED: Readonly<Record<string, readonly string[]>> = {
  $: ['USD', 'CAD', 'AUD', 'MXN', 'NZD', 'SGD', 'HKD', 'CLP', 'COP', 'ARS', 'TWD'],
  KR: ['SEK', 'NOK', 'DKK', 'ISK'],
  '¥': ['JPY', 'CNY'],
  RS: ['INR', 'PKR', 'LKR', 'NPR', 'MUR'],
};
/** Currencies that ended, which the ledger does not take: what came in their place, how much of it was one, and since when. */
const ENDED: Readonly<Record<string, readonly [successor: string, rate: string, year: number]>> = {
  BGN: ['EUR', '1.95583', 2026],
  HRK: ['EUR', '7.5345', 2023],
  LTL: ['EUR', '3.4528', 2015],
  LVL: ['EUR', '0.702804', 2014],
  EEK: ['EUR', '15.6466', 2011],
  SKK: ['EUR', '30.126', 2009],
  ANG: ['XCG', '1', 2025],
  SLL: ['SLE', '1000', 2024],
  MRO: ['MRU', '10', 2018],
  STD: ['STN', '1000', 2018],
  BYR: ['BYN', '10000', 2016],
};
const ENDED_SIGNS: Readonly<Record<string, string>> = { ЛВ: 'BGN', KN: 'HRK', LT: 'LTL' };

/** For a currency that ended, in words what to send in its place; undefined for any other text. */
export function describeEnded(text: string): string | undefined {
  const sign = text.toUpperCase().replace(/[\s.]/g, '');
  const code = ENDED_SIGNS[sign] ?? sign;
  const [successor, rate, year] = ENDED[code] ?? [];
  if (successor === undefined) return undefined;
  return `the amount in ${successor}, which took the place of ${code} in ${year}: ${rate} ${code} are 1 ${successor}`;
}

/** Signs are folded to upper case; people write these otherwise. */
const WRITTEN: Readonly<Record<string, string>> = { KR: 'kr', RS: 'Rs' };

export type SignMeaning = { currency: string } | { sign: string; options: readonly string[] } | undefined;

const CODES = new Map<string, boolean>();

export function isCurrency(code: string): boolean {
  const isKnown = CODES.get(code) ?? Currency.safeParse(code).success;
  if (CODES.size < 1_000) CODES.set(code, isKnown);
  return isKnown;
}

const names = new Map<string, string>();

/** The currency with an English name such as `US Dollar`. */
function findNamed(name: string): string | undefined {
  if (names.size === 0) {
    const english = new Intl.DisplayNames('en', { type: 'currency' });
    for (const code of Intl.supportedValuesOf('currency').filter(isCurrency))
      names.set(english.of(code)?.toLowerCase() ?? code, code);
  }
  return names.get(name.trim().toLowerCase());
}

/** The sign in an amount such as `€1,100.50`; the text itself where it is no amount with a sign. */
export function readAmountSign(text: string): string {
  if (!/\d/.test(text)) return text;
  const [symbol, ...others] = readNumber(readEntities(text))?.symbols ?? [];
  return symbol === undefined || others.length > 0 ? text : symbol;
}

/** A currency column's cell: a code, a name, or a sign that means one. `GBp` are pence, and `ZAc` cents. */
export function readCurrency(text: string): string | undefined {
  if (/^(?:GBp|ZAc)$/.test(text)) return undefined;
  const code = text.trim().toUpperCase();
  if (isCurrency(code)) return code;
  const meaning = readSign(text);
  return meaning && 'currency' in meaning ? meaning.currency : findNamed(text);
}

/** A sign or word beside an amount; undefined for any other word. */
export function readSign(text: string): SignMeaning {
  const sign = text.toUpperCase().replace(/[\s.]/g, '');
  if (isCurrency(sign)) return { currency: sign };
  const currency = SIGNS[sign];
  if (currency !== undefined && isCurrency(currency)) return { currency };
  const options = SHARED[sign];
  if (options) return { sign: WRITTEN[sign] ?? sign, options };
  // $1,250.50 USD and USD $5 name the code beside the sign.
  const code = sign.replace(/\p{Sc}/gu, '');
  return code !== sign && isCurrency(code) ? { currency: code } : undefined;
}

/** The currency that a header names: in brackets, as in `Amount (EUR)`, or as `Amount EUR`, `EUR amount` or `Amount in €`. */
export function readHeaderSign(written: string): SignMeaning {
  const header = splitScale(written).rest;
  const bracket = /[([]\s*([^()[\]]{1,5})\s*[)\]]\s*$/.exec(header)?.[1];
  if (bracket !== undefined) return readSign(bracket);
  // Codes such as ALL and TOP are words where everything is written in capitals.
  const isShouted = header === header.toUpperCase();
  const words = header.split(/[\s_-]+/);
  const [last = ''] = words.slice(-1);
  if (words.length > 1 && /^\p{Sc}$/u.test(last)) return readSign(last);
  const code = [last, words[0]].find((word) => /^[A-Z]{3}$/.test(word ?? '') && isCurrency(word ?? ''));
  return code === undefined || words.length < 2 || isShouted ? undefined : { currency: code };
}

/** Currencies that are written with a dollar's sign: dollars, pesos and a few others. */
const DOLLARS = new Map<string, boolean>();
function isDollar(currency: string): boolean {
  const name = () => new Intl.DisplayNames('en', { type: 'currency' }).of(currency) ?? '';
  const isOne = DOLLARS.get(currency) ?? /dollar|peso|real$|córdoba|paʻanga|escudo/i.test(name());
  DOLLARS.set(currency, isOne);
  return isOne;
}

/** An amount's sign must agree with the currency that a column says. */
export function agrees(sign: string, currency: string): boolean {
  const meaning = readSign(sign);
  if (!meaning) return false;
  if ('currency' in meaning) return meaning.currency === currency;
  return meaning.options.includes(currency) || (meaning.sign === '$' && isDollar(currency));
}
