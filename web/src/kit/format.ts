/** The formats of `src/kit/values/format.ts`, with a dash for what is unknown and times in the brand's time zone. */
import {
  datesIn,
  formatAmount,
  formatCompact,
  formatCompactAmount,
  formatCountry,
  formatCurrencyName,
  formatFixed,
  formatMoney,
  formatNumber,
  formatPercent,
  formatRelative,
  formatRoundCompact,
} from '../../../src/kit/values/format.ts';

type Figure = number | null | undefined;
/** A figure in its form, or a dash if it is not known. */
const orDash = (value: Figure, format: (value: number) => string): string =>
  value === null || value === undefined ? '–' : format(value);

/** The time zone of this computer. */
export const ownZone = new Intl.DateTimeFormat().resolvedOptions().timeZone;

const utc = datesIn('UTC');
const isoDaysIn = (timeZone: string) => new Intl.DateTimeFormat('sv-SE', { dateStyle: 'short', timeZone });

function formatsIn(timeZone: string) {
  const dates = datesIn(timeZone);
  const isOwn = timeZone === ownZone;
  return {
    ...dates,
    timeZone,
    // Another zone than the computer's is named.
    time: isOwn ? dates.time : dates.zonedTime,
    second: isOwn ? dates.second : dates.zonedSecond,
    isoDays: isoDaysIn(timeZone),
  };
}

let here = formatsIn('UTC');

/** Sets the time zone in which all times are shown: the brand's. */
export function showTimesIn(timeZone: string): void {
  if (timeZone !== here.timeZone) here = formatsIn(timeZone);
}

export const number = (value: Figure) => orDash(value, formatNumber);
/** A noun with a regular plural, or its singular and plural. */
export type Noun = string | readonly [one: string, more: string];

/** A count with its noun, such as `1 commission` or `163 commissions`. */
export function counted(count: number, noun: Noun): string {
  const [one, more] = typeof noun === 'string' ? [noun, `${noun}s`] : noun;
  return `${number(count)} ${count === 1 ? one : more}`;
}
export const compact = (value: Figure) => orDash(value, formatCompact);
/** For axes and limits. */
export const roundCompact = (value: Figure) => orDash(value, formatRoundCompact);

export const money = (amount: Figure, currency: string) => orDash(amount, (known) => formatAmount(known, currency));
/** An amount in minor units. */
export const minorMoney = (minor: Figure, currency: string) => orDash(minor, (known) => formatMoney(known, currency));

/** For axes, such as `$1.2K`. */
export const compactMoney = formatCompactAmount;

/** A rate as somebody entered it. */
export const percent = (value: Figure) => orDash(value, formatPercent);
/** To two decimals, so that the rates of a column compare at a glance. */
export const rate = (value: Figure) => orDash(value, (known) => `${formatFixed(known, 2)}%`);
/** To one decimal, so that the shares of a column compare at a glance. */
export const aboutPercent = (value: Figure) => orDash(value, (known) => `${formatFixed(known, 1)}%`);
/** Sales as a multiple of the spend, such as `7.02×`. */
export const multiple = (value: Figure) => orDash(value, (known) => `${formatFixed(known, 2)}×`);

/** The name of a country by its ISO 3166 code. */
export const countryName = (code: string | null): string => (code === null ? '–' : formatCountry(code));

/** The code of a currency with its name, such as `USD, US Dollar`. */
export function currencyName(code: string): string {
  const name = formatCurrencyName(code);
  return name === code ? code : `${code}, ${name}`;
}

/** A figure compared with the previous period's, in words. */
export function versus(now: number, was: number | undefined, earlier = 'previous period'): string | undefined {
  if (was === undefined) return undefined;
  if (was === 0) return now === 0 ? 'No change' : 'No earlier data';
  const change = Math.round(((now - was) / was) * 100);
  return `${change > 0 ? '+' : ''}${number(change)}% from the ${earlier}`;
}

