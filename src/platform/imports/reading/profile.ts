import { cleanCell, isDatedId, isNumberedId, isNumericId, isPointedId, isRounded, isScientific } from './cells.ts';
import { readAmountSign } from './currencies.ts';
import type { FieldType } from './kinds.ts';
import { readNumber } from './numbers.ts';
import { readEmail, readHandle } from './people.ts';
import type { DecimalSign } from './shapes.ts';
import { foldStatus } from './statuses.ts';
import {
  DATE_ORDERS,
  guessDigits,
  isAmbiguous,
  isIsoTime,
  mayBe,
  monthWord,
  readTime,
  type TimeCell,
} from './times.ts';

/** Lines that something is true of: how many, and the first of them. */
export interface LineList {
  count: number;
  first: number[];
}

const FIRST_LINES = 10;
const MOST_VALUES = 300;

export function addLine(list: LineList, line: number): void {
  list.count += 1;
  if (list.first.length < FIRST_LINES) list.first.push(line);
}

const emptyList = (): LineList => ({ count: 0, first: [] });

/** The cells of one column strike out readings of each type that it may have. */
export interface ColumnProfile {
  filled: number;
  samples: string[];
  /** A digest of all cells, by which two columns are found to be the same. */
  digest: number;
  money: {
    read: number;
    signs: Record<DecimalSign, boolean>;
    open: LineList;
    /** The marks of open cells. */
    openMarks: Set<DecimalSign>;
    /** Cells that have decimals in every reading. */
    fractions: number;
    /** Cells without decimals, or with open ones. */
    whole: LineList;
    nonZero: number;
    symbols: Map<string, LineList>;
    percents: number;
    mostTenths: boolean;
    /** Rates above zero that may be shares. */
    shares: number;
  };
  time: {
    read: number;
    orders: Record<(typeof DATE_ORDERS)[number], LineList>;
    words: Set<string>;
    digits: Set<string>;
    texts: number;
    /** Cells that the order of day and month makes a difference to; those with slashes, and with the names of months. */
    ordered: number;
    slashed: number;
    named: number;
    /** The first cell that is another day in another order. */
    example: string | null;
  };
  /** Cells of digits alone, those of them with marks as numbers have, and short ones, which a number has without marks. */
  id: {
    scientific: number;
    long: number;
    rounded: number;
    numeric: number;
    numbered: number;
    pointed: number;
    short: number;
    /** Days that a spreadsheet made of ids such as `10-26`, and ids that are written so. */
    dated: number;
    dashed: number;
  };
  email: number;
  handle: number;
  values: Map<string, LineList>;
}

export function startProfile(): ColumnProfile {
  return {
    filled: 0,
    samples: [],
    digest: 0,
    money: {
      read: 0,
      signs: { '.': false, ',': false },
      open: emptyList(),
      openMarks: new Set(),
      fractions: 0,
      whole: emptyList(),
      nonZero: 0,
      symbols: new Map(),
      percents: 0,
      mostTenths: true,
      shares: 0,
    },
    time: {
      read: 0,
      orders: { dmy: emptyList(), mdy: emptyList(), ymd: emptyList() },
      words: new Set(),
      digits: new Set(),
      texts: 0,
      ordered: 0,
      slashed: 0,
      named: 0,
      example: null,
    },
    id: { scientific: 0, long: 0, rounded: 0, numeric: 0, numbered: 0, pointed: 0, short: 0, dated: 0, dashed: 0 },
    email: 0,
    handle: 0,
    values: new Map(),
  };
}

const PLAIN_MONEY = /^-?\d{1,15}\.\d{1,2}$/;

function profileMoney({ money }: ColumnProfile, text: string, line: number): void {
  if (PLAIN_MONEY.test(text)) {
    money.read += 1;
    money.signs['.'] = true;
    money.fractions += 1;
    if (text !== '0.00') money.nonZero += 1;
    return;
  }
  const number = readNumber(text);
  if (!number) return;
  money.read += 1;
  if (number.sign !== null) money.signs[number.sign] = true;
  if (number.open) {
    addLine(money.open, line);
    money.openMarks.add(number.open.mark);
  }
  if (number.value.scale > 0) money.fractions += 1;
  if (number.value.digits !== '0') {
    money.nonZero += 1;
    if (number.value.scale === 0) addLine(money.whole, line);
  }
  for (const symbol of number.symbols) addValue(money.symbols, symbol, line);
}

