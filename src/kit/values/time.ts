import { z } from 'zod';
import { DAY_MS } from './duration.ts';

/** The range that PostgreSQL, JSON and every client write with a four-digit year. */
const FIRST_MS = Date.parse('0001-01-01T00:00:00.000Z');
const LAST_MS = Date.parse('9999-12-31T23:59:59.999Z');

/** True if a time lies in the years 0001 to 9999 in UTC, whatever its offset says. */
const isWritable = (at: Date): boolean => at.getTime() >= FIRST_MS && at.getTime() <= LAST_MS;

const OUT_OF_RANGE = 'must lie in the years 0001 to 9999 in UTC';
const EXPECTED = 'must be a date such as 2026-11-22, or a time with its offset such as 2026-11-22T09:30:00Z';

/** An unencoded plus in a query string is a space. */
const WITHOUT_PLUS = /T[\d:.]+ \d\d:?\d\d$/;

/** A date, or an ISO 8601 time with an offset, as the caller wrote it. */
export const TimeText = z
  .union([z.iso.date(), z.iso.datetime({ offset: true })], {
    error: ({ input }) =>
      typeof input === 'string' && WITHOUT_PLUS.test(input) ? `${EXPECTED} (in a query, write + as %2B)` : EXPECTED,
  })
  .refine((text) => isWritable(new Date(text)), { error: OUT_OF_RANGE, abort: true });

const DayText = z.iso.date();

/** True if the text is a date without a time. */
export const isDay = (text: string): boolean => DayText.safeParse(text).success;

/** True if a window ends before it begins in every zone. A day and a time may be in order in one zone alone. */
export function isBackwards(from: string, to: string): boolean {
  const end = Date.parse(to) + (isDay(to) ? DAY_MS : 1);
  return Date.parse(from) - end >= (isDay(from) === isDay(to) ? 0 : DAY_MS);
}
