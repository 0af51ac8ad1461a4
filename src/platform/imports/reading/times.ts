import { DAY_MS } from '../../../kit/values/duration.ts';
import { datesIn } from '../../../kit/values/format.ts';
import { toInstant } from '../../../kit/values/time-zone.ts';
import { findLanguages, findMonth, foldWord, readMonth } from './months.ts';
import { toDigits } from './numbers.ts';
import type { DateOrder } from './shapes.ts';
import { NOON_MS, readZone, resolveZone, type Zone } from './zones.ts';

export const DATE_ORDERS = ['dmy', 'mdy', 'ymd'] as const satisfies readonly DateOrder[];

/** A date's writing, as far as the cell itself says. */
type DateText =
  | { form: 'iso'; year: number; month: number; day: number }
  | { form: 'numeric'; parts: readonly [number, number, number]; isShort: boolean; mayStartWithYear: boolean }
  | { form: 'named'; word: string; first: number; last: number; lastIsShort: boolean }
  | { form: 'digits'; digits: string; fraction: string };

export interface TimeCell {
  date: DateText;
  /** Milliseconds since midnight; null for a date alone. */
  clockMs: number | null;
  zone: Zone | null;
}

const CLOCK_TIME = /^(\d{1,2})[:.h](\d{2})(?::(\d{2})(?:[.,](\d{1,9}))?)?(?:\s*([ap])\.?\s?m\.?(?=\s|$))?/i;
const CLOCK_ZONE = /^\s*\(?([A-Za-z][A-Za-z_/]*(?:[+-]\d{1,2}(?::?\d{2})?)?|[+-]\d{2}:?\d{2}|[+-]\d{1,2})?\)?$/i;
const ISO_ZONED =
  /^(\d{4})-(\d{2})-(\d{2})[ T]([01]\d|2[0-3]):([0-5]\d):([0-5]\d)(?:\.(\d{1,9}))? ?(Z|UTC|[+-]\d{2}:?\d{2})?$/;

/** The commonest way of writing a time, which every order of day and month reads the same. */
export const isIsoTime = (text: string): boolean => ISO_ZONED.test(text);

export interface Clock {
  clockMs: number;
  zone: Zone | null;
}

/** A time of day such as `10:00`, `10:00:00 AM GMT+1` or `11:01:13 +0200`. */
export function readClock(text: string): Clock | undefined {
  const clock = text.trim().replace(/(?<=\d)\s*(?:uhr|hrs?|h)$/i, '');
  const match = CLOCK_TIME.exec(clock);
  const after = match && CLOCK_ZONE.exec(clock.slice(match[0].length));
  if (!match || !after) return undefined;
  const [, hour = '', minute = '', second = '0', fraction = '', half] = match;
  const zoneText = after[1];
  let hours = Number(hour);
  if (half !== undefined) {
    if (hours < 1 || hours > 12) return undefined;
    hours = (hours % 12) + (half.toLowerCase() === 'p' ? 12 : 0);
  }
  if (hours > 23 || Number(minute) > 59 || Number(second) > 59) return undefined;
  const zone = zoneText === undefined ? null : readZone(zoneText);
  if (zone === undefined) return undefined;
  const ms = Number(fraction.padEnd(3, '0').slice(0, 3));
  return { clockMs: ((hours * 60 + Number(minute)) * 60 + Number(second)) * 1_000 + ms, zone };
}

const DATE_THEN_CLOCK =
  /^(.*?\d{1,4}\S{0,2}?)(?:[T ,]|\s+at|\s+um|\s+à|\s+o|\s+-)+\s*(\d{1,2}[:h]\d{2}.*|\d{1,2}\.\d{2}(?:\s.*)?)$/i;

const IDEOGRAPHS = /[\u3400-\u9fff\uac00-\ud7af]/;
const ASIAN_WEEKDAY =
  /\s?(?:\([月火水木金土日월화수목금토일](?:曜日?|요일)?\)|[月火水木金土日]曜日?|[월화수목금토일]요일|(?:星期|周|週|礼拜)[一二三四五六日天])/u;
const padTwo = (digits: string) => digits.padStart(2, '0');

