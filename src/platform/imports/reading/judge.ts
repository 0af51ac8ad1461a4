import { cleanCell, isNoValue, isNumericId, isPlaceholder } from './cells.ts';
import { findHeader } from './columns.ts';
import { agrees, describeEnded, readAmountSign, readCurrency, readSign } from './currencies.ts';
import type { Entry } from './entry.ts';
import { describeFault, findFault } from './faults.ts';
import { type Flag, readFlag } from './flags.ts';
import { fold } from './fold.ts';
import type { Format } from './formats/format.ts';
import { findFormatByKey } from './formats.ts';
import { isQuantity } from './line-totals.ts';
import { type MoneyRules, USES } from './money.ts';
import { readNumber, settleNumber, toMinorUnits } from './numbers.ts';
import type { Plan } from './plan.ts';
import { findReturns, type Returns } from './returns.ts';
import type { Goods, Line, ReadRecord, RecordOutcome, StatusMeaning } from './shapes.ts';
import { foldStatus, isGood, isPartialRefund, readStatus, readType } from './statuses.ts';
import { type Clock, readClock, settleTime } from './times.ts';
import { readZone, type Zone } from './zones.ts';

/** The result of judging the rows of one record, with everything that the reading needs besides. */
export interface Judged {
  line: Line;
  /** The rules that the record depends on, as bits of `USES`. */
  uses: number;
  /** The folded status, where the kind has one; `isUndecided` if nobody has said what it means. */
  status: { value: string; isUndecided: boolean } | null;
  money: { currency: string; amount: number; refunded: number } | null;
  /** The name of a person whom only a name says. */
  person: string | null;
  /** The rows name the person differently; the first name is kept. */
  isRenamed?: boolean;
  /** A handle could not be read. */
  isHandleLost?: boolean;
  /** The number of an account at a bank stood where an address is read. */
  isBankLost?: boolean;
  /** An address of somebody who is paid by Wise. */
  isOfWise?: boolean;
  /** The cell of an address has another one, which is not read. */
  hasOtherEmails?: boolean;
  /** A rate is an amount of money, which is not taken. */
  isRateLost?: boolean;
  /** Several rows of an order have its amount, which counts once. */
  repeatsAmount?: boolean;
  /** The meanings of the amount whose identity holds, as bits; 0 if none does, or none can be tried. */
  holding: number | null;
}

/** Judging needs this beside the plan. It is looked up once for all rows. */
export interface Bench {
  plan: Plan;
  format: Format | undefined;
  now: Date;
  leftOut: { position: number; values: ReadonlySet<string> | 'filled' | 'not_filled'; kind: string }[];
  /** The rules by which goods are read, and the meanings that identities are tried for. */
  rules: MoneyRules;
  goods: readonly Goods[];
  returns: Returns | undefined;
  nextCount: (key: string) => number;
  isRepeated: (entry: Entry) => boolean;
}

/** The meanings of the amount that the columns of a file allow. */
export function listGoods({ columns }: Pick<Plan, 'columns'>): Goods[] {
  const has = (field: string) => columns[field] !== undefined;
  const goods: Goods[] = [];
  if (has('amount')) goods.push('amount');
  if (has('subtotal')) goods.push('subtotal');
  if (has('subtotal') && has('discount')) goods.push('subtotal_less_discount');
  if (has('total')) goods.push(has('shipping') || has('taxes') || has('fees') ? 'total_less_rest' : 'total');
  return goods;
}

const OWN_KEY = 'rollcall';

function makeRules(plan: Plan, format: Format | undefined): MoneyRules {
  const goods = plan.goods ?? 'amount';
  return {
    goods,
    tax: plan.tax,
    taxInPrices: plan.taxInPrices,
    partialRefunds: plan.partialRefunds,
    adjustedZero: plan.adjustedZero,
    isSettled: format?.goods === goods,
    isOwn: format?.key === OWN_KEY && goods === 'amount',
    isCompared: plan.of === 'reconciliation',
    netOfRefunds: plan.netOfRefunds,
  };
}

