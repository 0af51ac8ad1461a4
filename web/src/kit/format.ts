/** Formats dates, numbers and money in the browser's locale. */
const numbers = new Intl.NumberFormat();
const compacts = new Intl.NumberFormat(undefined, { notation: 'compact', maximumFractionDigits: 1 });
const days = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium' });
const utcDays = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeZone: 'UTC' });
const shortDays = new Intl.DateTimeFormat(undefined, { day: 'numeric', month: 'short', timeZone: 'UTC' });
const times = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'short' });
const relative = new Intl.RelativeTimeFormat(undefined, { numeric: 'auto' });
const currencies = new Map<string, Intl.NumberFormat>();

export const number = (value: number | null | undefined) =>
  value === null || value === undefined ? '–' : numbers.format(value);
export const compact = (value: number | null | undefined) =>
  value === null || value === undefined ? '–' : compacts.format(value);

export function money(amount: number | null | undefined, currency: string): string {
  if (amount === null || amount === undefined) return '–';
  const known = currencies.get(currency) ?? new Intl.NumberFormat(undefined, { style: 'currency', currency });
  currencies.set(currency, known);
  return known.format(amount);
}

export const percent = (value: number | null | undefined) =>
  value === null || value === undefined ? '–' : `${numbers.format(value)} %`;

type Time = string | null | undefined;
const isDay = (value: string) => /^\d{4}-\d\d-\d\d$/.test(value);

/** The day of a time, or a date. */
export function day(value: Time): string {
  if (!value) return '–';
  return (isDay(value) ? utcDays : days).format(new Date(value));
}
export const shortDay = (value: string) => shortDays.format(new Date(value));
export const time = (value: Time) => (value ? times.format(new Date(value)) : '–');

/** A deadline that is a date arrives as midnight UTC, and lasts until the end of that day. */
const isWholeDay = (value: string) => value.endsWith('T00:00:00.000Z');
export const deadline = (value: Time) => (value && isWholeDay(value) ? utcDays.format(new Date(value)) : time(value));
export const isPastDeadline = (value: Time) =>
  Boolean(value) && Date.now() >= new Date(value ?? 0).getTime() + (isWholeDay(value ?? '') ? 86_400_000 : 0);

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

/** Displays `revision_requested` as "Revision requested". */
export function words(value: string | null | undefined): string {
  if (!value) return '–';
  const text = value.replaceAll('_', ' ');
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** A field's value, as shown in the audit log and in a plan. */
export function fieldValue(value: unknown): string {
  if (value === undefined || value === null) return '–';
  return typeof value === 'string' ? withLocalTimes(value) : JSON.stringify(value);
}

/** The API's text, with its times converted to the browser's format. */
export const withLocalTimes = (text: string) => text.replace(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, (at) => time(at));