/** To one decimal, for shares that are read, not added up. */
export const roundly = (value: number) => number(Math.round(value * 10) / 10);

type Time = string | null | undefined;
const isDay = (value: string) => /^\d{4}-\d\d-\d\d$/.test(value);

/** The day of a time in the brand's time zone, or a date. */
export function day(value: Time): string {
  if (!value) return '–';
  return (isDay(value) ? utc : here).day(value);
}
/** The month of a date, such as `2026-03-01` or `2026-03`. */
export const { month, shortDay, days: dayRange } = utc;
/** The beginning of an hour of figures, as the clocks of their zone show it. */
export const shortHour = (value: string) => utc.hour(`${value.slice(0, 19)}Z`);
/** The day of a moment in the brand's time zone, such as 2026-03-02. */
export const isoDay = (ms: number) => here.isoDays.format(ms);
/** Today in the brand's time zone. */
export const today = () => isoDay(Date.now());
export const brandZone = () => here.timeZone;
/** A time of day, such as `15:52`. */
export const clock = (value: string) => utc.clock(`1970-01-01T${value}Z`);
export const time = (value: Time) => (value ? here.time(value) : '–');
/** The time of day and the day of a moment, such as `3:52 PM` and `Sep 2`, where a phone has no room for both in a line. */
export const timeOfDay = (value: string) => here.clock(value);
/** The same to the second. */
export const exactTimeOfDay = (value: string) => here.clockSecond(value);
/** A time to the second. */
export const exactTime = (value: string) => here.second(value);
/** The same time in UTC, unless that is the brand's time zone. */
export const utcTime = (value: string) => (here.timeZone === 'UTC' ? undefined : `${utc.time(value)} UTC`);

/** A deadline that is a date arrives as midnight UTC, and lasts until the end of that day in the brand's time zone. */
export const isWholeDay = (value: string) => isDay(value) || value.endsWith('T00:00:00.000Z');
export const deadline = (value: Time) => (value && isWholeDay(value) ? utc.day(value) : time(value));
export function isPastDeadline(value: Time): boolean {
  if (!value) return false;
  if (!isWholeDay(value)) return Date.now() >= Date.parse(value);
  return here.isoDays.format(new Date()) > value.slice(0, 10);
}

/** The days until a date in the brand's time zone: 0 on the day itself, less once it has passed. */
export function daysUntil(value: string): number {
  const at = isWholeDay(value) ? value.slice(0, 10) : isoDay(Date.parse(value));
  return Math.round((Date.parse(at) - Date.parse(today())) / 86_400_000);
}

const UNITS = [
  ['day', 86_400_000],
  ['hour', 3_600_000],
  ['minute', 60_000],
] as const;

/** `3 hours ago`, for recent times. */
export function ago(value: Time): string {
  if (!value) return '–';
  const ms = new Date(value).getTime() - Date.now();
  if (Math.abs(ms) > 30 * 86_400_000) return day(value);
  const [unit, size] = UNITS.find(([, size]) => Math.abs(ms) >= size) ?? (['minute', 60_000] as const);
  return formatRelative(Math.round(ms / size), unit);
}

/** The size of a file, such as `48 kB`. */
export const bytes = (size: number) =>
  size < 1_000_000 ? `${number(Math.ceil(size / 1_000))} kB` : `${number(Math.round(size / 100_000) / 10)} MB`;

/** Displays `revision_requested` as "Revision requested". */
export function words(value: string | null | undefined): string {
  if (!value) return '–';
  const text = value.replaceAll('_', ' ').replace(/^utm /, 'UTM ');
  return text.charAt(0).toUpperCase() + text.slice(1);
}

const UNIT_ENDINGS = /_(?:minor|ppm|id)$/;
/** A field's name in words: "Commission rate" for `commission_rate_ppm`. */
export const fieldName = (name: string) => words(name.replace(UNIT_ENDINGS, ''));

/** The API's text, with its times in the app's format. */
export const withLocalTimes = (text: string) => text.replace(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, (at) => time(at));