export function prepareBench(plan: Plan, now: Date, counts: Pick<Bench, 'nextCount' | 'isRepeated'>): Bench {
  const format = findFormatByKey(plan.format);
  const leftOut = (format?.leftOut ?? []).flatMap(({ column, values, kind }) => {
    const position = findHeader(plan.headers, column);
    if (position < 0) return [];
    return [{ position, values: typeof values === 'string' ? values : new Set(values.map(fold)), kind }];
  });
  const returns = findReturns(format, plan);
  return { plan, format, now, leftOut, rules: makeRules(plan, format), goods: listGoods(plan), returns, ...counts };
}

/** A reason to refuse rows, and the field that it is about; in one of several rows, where only that one is wrong. */
export type Failure = { problem: string; field?: string; row?: number };
export const isFailure = (value: unknown): value is Failure =>
  typeof value === 'object' && value !== null && 'problem' in value;

const MESSAGES: Readonly<Record<string, string>> = {
  amount_missing: 'has no amount.',
  amount_unreadable: 'has an amount that cannot be read.',
  amounts_disagree: 'has parts that do not make its total.',
  too_many_decimals: 'has an amount with more decimals than its currency.',
  too_large: 'has an amount that is too large.',
  negative_amount: 'has a negative amount.',
  negative_quantity: 'has a negative quantity beside its amount, so that it came back.',
  currency_missing: 'has no currency.',
  currency_unknown: 'has a currency that does not exist.',
  currency_ended: 'has a currency that has ended, in which nothing can be recorded.',
  currency_contradicts: 'has a sign of another currency beside its amount.',
  time_missing: 'has no date.',
  time_unreadable: 'has a date that cannot be read.',
  clock_unreadable: 'has a time of day that cannot be read.',
  zone_unreadable: 'has a time zone that does not say one offset.',
  time_out_of_range: 'has a date before 1970 or after tomorrow.',
  no_identity: 'has no id and no number.',
  no_person: 'says of nobody.',
  email_unreadable: 'has an invalid email address.',
  handle_unreadable: 'has an invalid handle.',
  rate_unreadable: 'has a rate that cannot be read.',
  code_changed: 'has a code that a spreadsheet has changed.',
  code_unreadable: 'has more than a code in the cell of its code.',
  destination_unreadable: 'has a destination that is no web address.',
  contradicting_lines: 'says different things of one record.',
  not_paid: 'is not paid.',
  status: 'is left out by its status.',
  test: 'is a test.',
  zero: 'has an amount of zero.',
  totals: 'adds up the lines above.',
  header: 'repeats the header.',
  heading: 'heads the lines below it, and gives them its status.',
  note: 'is a note, or the heading of a group, and no record.',
  description: 'describes the columns.',
  repeated: 'repeats a line above.',
  unsubscribed: 'has unsubscribed.',
  not_captured: 'was not captured.',
  not_sent: 'is money that was not sent.',
  returned: 'came back.',
  returned_unmatched: 'is money that came back, and the payment that it is of is not in the file.',
  disputed: 'was lost to a dispute.',
  not_money: 'is not money.',
  status_unknown: 'has a status whose meaning becomes a question.',
  too_many_cells: 'has more cells than the header: a separator within a cell needs quotes around it.',
  no_payment: 'has no way of payment.',
};

export function explain(kind: string, lines: readonly number[]): string {
  const [first = 0, ...others] = lines;
  const firstOthers = others.slice(0, 4);
  const subject =
    firstOthers.length === 0 ? `Line ${first}` : `The record of lines ${[first, ...firstOthers].join(', ')}`;
  return `${subject} ${MESSAGES[kind] ?? 'cannot be read.'}`;
}

export function makeLine(
  entry: Entry,
  outcome: RecordOutcome,
  kind: string | null,
  lineFacts: Partial<Line> = {},
): Line {
  const [line = 0] = entry.lines;
  const message = kind === null ? null : explain(kind, entry.lines);
  const record: ReadRecord | null = lineFacts.record ?? null;
  const { known_by = null, status = null, fault = null } = lineFacts;
  return { line, lines: entry.lines, cells: entry.rows, outcome, kind, message, record, known_by, status, fault };
}

/** A refused record, with the cell for which it is refused. */
export function refuseLine(entry: Entry, plan: Plan, { problem, field, row }: Failure, status: string | null): Line {
  const rows = row === undefined ? entry.rows : entry.rows.slice(row, row + 1);
  const fault = findFault(plan, rows, problem, field);
  const line = makeLine(entry, 'refused', problem, { status, fault });
  return fault === null ? line : { ...line, message: `${line.message} ${describeFault(fault)}` };
}