function addValue(values: Map<string, LineList>, value: string, line: number): void {
  const list = values.get(value) ?? emptyList();
  if (!values.has(value) && values.size >= MOST_VALUES) return;
  values.set(value, list);
  addLine(list, line);
}

function profileTime({ time }: ColumnProfile, text: string, line: number, nextYear: number): void {
  if (isIsoTime(text)) {
    time.read += 1;
    time.texts += 1;
    return;
  }
  const cell: TimeCell | undefined = readTime(text);
  if (!cell) return;
  time.read += 1;
  const { form } = cell.date;
  if (form === 'digits') {
    time.digits.add(guessDigits(cell) ?? '');
    return;
  }
  time.texts += 1;
  const word = monthWord(cell);
  if (word !== null && time.words.size < MOST_VALUES) time.words.add(word);
  if (form === 'iso' || (cell.date.form === 'named' && !cell.date.lastIsShort)) return;
  time.ordered += 1;
  if (form === 'named') time.named += 1;
  if (text.includes('/')) time.slashed += 1;
  if (time.example === null && isAmbiguous(cell)) time.example = text.slice(0, 40);
  for (const order of DATE_ORDERS) if (!mayBe(cell, order, nextYear)) addLine(time.orders[order], line);
}

function profileId({ id }: ColumnProfile, text: string): void {
  if (isScientific(text)) id.scientific += 1;
  if (isDatedId(text)) id.dated += 1;
  if (/^\d{1,2}-\d{1,4}$/.test(text)) id.dashed += 1;
  if (isNumericId(text)) id.numeric += 1;
  if (isNumberedId(text)) id.numbered += 1;
  else if (isPointedId(text)) id.pointed += 1;
  else if (/^\d{1,3}$/.test(text)) id.short += 1;
  if (text.length <= 15 || !/^\d+$/.test(text)) return;
  id.long += 1;
  if (isRounded(text)) id.rounded += 1;
}

const SMALL = /^0?[.,]\d+$|^[01]$|^1[.,]0+$/;

function profileRate(profile: ColumnProfile, text: string): void {
  if (!readNumber(text.replace('%', ''))) return;
  profile.money.read += 1;
  if (text.includes('%')) profile.money.percents += 1;
  else if (!SMALL.test(text)) profile.money.mostTenths = false;
  else if (/[1-9]/.test(text)) profile.money.shares += 1;
}

/** A running digest; 31 and 2^32 suffice to tell columns apart that differ in a cell. */
const digestText = (digest: number, text: string): number => {
  let sum = Math.imul(digest, 31) + 7;
  for (let at = 0; at < text.length; at += 1) sum = Math.imul(sum, 31) + text.charCodeAt(at);
  return sum | 0;
};

/** Adds a cell to what is known of its column. */
export function profileCell(
  profile: ColumnProfile,
  raw: string,
  types: ReadonlySet<FieldType>,
  line: number,
  nextYear: number,
  isPlain = false,
): void {
  profile.digest = digestText(profile.digest, raw);
  if (raw === '') return;
  const text = cleanCell(raw, isPlain);
  if (text === '') return;
  profile.filled += 1;
  if (profile.samples.length < 3) profile.samples.push(text.slice(0, 200));
  for (const type of types) {
    if (type === 'money') profileMoney(profile, text, line);
    else if (type === 'time') profileTime(profile, text, line, nextYear);
    else if (type === 'id') profileId(profile, text);
    else if (type === 'status' || type === 'flag') addValue(profile.values, foldStatus(text), line);
    else if (type === 'currency') addValue(profile.values, readAmountSign(text), line);
    else if (type === 'email') profile.email += readEmail(text) === undefined ? 0 : 1;
    else if (type === 'handle') profile.handle += readHandle(text) === undefined ? 0 : 1;
    else if (type === 'rate') profileRate(profile, text);
  }
}
