import { fromMinor, getDecimals } from './decimals.ts';

/**
 * How numbers, amounts and dates are written: the same in the app, on creators' pages, in mails and in sentences, and
 * in every browser. The web app loads this file as well.
 */
const LOCALE = 'en-US';

/** The minus sign is as wide as the plus. */
const withMinus = (text: string) => text.replace(/^-/, '−');

const cached = <Key, Value>(make: (key: Key) => Value): ((key: Key) => Value) => {
  const known = new Map<Key, Value>();
  return (key) => {
    const value = known.get(key) ?? make(key);
    known.set(key, value);
    return value;
  };
};

const numbers = new Intl.NumberFormat(LOCALE, { maximumFractionDigits: 2 });
const fixed = cached(
  (decimals: number) =>
    new Intl.NumberFormat(LOCALE, { minimumFractionDigits: decimals, maximumFractionDigits: decimals }),
);
const percents = new Intl.NumberFormat(LOCALE, { maximumFractionDigits: 4 });
const compacts = new Intl.NumberFormat(LOCALE, { notation: 'compact', maximumFractionDigits: 1 });
const fixedCompacts = new Intl.NumberFormat(LOCALE, {
  notation: 'compact',
  minimumFractionDigits: 1,
  maximumFractionDigits: 1,
});

/** `1,234`, `2.5`: at most two decimals. */
export const formatNumber = (value: number): string => withMinus(numbers.format(value));

/** `12%`, `12.125%`: a rate as somebody entered it. */
export const formatPercent = (value: number): string => `${withMinus(percents.format(value))}%`;

/** `2.50`: always as many decimals, so that the figures of a column line up. */
export const formatFixed = (value: number, decimals: number): string => withMinus(fixed(decimals).format(value));

/** `453`, `4.0K`, `1.1M`: one decimal from a thousand on, for columns. */
export const formatCompact = (value: number): string =>
  withMinus((Math.abs(value) < 1_000 ? numbers : fixedCompacts).format(value));

/** `4K`, `1.1M`: a decimal only if there is one, for axes and limits. */
export const formatRoundCompact = (value: number): string => withMinus(compacts.format(value));

const amounts = cached((currency: string) => {
  const decimals = getDecimals(currency);
  const style = {
    style: 'currency',
    currency,
    minimumFractionDigits: decimals,
    maximumFractionDigits: decimals,
  } as const;
  return {
    full: new Intl.NumberFormat(LOCALE, style),
    round: new Intl.NumberFormat(LOCALE, { ...style, trailingZeroDisplay: 'stripIfInteger' }),
    compact: new Intl.NumberFormat(LOCALE, {
      ...({ style: 'currency', currency, notation: 'compact' } as const),
      minimumFractionDigits: 0,
      maximumFractionDigits: 1,
    }),
  };
});

/** `$500.00`, `€1,250.50`, `¥9,000`, `CA$12.00`: all decimals of the currency, so that amounts below each other line up. */
export const formatAmount = (amount: number, currency: string): string =>
  withMinus(amounts(currency).full.format(amount));

/** The same of minor units. */
export const formatMoney = (minor: number, currency: string): string =>
  formatAmount(fromMinor(minor, currency), currency);

/** `$500`, `€1,250.50`: decimals only when there are any, for an amount in a phrase. */
export const formatRoundAmount = (amount: number, currency: string): string =>
  withMinus(amounts(currency).round.format(amount));

/** The same of minor units. */
export const formatRoundMoney = (minor: number, currency: string): string =>
  formatRoundAmount(fromMinor(minor, currency), currency);

/** `$1.2K`, for the axis of a chart. */
export const formatCompactAmount = (amount: number, currency: string): string =>
  withMinus(amounts(currency).compact.format(amount));

const DATE = { year: 'numeric', month: 'short', day: 'numeric' } as const;
const CLOCK = { hour: 'numeric', minute: '2-digit' } as const;

/** The forms of a moment in a time zone. Days and months without a time are read in UTC. */
export const datesIn = cached((timeZone: string) => {
  const open = (options: Intl.DateTimeFormatOptions) => {
    const format = new Intl.DateTimeFormat(LOCALE, { ...options, timeZone });
    return (at: Date | string | number) => format.format(new Date(at));
  };
  const days = new Intl.DateTimeFormat(LOCALE, { day: 'numeric', month: 'short', timeZone });
  return {
    /** `Sep 2, 2026` */
    day: open(DATE),
    /** `Sep 2` */
    shortDay: open({ month: 'short', day: 'numeric' }),
    /** `Sep 2 – 8` */
    days: (from: string, to: string) => days.formatRange(new Date(from), new Date(to)),
    /** `Sep 2026` */
    month: open({ month: 'short', year: 'numeric' }),
    /** `Sep 2, 2026, 3:52 PM` */
    time: open({ ...DATE, ...CLOCK }),
    /** `Sep 2, 2026, 3:52 PM GMT+2` */
    zonedTime: open({ ...DATE, ...CLOCK, timeZoneName: 'short' }),
    /** `3:52 PM` */
    clock: open(CLOCK),
    /** `3:52:07 PM` */
    clockSecond: open({ ...CLOCK, second: '2-digit' }),
    /** `Sep 2, 2026, 3:52:07 PM` */
    second: open({ ...DATE, ...CLOCK, second: '2-digit' }),
    /** `Sep 2, 2026, 3:52:07 PM GMT+2` */
    zonedSecond: open({ ...DATE, ...CLOCK, second: '2-digit', timeZoneName: 'short' }),
    /** `Sep 2, 3 PM` */
    hour: open({ month: 'short', day: 'numeric', hour: 'numeric' }),
    /** `September 2` */
    longShortDay: open({ month: 'long', day: 'numeric' }),
    /** `September 2, 2026` */
    longDay: open({ dateStyle: 'long' }),
    /** `September 2026` */
    longMonth: open({ year: 'numeric', month: 'long' }),
    /** `September 2, 2026 at 3:52 PM` */
    longTime: open({ dateStyle: 'long', timeStyle: 'short' }),
  };
});

const regions = new Intl.DisplayNames(LOCALE, { type: 'region' });
const currencyNames = new Intl.DisplayNames(LOCALE, { type: 'currency' });

/** The name of a country by its ISO 3166 code; a text that is no code stays as it is. */
export const formatCountry = (code: string): string => (/^[A-Z]{2}$/.test(code) ? (regions.of(code) ?? code) : code);

/** The name of a currency by its code, such as `US Dollar`. */
export const formatCurrencyName = (code: string): string => currencyNames.of(code) ?? code;

const relative = new Intl.RelativeTimeFormat(LOCALE, { numeric: 'auto' });
/** `3 hours ago`, `tomorrow` */
export const formatRelative = (value: number, unit: 'day' | 'hour' | 'minute'): string => relative.format(value, unit);