/** Times of day as Chinese, Japanese and Korean write them, as `15:05`: `下午3:05`, `오후 3:05`, `15時05分`. They may touch the date. */
function plainClock(text: string): string {
  if (!IDEOGRAPHS.test(text)) return text;
  return text
    .replace(
      /(\d{1,2})\s?[時时시]\s?(?:(\d{1,2})\s?[分분])?(?:\s?(\d{1,2})\s?[秒초])?/u,
      (_, hour: string, minute = '0', second = '0') => `${hour}:${padTwo(minute)}:${padTwo(second)}`,
    )
    .replace(
      /(?:(上午|午前|오전)|下午|午後|오후)\s?(\d{1,2})(?=:\d{2})/u,
      (all, morning: string | undefined, hour: string) =>
        Number(hour) > 12 ? all : ` ${(Number(hour) % 12) + (morning === undefined ? 12 : 0)}`,
    )
    .replace(ASIAN_WEEKDAY, ' ')
    .replace(/(?<=[日일])(?=\d{1,2}:)/u, ' ');
}

function readNumericDate(text: string): DateText | undefined {
  const iso = /^(\d{4})\s?([-/.])\s?(\d{1,2})\s?\2\s?(\d{1,2})\.?$/.exec(text);
  if (iso) return { form: 'iso', year: Number(iso[1]), month: Number(iso[3]), day: Number(iso[4]) };
  const compact = /^(\d{4})(\d{2})(\d{2})$/.exec(text);
  if (compact) return { form: 'iso', year: Number(compact[1]), month: Number(compact[2]), day: Number(compact[3]) };
  const match = /^(\d{1,2})\s?([-/.\s])\s?(\d{1,2})\s?\2\s?(\d{4}|\d{2})\.?$/.exec(text);
  if (!match) return undefined;
  const [, first = '', , second = '', third = ''] = match;
  const isShort = third.length === 2;
  const parts = [Number(first), Number(second), Number(third)] as const;
  return { form: 'numeric', parts, isShort, mayStartWithYear: isShort && first.length === 2 };
}

const FILLER = new Set([
  'de',
  'of',
  'the',
  'del',
  'den',
  'le',
  'el',
  'di',
  'r',
  'г',
  'года',
  'พศ',
  'st',
  'nd',
  'rd',
  'th',
  'er',
  'do',
  'd',
]);

const BUDDHIST_YEARS = 543;

/** Thai dates have the year of the Buddhist era, with or without its name. */
function readYear(digits: string, text: string): number {
  const number = Number(digits);
  return number > 2_400 && /\p{Script=Thai}/u.test(text) ? number - BUDDHIST_YEARS : number;
}

/** `Thứ Sáu, 13 tháng 2, 2026`, whose month is a number. */
const VIETNAMESE = /^(?:(?:thứ \p{L}+|chủ nhật),? )?(?:ngày )?(\d{1,2}) (?:tháng|thg) (\d{1,2}),? (?:năm )?(\d{4})$/iu;

/** A date with the name of its month. */
function readNamedDate(text: string): DateText | undefined {
  const asian = /^(\d{4})\s?[年년]\s?(\d{1,2})\s?[月월]\s?(\d{1,2})\s?[日일]?$/.exec(text);
  if (asian) return { form: 'iso', year: Number(asian[1]), month: Number(asian[2]), day: Number(asian[3]) };
  const vietnamese = VIETNAMESE.exec(text);
  if (vietnamese)
    return { form: 'iso', year: Number(vietnamese[3]), month: Number(vietnamese[2]), day: Number(vietnamese[1]) };
  if (!/\p{L}/u.test(text) || text.length > 80) return undefined;
  const tokens = text.match(/\d+|[\p{L}\p{M}]+/gu) ?? [];
  const words = tokens.filter((token) => !/\d/.test(token)).map(foldWord);
  const numbers = tokens.filter((token) => /^\d{1,2}$|^\d{4}$/.test(token));
  if (numbers.length !== 2 || tokens.length - words.length !== 2) return undefined;
  const word = findMonth(words.filter((each) => !FILLER.has(each)));
  if (word === undefined) return undefined;
  const [first = '', last = ''] = numbers;
  if (first.length === 4 && last.length === 4) return undefined;
  return {
    form: 'named',
    word,
    first: readYear(first, text),
    last: readYear(last, text),
    lastIsShort: first.length < 3 && last.length < 3,
  };
}

/** A text without the word for the year, as in `13.02.2026 г.`, without points in Thai months, and without a zone's name behind its offset. */
const plainText = (text: string): string =>
  text
    .replace(/(?<=\d{4}) ?[гр](?:\.(?=,?(?: |$)|,)|(?=,? |$))/u, '')
    .replace(/(?<=\p{Script=Thai})\.(?=\p{Script=Thai})/gu, '')
    .replace(/(?<=\b(?:GMT|UTC)[+-]\d{4}) \([^()]{1,60}\)$/, '');

