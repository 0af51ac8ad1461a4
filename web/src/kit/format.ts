/** Formats dates, numbers and money in the browser's locale, and times in the brand's time zone. */

/** With the minus sign, which is as wide as the plus; some locales have a hyphen in its place. */
const withMinus = (formatted: string) => formatted.replace(/^-/, '−');

const numbers = new Intl.NumberFormat();
const rates = new Intl.NumberFormat(undefined, { minimumFractionDigits: 2, maximumFractionDigits: 2 });
const compacts = new Intl.NumberFormat(undefined, { notation: 'compact', maximumFractionDigits: 1 });
const utcDays = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeZone: 'UTC' });
const utcTimes = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'short', timeZone: 'UTC' });
const shortDays = new Intl.DateTimeFormat(undefined, { day: 'numeric', month: 'short', timeZone: 'UTC' });
const shortHours = new Intl.DateTimeFormat(undefined, {
  ...({ day: 'numeric', month: 'short', hour: '2-digit', minute: '2-digit' } as const),
  timeZone: 'UTC',
});
const months = new Intl.DateTimeFormat(undefined, { month: 'short', year: 'numeric', timeZone: 'UTC' });
const relative = new Intl.RelativeTimeFormat(undefined, { numeric: 'auto' });
const regions = new Intl.DisplayNames(undefined, { type: 'region' });
const currencyNames = new Intl.DisplayNames(undefined, { type: 'currency' });
const currencies = new Map<string, Intl.NumberFormat>();

/** The time zone of this computer. */
export const ownZone = new Intl.DateTimeFormat().resolvedOptions().timeZone;

function formatsIn(timeZone: string) {
  const parts = { year: 'numeric', month: 'short', day: 'numeric', hour: '2-digit', minute: '2-digit' } as const;
  return {
    timeZone,
    days: new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeZone }),
    // Another zone than the computer's is named.
    times: new Intl.DateTimeFormat(undefined, {
      ...(timeZone === ownZone ? { dateStyle: 'medium', timeStyle: 'short' } : { ...parts, timeZoneName: 'short' }),
      timeZone,
    }),
    isoDays: new Intl.DateTimeFormat('sv-SE', { dateStyle: 'short', timeZone }),
  };
}

let here = formatsIn('UTC');

/** Sets the time zone in which all times are shown: the brand's. */
export function showTimesIn(timeZone: string): void {
  if (timeZone !== here.timeZone) here = formatsIn(timeZone);
}

export const number = (value: number | null | undefined) =>
  value === null || value === undefined ? '–' : withMinus(numbers.format(value));
/** A noun with a regular plural, or its singular and plural. */
export type Noun = string | readonly [one: string, more: string];

/** A count with its noun, such as `1 commission` or `163 commissions`. */
export function counted(count: number, noun: Noun): string {
  const [one, more] = typeof noun === 'string' ? [noun, `${noun}s`] : noun;
  return `${number(count)} ${count === 1 ? one : more}`;
}
export const compact = (value: number | null | undefined) =>
  value === null || value === undefined ? '–' : withMinus(compacts.format(value));

export function money(amount: number | null | undefined, currency: string): string {
  if (amount === null || amount === undefined) return '–';
  const formatter = currencies.get(currency) ?? new Intl.NumberFormat(undefined, { style: 'currency', currency });
  currencies.set(currency, formatter);
  return withMinus(formatter.format(amount));
}

/** A round amount for the axis of a chart, such as `US$1.2K`. */
export const compactMoney = (amount: number, currency: string) =>
  withMinus(
    new Intl.NumberFormat(undefined, {
      ...({ style: 'currency', currency, notation: 'compact' } as const),
      minimumFractionDigits: 0,
      maximumFractionDigits: 1,
    }).format(amount),
  );

export const percent = (value: number | null | undefined) =>
  value === null || value === undefined ? '–' : `${number(value)}%`;
/** To two decimals, so that the rates of a column compare at a glance. */
export const rate = (value: number | null | undefined) =>
  value === null || value === undefined ? '–' : `${withMinus(rates.format(value))}%`;

/** The name of a country by its ISO 3166 code. */
export const countryName = (code: string | null): string =>
  code === null ? '–' : /^[A-Z]{2}$/.test(code) ? (regions.of(code) ?? code) : code;

/** The code of a currency with its name, such as `USD, US Dollar`. */
export function currencyName(code: string): string {
  const name = currencyNames.of(code);
  return name === undefined || name === code ? code : `${code}, ${name}`;
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
const shares = new Intl.NumberFormat(undefined, { minimumFractionDigits: 1, maximumFractionDigits: 1 });
/** To one decimal, so that the shares of a column compare at a glance. */
export const aboutPercent = (value: number | null) => (value === null ? '–' : `${withMinus(shares.format(value))}%`);

type Time = string | null | undefined;
const isDay = (value: string) => /^\d{4}-\d\d-\d\d$/.test(value);

/** The day of a time in the brand's time zone, or a date. */
export function day(value: Time): string {
  if (!value) return '–';
  return (isDay(value) ? utcDays : here.days).format(new Date(value));
}
/** The month of a date, such as `2026-03-01` or `2026-03`. */
export const month = (value: string) => months.format(new Date(value));
export const shortDay = (value: string) => shortDays.format(new Date(value));
/** The beginning of an hour of figures, as the clocks of their zone show it. */
export const shortHour = (value: string) => shortHours.format(new Date(`${value.slice(0, 19)}Z`));
/** The day of a moment in the brand's time zone, such as 2026-03-02. */
export const isoDay = (ms: number) => here.isoDays.format(ms);
/** Today in the brand's time zone. */
export const today = () => isoDay(Date.now());
export const brandZone = () => here.timeZone;
export const time = (value: Time) => (value ? here.times.format(new Date(value)) : '–');
/** The same time in UTC, unless that is the brand's time zone. */
export const utcTime = (value: string) =>
  here.timeZone === 'UTC' ? undefined : `${utcTimes.format(new Date(value))} UTC`;

/** A deadline that is a date arrives as midnight UTC, and lasts until the end of that day in the brand's time zone. */
export const isWholeDay = (value: string) => isDay(value) || value.endsWith('T00:00:00.000Z');
export const deadline = (value: Time) => (value && isWholeDay(value) ? utcDays.format(new Date(value)) : time(value));
export function isPastDeadline(value: Time): boolean {
  if (!value) return false;
  if (!isWholeDay(value)) return Date.now() >= Date.parse(value);
  return here.isoDays.format(new Date()) > value.slice(0, 10);
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
  return relative.format(Math.round(ms / size), unit);
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
export const fieldName = (name: string) =>
  words(name.replace(UNIT_ENDINGS, '')).replace('email', 'e-mail').replace('Email', 'E-mail');

/** The API's text, with its times in the browser's format. */
export const withLocalTimes = (text: string) => text.replace(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, (at) => time(at));
