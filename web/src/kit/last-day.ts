import { isoDay, isWholeDay } from './format.ts';
import { DAY_MS, toUtcDay } from './utc-day.ts';

/** The end of a last day in the brand's time zone; the API would read the date as its beginning. */
export function toDayEnd(date: string): string {
  const next = toUtcDay(Date.parse(date) + DAY_MS);
  let [last, after] = [Date.parse(date) - DAY_MS, Date.parse(date) + 3 * DAY_MS];
  while (after - last > 1) {
    const middle = Math.floor((last + after) / 2);
    if (isoDay(middle) < next) last = middle;
    else after = middle;
  }
  return new Date(last).toISOString();
}

/** The day of a time in the brand's time zone, as a date input needs it. A date stays as it is. */
export const toDay = (time: string | null) =>
  time === null || isWholeDay(time) ? (time?.slice(0, 10) ?? null) : isoDay(Date.parse(time));