/** A cell that says a time, or a date alone; undefined for anything else. */
export function readTime(written: string): TimeCell | undefined {
  const text = toDigits(written);
  const quick = ISO_ZONED.exec(text);
  if (quick) {
    const [, year, month, day, hour, minute, second, fraction = '', zoneText] = quick;
    const zone = zoneText === undefined ? null : readZone(zoneText);
    if (zone === undefined) return undefined;
    const ms = Number(fraction.padEnd(3, '0').slice(0, 3));
    const clockMs = ((Number(hour) * 60 + Number(minute)) * 60 + Number(second)) * 1_000 + ms;
    return { date: { form: 'iso', year: Number(year), month: Number(month), day: Number(day) }, clockMs, zone };
  }
  if (text.length > 100 || !/\d/.test(text)) return undefined;
  const normal = plainText(plainClock(text.normalize('NFKC')).replace(/\s+/g, ' ').trim());
  const date = readDate(normal);
  if (date) return { date, clockMs: null, zone: null };
  const parts = DATE_THEN_CLOCK.exec(normal.replace(/(\d)T(?=\d)/, '$1 '));
  const clock = parts && readClock(parts[2] ?? '');
  const parsedDate = parts && readDate((parts[1] ?? '').replace(/,$/, ''));
  return clock && parsedDate && parsedDate.form !== 'digits' ? { date: parsedDate, ...clock } : undefined;
}

function readDate(text: string): DateText | undefined {
  const date = readNumericDate(text) ?? readNamedDate(text);
  if (date) return date;
  const digits = /^(\d{5}|\d{9,10}|\d{12,13})(?:[.,](\d{1,12}))?$/.exec(text);
  return digits ? { form: 'digits', digits: digits[1] ?? '', fraction: digits[2] ?? '' } : undefined;
}

const MONTH_DAYS = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31] as const;

function isDate(year: number, month: number, day: number): boolean {
  const isLeap = year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0);
  const days = month === 2 && isLeap ? 29 : MONTH_DAYS[month - 1];
  return days !== undefined && day >= 1 && day <= days;
}

/** “März” or “feb.”: a month without a day or a year. */
export const saysMonth = (text: string): boolean => readTime(`1 ${text} 2026`) !== undefined;

/** The dates of one column are read in one way. */
export interface TimeReading {
  /** Days are counted from 1904. */
  is1904?: boolean;
  /** Dates that a spreadsheet made have day and month swapped. */
  isSwapped?: boolean;
  order: DateOrder;
  /** The languages that read all names of months in the column. */
  languages: readonly string[];
  /** Cells of digits are serials of a spreadsheet, or seconds or milliseconds since 1970. */
  digits: 'serial' | 'seconds' | 'ms' | null;
  timeZone: string;
}

type Day = { year: number; month: number; day: number };

const fullYear = (year: number) => 2000 + year;

function readOrdered(date: Extract<DateText, { form: 'numeric' }>, order: DateOrder): Day | undefined {
  const [a, b, c] = date.parts;
  if (order === 'ymd') return date.mayStartWithYear ? { year: fullYear(a), month: b, day: c } : undefined;
  const year = date.isShort ? fullYear(c) : c;
  return order === 'dmy' ? { year, month: b, day: a } : { year, month: a, day: b };
}

function readNamed(date: Extract<DateText, { form: 'named' }>, month: number, order: DateOrder): Day | undefined {
  const { first, last, lastIsShort } = date;
  if (!lastIsShort) return first > 99 ? { year: first, month, day: last } : { year: last, month, day: first };
  if (order === 'ymd') return { year: fullYear(first), month, day: last };
  return { year: fullYear(last), month, day: first };
}

/** The day of a cell under an order; undefined if it cannot be read so. */
function readDay(date: DateText, order: DateOrder, languages: readonly string[], nextYear: number): Day | undefined {
  if (date.form === 'digits') return undefined;
  if (date.form === 'iso') return isDate(date.year, date.month, date.day) ? date : undefined;
  const month = date.form === 'named' ? readMonth(date.word, languages) : undefined;
  if (date.form === 'named' && month === undefined) return undefined;
  const day = date.form === 'named' ? readNamed(date, month ?? 0, order) : readOrdered(date, order);
  const isShort = date.form === 'named' ? date.lastIsShort : date.isShort;
  if (!day || !isDate(day.year, day.month, day.day) || (isShort && day.year > nextYear)) return undefined;
  return day;
}

