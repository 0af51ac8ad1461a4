import { z } from 'zod';
import { DAY_MS } from './duration.ts';

/** The zone's name as IANA writes it; undefined for names that it does not have, and for offsets such as `+02:00`. */
export function timeZoneName(text: string): string | undefined {
  if (!/^[A-Za-z]/.test(text)) return undefined;
  try {
    return new Intl.DateTimeFormat('en', { timeZone: text }).resolvedOptions().timeZone;
  } catch {
    return undefined;
  }
}

export const TimeZone = z
  .string()
  .max(60)
  .refine(
    (text) => timeZoneName(text) !== undefined,
    'must be an IANA time zone such as Europe/Berlin, America/New_York or UTC',
  )
  .meta({ example: 'Europe/Berlin' });

/** The day of a time there, such as 2026-11-20. */
export const dayIn = (timeZone: string, at: Date): string =>
  // Sweden writes dates as ISO 8601 does.
  new Intl.DateTimeFormat('sv-SE', { timeZone, dateStyle: 'short' }).format(at);

/** The local time in a zone, as if it were UTC. */
const wallMs = (timeZone: string, atMs: number): number =>
  Date.parse(
    `${new Intl.DateTimeFormat('sv-SE', { timeZone, dateStyle: 'short', timeStyle: 'medium' }).format(atMs).replace(' ', 'T')}Z`,
  );

/**
 * The first moment at which clocks there show this time of a day, such as 08:00. A time that is skipped in spring is as
 * much later as the clocks are set.
 */
export function timeIn(timeZone: string, day: string, time = '00:00'): Date {
  const wall = Date.parse(`${day}T${time}:00Z`);
  const offsetAt = (atMs: number) => wallMs(timeZone, atMs) - atMs;
  const [before, after] = [wall - offsetAt(wall - DAY_MS), wall - offsetAt(wall + DAY_MS)];
  const instant = [Math.min(before, after), Math.max(before, after)].find((atMs) => wallMs(timeZone, atMs) === wall);
  return new Date(instant ?? before);
}

/** The day that many days later. */
export const daysAfter = (day: string, days: number): string =>
  new Date(Date.parse(day) + days * DAY_MS).toISOString().slice(0, 10);

/** The last Monday up to a day. */
export const toMonday = (day: string): string => daysAfter(day, -((new Date(day).getUTCDay() + 6) % 7));