export interface StatusSaid {
  value: string;
  meaning: StatusMeaning | undefined;
}

/** Any row of a record may name a loss; everything else is said once. */
const readRows = (flag: Flag, entry: Entry): string | undefined =>
  flag.by === 'loss'
    ? entry.texts(flag.position).flatMap((text) => readFlag(flag, text) ?? [])[0]
    : readFlag(flag, entry.first(flag.position));

/** The columns of each file that count pieces. They are looked for once, not for each row. */
const quantityColumns = new WeakMap<readonly string[], number[]>();
const COUNTS_PIECES = /^(?:net)?items?(?:sold)?$|^net(?:units|quantity)$/;

function listQuantities(headers: readonly string[]): number[] {
  const columns =
    quantityColumns.get(headers) ??
    headers.flatMap((header, at) => (isQuantity(header) || COUNTS_PIECES.test(fold(header)) ? [at] : []));
  quantityColumns.set(headers, columns);
  return columns;
}

/** Some row has pieces below zero beside an amount above: they came back, as tills and warehouses write it. */
export function hasNegativePieces({ rows }: Entry, { headers }: Plan, amount: number | undefined): boolean {
  if (amount === undefined) return false;
  const isAbove = (cells: readonly string[]) => {
    const number = readNumber(cleanCell(cells[amount] ?? ''));
    return number !== undefined && !number.value.isNegative && /[1-9]/.test(number.value.digits);
  };
  const isBelow = (cells: readonly string[], at: number) => {
    const text = cleanCell(cells[at] ?? '');
    return /^[-−–(]/.test(text) && (readNumber(text)?.value.isNegative ?? false);
  };
  return listQuantities(headers).some((at) => rows.some((cells) => isBelow(cells, at) && isAbove(cells)));
}

/** The status of a record; null where the file has none. */
export function findStatus(entry: Entry, plan: Plan): StatusSaid | null {
  const text = entry.text(plan, 'status');
  const ownValue = foldStatus(text);
  const own = {
    value: ownValue,
    meaning: plan.statuses[ownValue] ?? (text === '' ? undefined : readStatus(plan.of, text)),
  };
  // A record that its status loses needs no question about what else is lost of it.
  const isLost = plan.hasStatuses && own.meaning !== undefined && !isGood(own.meaning);
  const flagged = plan.flags.flatMap((flag): StatusSaid[] => {
    const value = readRows(flag, entry);
    const meaning = value === undefined ? undefined : readMeaning(value, plan);
    const isSaid = isLost && meaning === undefined && (flag.by === 'loss' || flag.by === 'filled');
    return value === undefined || isSaid ? [] : [{ value, meaning }];
  });
  // Below the end of a section nothing is said, unless the row itself has a status.
  for (const value of entry.sections)
    if (value !== '' || text === '') flagged.push({ value, meaning: readMeaning(value, plan) });
  // A flag by which the record counts leaves it to the other columns whether it does.
  const open = flagged.filter(({ meaning, value }) => !isGood(meaning) || isPartialRefund(value));
  const decisive = open.find(({ value }) => value !== '') ?? open[0];
  if (decisive) return decisive;
  return plan.hasStatuses ? own : (flagged[0] ?? null);
}

const readMeaning = (value: string, { statuses, of }: Plan): StatusMeaning | undefined =>
  statuses[foldStatus(value)] ?? readStatus(of, value) ?? readType(of, value);

/** The reason for which a tool's own file leaves a row out. */
export function findLeftOut(entry: Entry, { leftOut }: Bench): string | undefined {
  return leftOut.find(({ position, values }) => {
    const text = entry.first(position);
    if (typeof values === 'string') return (text !== '') === (values === 'filled');
    return values.has(fold(text));
  })?.kind;
}

/** An amount such as 1,250.00 or 12,50 that stood without quotes between commas. */
const isSplit = (cells: readonly string[], { decimals }: Plan): boolean =>
  Object.keys(decimals).some(
    (at) => /^\D{0,4}\d{1,3}$/.test(cells[Number(at)] ?? '') && /^\d{2,3}(?:\.\d+)?$/.test(cells[Number(at) + 1] ?? ''),
  );

/** Filled cells beyond the header refuse a row, because nothing says what they are. */
export const hasExtraCells = (entry: Entry, plan: Plan): boolean =>
  entry.rows.some(
    (cells) =>
      cells.length > plan.headers.length &&
      (cells.slice(plan.headers.length).some((cell) => cell.trim() !== '') || isSplit(cells, plan)),
  );

export interface Money {
  currency: string;
  uses: number;
}

function findSymbols(entry: Entry, plan: Plan, fields: readonly string[]): string[] {
  return fields.flatMap((field) => {
    const text = entry.text(plan, field);
    return text === '' ? [] : (entry.number(text)?.symbols ?? []);
  });
}

/** The currency by the signs beside amounts; several different ones contradict each other. */
function readSymbols(symbols: readonly string[], plan: Plan): string | undefined | Failure {
  const currencies = new Set<string>();
  for (const symbol of symbols) {
    const meaning = readSign(symbol);
    if (!meaning) return { problem: describeEnded(symbol) === undefined ? 'amount_unreadable' : 'currency_ended' };
    const currency = 'currency' in meaning ? meaning.currency : plan.symbols[meaning.sign];
    if (currency !== undefined) currencies.add(currency);
  }
  const [currency, ...others] = currencies;
  const isOdd =
    others.length > 0 ||
    (currency !== undefined && !symbols.every((each) => agrees(each, currency) || isChosen(each, plan)));
  return isOdd ? { problem: 'currency_contradicts' } : currency;
}

function isChosen(symbol: string, { symbols }: Plan): boolean {
  const meaning = readSign(symbol);
  return meaning !== undefined && 'sign' in meaning && symbols[meaning.sign] !== undefined;
}

/** The sign of an amount; nothing of an amount without one. */
function readLoneSign(text: string): string {
  const sign = readAmountSign(text);
  return sign === text && readNumber(text) ? '' : sign;
}

/** The currency of a record: its column, else a sign beside its amounts, else what the file was said to be in. */
export function findCurrency(entry: Entry, { plan, format }: Bench, fields: readonly string[]): Money | Failure {
  const cell = plan.columns.currency === undefined ? '' : entry.first(plan.columns.currency);
  const text = format?.hasSignedCurrency ? readLoneSign(cell) : cell;
  const isIgnored = !plan.hasSymbols || (format?.ignoresSigns && text !== '');
  const symbols = isIgnored ? [] : findSymbols(entry, plan, fields);
  if (text !== '') {
    const sign = readSign(text);
    const currency = readCurrency(text) ?? (sign && 'sign' in sign ? plan.symbols[sign.sign] : undefined);
    if (currency === undefined)
      return { problem: describeEnded(text) === undefined ? 'currency_unknown' : 'currency_ended' };
    const ofHeader = plan.headerCurrency ?? currency;
    if (ofHeader !== currency) return { problem: 'currency_contradicts' };
    if (symbols.some((symbol) => readSign(symbol) === undefined)) return { problem: 'amount_unreadable' };
    const isOdd = symbols.some((symbol) => !agrees(symbol, currency));
    return isOdd ? { problem: 'currency_contradicts' } : { currency, uses: 0 };
  }
  const said = readSymbols(symbols, plan);
  if (isFailure(said)) return said;
  if (said !== undefined && said !== (plan.headerCurrency ?? said)) return { problem: 'currency_contradicts' };
  if (said !== undefined) return { currency: said, uses: 0 };
  const { currency } = plan;
  return currency === null ? { problem: 'currency_missing' } : { currency, uses: USES.currency };
}

/** A dash, which spreadsheets write for nothing, with or without a currency: `-`, `$ -`, `– €`. */
const isDash = (text: string): boolean => /^[\p{Sc}\s]*[-–—][\p{Sc}\s]*$/u.test(text);

/** An amount of a record in minor units; undefined if the cell is empty. */
export function findAmount(entry: Entry, plan: Plan, field: string, currency: string): number | undefined | Failure {
  const text = entry.text(plan, field);
  if (text === '' || isDash(text)) return undefined;
  if (text.includes('amount:')) return sumRefunds(entry, text, currency, plan);
  const number = entry.number(text);
  if (!number) return { problem: 'amount_unreadable', field };
  const position = plan.columns[field];
  const value = settleNumber(number, (position === undefined ? undefined : plan.decimals[position]) ?? '.', currency);
  const power = position === undefined ? undefined : plan.scales?.[position];
  const result = toMinorUnits(power ? { ...value, scale: value.scale - power } : value, currency, plan.unit);
  return 'minor' in result ? result.minor : { ...result, field };
}

/** WebToffee writes the refunds of an order as `amount:12.50|date:…`, one after the other. */
function sumRefunds(entry: Entry, text: string, currency: string, plan: Plan): number | Failure {
  let sum = 0;
  for (const [, amount = ''] of text.matchAll(/amount:\s*([^|;,\s]+)/g)) {
    const number = entry.number(amount);
    const result = number ? toMinorUnits(settleNumber(number, '.', currency), currency, plan.unit) : undefined;
    if (!result || 'problem' in result) return { problem: 'amount_unreadable' };
    sum += Math.abs(result.minor);
  }
  return sum;
}

interface TimeColumns {
  clock: Clock | null;
  zone: Zone | null;
}

/** The time of day and the zone that stand in columns of their own. */
function findBeside(entry: Entry, plan: Plan, isMain: boolean): TimeColumns | Failure {
  const clockText = isMain ? entry.text(plan, 'time') : '';
  const zoneText = entry.text(plan, 'time_zone');
  const clock = clockText === '' ? null : readClock(clockText);
  const zone = zoneText === '' ? null : readZone(zoneText);
  if (clock === undefined) return { problem: 'clock_unreadable', field: 'time' };
  return zone === undefined ? { problem: 'zone_unreadable', field: 'time_zone' } : { clock, zone };
}

const DEFAULT_TIME = { order: 'dmy', languages: ['en'], digits: null } as const;
const UTC: Zone = { offsets: [0] };

/** A cell of a time that says that there is none, as exports fill their blanks. */
export const saysNothing = (text: string): boolean =>
  isPlaceholder(text) ||
  isNoValue(text) ||
  isDash(text) ||
  /^(?:never|no|false|empty|nie|nein|jamais|non|nunca|mai|nooit)$/i.test(text);

/** A moment as ISO 8601; null if the cell says nothing. */
export function findTime(entry: Entry, { plan, now }: Bench, field: string, isMain: boolean): string | null | Failure {
  const text = entry.text(plan, field);
  if (text === '' || saysNothing(text)) return null;
  const cell = entry.time(text);
  if (!cell) return { problem: 'time_unreadable', field };
  const position = plan.columns[field];
  const reading = (position === undefined ? undefined : plan.times[position]) ?? DEFAULT_TIME;
  const beside = findBeside(entry, plan, isMain);
  if (isFailure(beside)) return beside;
  const isUtc = position !== undefined && plan.utc.includes(position);
  const ofHeader = position === undefined ? undefined : plan.zones?.[position];
  const zone = isUtc ? UTC : (beside.zone ?? (ofHeader === undefined ? null : (readZone(ofHeader) ?? null)));
  const instant = settleTime(cell, { ...reading, timeZone: plan.timeZone }, { clock: beside.clock, zone }, now);
  if ('atMs' in instant) return new Date(instant.atMs).toISOString();
  const isOfZone = instant.problem === 'zone_unreadable' && beside.zone !== null && cell.zone === null;
  return { ...instant, field: isOfZone ? 'time_zone' : field };
}

/** An id as text; empty where the column is damaged. */
export function findId(entry: Entry, plan: Plan, field: string): string {
  const position = plan.columns[field];
  if (position !== undefined && plan.damaged.includes(position)) return '';
  const text = entry.text(plan, field).slice(0, 200);
  if (isPlaceholder(text) || isNoValue(text)) return '';
  const isNumber = position !== undefined && plan.numbered?.includes(position) && isNumericId(text);
  return isNumber ? text.replace(/\.0$|\D/g, '') : text;
}

/** Text of a tool that writes a backslash before quotes, without it. */
export const findText = (entry: Entry, { plan, format }: Pick<Bench, 'plan' | 'format'>, field: string): string => {
  const text = entry.text(plan, field);
  return format?.hasSlashes ? text.replaceAll("\\'", "'") : text;
};