/** A cell strikes out the orders of day and month that cannot read it. Months' names are judged by the whole column. */
export function mayBe(cell: TimeCell, order: DateOrder, nextYear: number): boolean {
  if (cell.date.form === 'digits') return true;
  const languages = cell.date.form === 'named' ? findLanguages([cell.date.word]) : [];
  const [language] = languages;
  return readDay(cell.date, order, language === undefined ? [] : [language], nextYear) !== undefined;
}

/** True if the cell is one day in one order of day and month, and another day in another order. */
export function isAmbiguous({ date }: TimeCell): boolean {
  if (date.form === 'named') return date.lastIsShort && date.first !== date.last;
  if (date.form !== 'numeric') return false;
  const [first, second, last] = date.parts;
  return (first !== second && first <= 12 && second <= 12) || (date.mayStartWithYear && first !== last);
}

/** The day of a cell under an order as `April 3, 2026`; undefined if it cannot be read so. */
export function describeDay(
  text: string,
  order: DateOrder,
  languages: readonly string[],
  now: Date,
): string | undefined {
  const cell = readTime(text);
  const day = cell && readDay(cell.date, order, languages, now.getUTCFullYear() + 1);
  return day && datesIn('UTC').longDay(Date.UTC(day.year, day.month - 1, day.day));
}

const EPOCH_SERIAL = 25_569;

/** Days by which a calendar from 1904 is later. */
const LATER_DAYS = 1_462;

function readDigits(date: Extract<DateText, { form: 'digits' }>, { digits, is1904 }: TimeReading) {
  const value = Number(`${date.digits}.${date.fraction || '0'}`);
  if (digits === 'seconds') return { atMs: value * 1_000 };
  if (digits === 'ms') return { atMs: value };
  if (digits !== 'serial') return undefined;
  const epoch = is1904 ? EPOCH_SERIAL - LATER_DAYS : EPOCH_SERIAL;
  const wallMs = Math.round((value - epoch) * 86_400) * 1_000;
  return { wallMs, isDay: date.fraction === '' };
}

/** The kind of number that a cell of digits may be, by its length. */
export function guessDigits(cell: TimeCell): TimeReading['digits'] {
  if (cell.date.form !== 'digits') return null;
  if (cell.date.digits.length === 5) return 'serial';
  return cell.date.digits.length > 10 ? 'ms' : 'seconds';
}

export type Instant = { atMs: number } | { problem: 'time_unreadable' | 'zone_unreadable' | 'time_out_of_range' };

function bound(atMs: number, now: Date): Instant {
  const isWithin = atMs >= 0 && atMs <= now.getTime() + DAY_MS;
  return isWithin ? { atMs: Math.floor(atMs) } : { problem: 'time_out_of_range' };
}

interface ClockAndZone {
  clock: Clock | null;
  zone: Zone | null;
}

/** The moment that a cell says, with the time of day and the zone that stand in columns beside it. */
export function settleTime(cell: TimeCell, reading: TimeReading, beside: ClockAndZone, now: Date): Instant {
  const { timeZone } = reading;
  let wallMs: number;
  let clockMs = cell.clockMs ?? beside.clock?.clockMs ?? null;
  if (cell.date.form === 'digits') {
    const digitTime = readDigits(cell.date, reading);
    if (!digitTime) return { problem: 'time_unreadable' };
    if ('atMs' in digitTime) return bound(digitTime.atMs, now);
    wallMs = digitTime.wallMs;
    if (!digitTime.isDay) clockMs ??= 0;
  } else {
    const dayParts = readDay(cell.date, reading.order, reading.languages, now.getUTCFullYear() + 1);
    if (!dayParts) return { problem: 'time_unreadable' };
    const isSwapped = reading.isSwapped === true && cell.date.form === 'iso' && dayParts.day <= 12;
    const day = isSwapped ? { ...dayParts, month: dayParts.day, day: dayParts.month } : dayParts;
    wallMs = Date.UTC(day.year, day.month - 1, day.day);
  }
  // Clocks differ from UTC by less than a day: what is further off is out of range in every zone.
  const isFar = wallMs < -2 * DAY_MS || wallMs > now.getTime() + 3 * DAY_MS;
  if (isFar) return { problem: 'time_out_of_range' };
  const zone = cell.zone ?? beside.clock?.zone ?? beside.zone;
  // A date alone is noon there, so that its day is the same in UTC; a zone column says nothing about days.
  const localMs = wallMs + (clockMs ?? NOON_MS);
  const atMs = zone ? resolveZone(zone, localMs, timeZone) : toInstant(timeZone, localMs);
  return atMs === undefined ? { problem: 'zone_unreadable' } : bound(atMs, now);
}

export const monthWord = (cell: TimeCell): string | null => (cell.date.form === 'named' ? cell.date.word : null);
