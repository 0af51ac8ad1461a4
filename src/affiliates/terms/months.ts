import { toInstant, wallMs } from '../../kit/values/time-zone.ts';

/** The same day and time of a zone's clocks, `months` later; the last day of the month if it is shorter. */
export function addMonths(at: Date, months: number, timeZone = 'UTC'): Date {
  const local = new Date(wallMs(timeZone, at.getTime()));
  const result = new Date(local);
  result.setUTCDate(1);
  result.setUTCMonth(result.getUTCMonth() + months);
  const lastDay = new Date(Date.UTC(result.getUTCFullYear(), result.getUTCMonth() + 1, 0)).getUTCDate();
  result.setUTCDate(Math.min(local.getUTCDate(), lastDay));
  return new Date(toInstant(timeZone, result.getTime()));
}
