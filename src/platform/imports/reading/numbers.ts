import { getDecimals } from '../../../kit/values/decimals.ts';
import type { DecimalSign } from './shapes.ts';

/** A number exactly as it was written: `digits / 10^scale`. */
export interface Decimal {
  isNegative: boolean;
  digits: string;
  scale: number;
}

export interface NumberCell {
  value: Decimal;
  /** The sign that this cell proves to separate decimals; null if it has none, or may have either. */
  sign: DecimalSign | null;
  /** The other value of a cell such as `1.250`, whose mark may separate decimals; `value` takes it as grouping. */
  open: { mark: DecimalSign; asDecimal: Decimal } | null;
  /** The signs and words of currencies around the number. */
  symbols: string[];
}

const MOST_MINOR = 1_000_000_000_000;
const PLAIN = /^(-?)(\d{1,15})(?:\.(\d{1,2}))?$/;
const OUTER = /^([^\d]*)(\d(?:[\d.,'’_ ]*\d)?)([^\d]*)$/;
const THREES = /^\d{1,3}(?:([.,' ])\d{3})(?:\1\d{3})*$/;
const LAKHS = /^\d{1,2}(?:,\d{2})+,\d{3}$/;
const DIGIT = /\p{Nd}/u;
const FOREIGN_DIGITS = /(?![0-9])\p{Nd}/gu;
const MINUS = /[-−–—]/g;
const OPPOSITE = { '.': ',', ',': '.' } as const;

/** Blocks of decimal digits begin at a code point that ends in 0 or 6. */
function readDigit(digit: string): string {
  const code = digit.codePointAt(0) ?? 0;
  const base = code - (code % 16);
  const zero = DIGIT.test(String.fromCodePoint(base)) ? base : base + 6;
  return String(code - zero);
}

/** Digits of any script as ASCII. */
export const toDigits = (text: string): string =>
  /[^ -~]/.test(text) ? text.replace(FOREIGN_DIGITS, readDigit) : text;

function normalize(text: string): string {
  const isAscii = !/[^ -~]/.test(text);
  const ascii = isAscii
    ? text
    : text
        .normalize('NFKC')
        .replace(FOREIGN_DIGITS, readDigit)
        .replaceAll('٬', "'")
        .replace(/[\p{Zs}\u200b\u200e\u200f\u2066-\u2069]/gu, ' ');
  return ascii.replaceAll('’', "'").trim();
}

const decimal = (isNegative: boolean, whole: string, fraction = ''): Decimal => ({
  isNegative,
  digits: (whole + fraction).replace(/^0+(?=\d)/, ''),
  scale: fraction.length,
});

const isGrouped = (text: string) => THREES.test(text) || LAKHS.test(text);
const bare = (text: string) => text.replace(/[.,' ]/g, '');

type Core = Pick<NumberCell, 'value' | 'sign' | 'open'>;

/** One kind of mark in the digits. */
function readOneMark(core: string, mark: DecimalSign, isNegative: boolean): Core | undefined {
  const parts = core.split(mark);
  if (parts.length > 2) {
    if (!isGrouped(core)) return undefined;
    return { value: decimal(isNegative, bare(core)), sign: OPPOSITE[mark], open: null };
  }
  const [whole = '', fraction = ''] = parts;
  const hasGroups = /[' ]/.test(whole);
  if (/[' ]/.test(fraction) || (hasGroups && !isGrouped(whole))) return undefined;
  const asDecimal = decimal(isNegative, bare(whole), fraction);
  const isOpen = fraction.length === 3 && !hasGroups && /^[1-9]\d{0,2}$/.test(whole);
  if (!isOpen) return { value: asDecimal, sign: mark, open: null };
  return { value: decimal(isNegative, whole + fraction), sign: null, open: { mark, asDecimal } };
}

function readCore(core: string, isNegative: boolean): Core | undefined {
  const [hasPoint, hasComma] = [core.includes('.'), core.includes(',')];
  if (!hasPoint && !hasComma) {
    if (/[^\d]/.test(core) && !THREES.test(core)) return undefined;
    return { value: decimal(isNegative, bare(core)), sign: null, open: null };
  }
  if (!hasPoint || !hasComma) return readOneMark(core, hasPoint ? '.' : ',', isNegative);
  const mark = core.lastIndexOf('.') > core.lastIndexOf(',') ? '.' : ',';
  const [whole = '', fraction = '', more] = core.split(mark);
  if (more !== undefined || !isGrouped(whole) || !/^\d+$/.test(fraction)) return undefined;
  return { value: decimal(isNegative, bare(whole), fraction), sign: mark, open: null };
}

interface Affixes {
  isNegative: boolean;
  symbols: string[];
}

/** Signs and currencies before and after the digits; undefined if anything else stands there. */
function readAffixes(before: string, after: string): Affixes | undefined {
  const isBracketed = before.includes('(') && after.includes(')');
  const all = [isBracketed ? before.replace('(', '') : before, isBracketed ? after.replace(')', '') : after];
  const minuses = all.join(' ').match(MINUS)?.length ?? 0;
  if (minuses > 1 || (minuses === 1 && isBracketed)) return undefined;
  const symbols = all.flatMap((part) => {
    const symbol = part.replace(MINUS, '').replace('+', '').trim();
    return symbol === '' ? [] : [symbol];
  });
  if (
    symbols.some((symbol) => !/^(?:\p{L}\.?){0,4}[\p{Sc}.]?$|^\p{Sc}\s?\p{L}{2,3}$|^\p{L}{3}\s?\p{Sc}$/u.test(symbol))
  )
    return undefined;
  return { isNegative: minuses === 1 || isBracketed, symbols };
}

/** An amount or a count as people write it; undefined for any other cell. */
export function readNumber(text: string): NumberCell | undefined {
  const plain = PLAIN.exec(text);
  if (plain) {
    const [, minus, whole = '', fraction] = plain;
    return {
      value: decimal(minus === '-', whole, fraction),
      sign: fraction === undefined ? null : '.',
      open: null,
      symbols: [],
    };
  }
  if (text.length > 60) return undefined;
  const normal = normalize(text);
  const isArabic = normal.includes('٫');
  const outer = OUTER.exec(normal.replace('٫', '.'));
  if (!outer) return undefined;
  let [, before = '', core = '', after = ''] = outer;
  // 100,- and 100.-- and 100/- are whole amounts; .50 is half of one.
  after = after.replace(/^(?:[.,](?:--?|[–—])|\/-)/, '');
  const lone = /(?:^|[^\p{L}])([.,])$/u.exec(before)?.[1];
  if (lone) {
    if (!/^\d+$/.test(core)) return undefined;
    before = before.slice(0, -1);
    core = `0${lone}${core}`;
  }
  const affixes = readAffixes(before, after);
  const number = affixes && readCore(core, affixes.isNegative);
  if (!affixes || !number) return undefined;
  if (isArabic && number.open)
    return { value: number.open.asDecimal, sign: null, open: null, symbols: affixes.symbols };
  return { ...number, symbols: affixes.symbols };
}

/**
 * The number of a cell under a decimal sign. Cells that say it themselves keep what they say, and a currency without
 * decimals has only marks that separate thousands.
 */
export function settleNumber(cell: NumberCell, sign: DecimalSign, currency: string): Decimal {
  return cell.open?.mark === sign && getDecimals(currency) > 0 ? cell.open.asDecimal : cell.value;
}

export type MinorResult = { minor: number } | { problem: 'too_many_decimals' | 'too_large' };

/** Minor units, exactly; `unit` says what the file counts in. */
export function toMinorUnits(value: Decimal, currency: string, unit: 'major' | 'minor'): MinorResult {
  const decimals = unit === 'minor' ? 0 : getDecimals(currency);
  const excess = value.scale - decimals;
  const keptDigits = excess > 0 ? value.digits.padStart(excess + 1, '0').slice(0, -excess) : value.digits;
  if (excess > 0 && !/^0*$/.test(value.digits.slice(-excess))) return { problem: 'too_many_decimals' };
  const minor = Number(excess > 0 ? keptDigits : keptDigits + '0'.repeat(-excess));
  if (minor > MOST_MINOR) return { problem: 'too_large' };
  return { minor: value.isNegative && minor !== 0 ? -minor : minor };
}

/** A percentage in millionths; undefined with more than four decimals, or when the cell is not a number. */
export function readPpm(text: string, scale: 'percent' | 'fraction'): number | undefined {
  const number = readNumber(text.replace(/\s*[%٪]\s*$|^\s*[%٪]\s*/, ''));
  if (!number || number.symbols.length > 0) return undefined;
  // A rate has no groups of digits.
  const value = number.open ? number.open.asDecimal : number.value;
  const isPercent = scale === 'percent' || /[%٪]/.test(text);
  const result = toMinorUnits({ ...value, scale: value.scale - (isPercent ? 4 : 6) }, 'JPY', 'minor');
  return 'minor' in result && result.minor >= 0 ? result.minor : undefined;
}

const MULTIPLES: readonly (readonly [RegExp, number])[] = [
  [/^(?:k|tsd\.?|tys\.?|mila|mil)$/i, 3],
  [/^[万萬만]$/, 4],
  [/^(?:lakhs?|lacs?)$/i, 5],
  [/^(?:m|mi|mio\.?|mln\.?|million|millions|millionen|millones|milhões)$/i, 6],
  [/^(?:crores?|cr\.?)$/i, 7],
  [/^[亿億억]$/, 8],
  [/^(?:b|bn|mrd\.?|mld\.?|md|billion)$/i, 9],
];

/**
 * A count such as 475.8m, 1,2 Mio or 12.000. Counts are whole, so a mark before three digits groups them, but below a
 * header that says thousands or millions it may be either.
 */
export function readCount(text: string, headerPower = 0): number | undefined {
  const match = /^\s*([\d.,'’\s\u00a0\u202f]*\d)\s*(\p{L}*\.?)\+?\s*$/u.exec(text);
  const number = match && readNumber(match[1] ?? '');
  if (!match || !number) return undefined;
  const word = match[2] ?? '';
  const power = word === '' ? Math.max(headerPower, 0) : MULTIPLES.find(([pattern]) => pattern.test(word))?.[1];
  if (power === undefined || (word === '' && power > 0 && number.open)) return undefined;
  const value = power > 0 && number.open ? number.open.asDecimal : number.value;
  const result = toMinorUnits({ ...value, scale: value.scale - power }, 'JPY', 'minor');
  return 'minor' in result ? result.minor : undefined;
}
