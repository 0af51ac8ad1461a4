import { z } from 'zod';
import { DAY_MS, HOUR_MS } from './duration.ts';

/**
 * Short names that Node knows and IANA does not. People mean other zones by some of them: Node's `BST` is Dhaka, its `IST` India,
 * its `CST` Chicago.
 */
const NO_ZONES: ReadonlySet<string> = new Set(
  'ACT AET AGT ART AST BET BST CAT CNT CST CTT EAT ECT IET IST JST MIT NET NST PLT PNT PRT PST SST VST'.split(' '),
);

/** The zone's name as IANA writes it; undefined for names that it does not have, and for offsets such as `+02:00`. */
export function timeZoneName(text: string): string | undefined {
  if (!/^[A-Za-z]/.test(text) || /^SystemV\//i.test(text) || NO_ZONES.has(text.toUpperCase())) return undefined;
  try {
    return new Intl.DateTimeFormat('en', { timeZone: text }).resolvedOptions().timeZone;
  } catch {
    return undefined;
  }
}

/** Node knows Asia/Kolkata as Asia/Calcutta; only letters that are written otherwise are put right. */
const inItsSpelling = (text: string): string => {
  const name = timeZoneName(text);
  return name?.toLowerCase() === text.toLowerCase() ? name : text;
};

/** A zone by any of its names, which is kept as it was sent. */
export const TimeZone = z
  .string()
  .max(60)
  .refine(
    (text) => timeZoneName(text) !== undefined,
    'must be an IANA time zone such as Europe/Berlin, America/New_York or UTC',
  )
  .overwrite(inItsSpelling)
  .meta({ example: 'Europe/Berlin' });

/** True if both names mean one zone, such as Asia/Kolkata and Asia/Calcutta. */
export const isSameZone = (one: string, other: string): boolean =>
  one === other || (timeZoneName(one) ?? one) === (timeZoneName(other) ?? other);

const formats = new Map<string, Intl.DateTimeFormat>();

/** The time that clocks of a zone show, as if it were UTC. */
function readWall(timeZone: string, atMs: number): number {
  let format = formats.get(timeZone);
  if (!format) {
    // Sweden writes times as ISO 8601 does.
    format = new Intl.DateTimeFormat('sv-SE', { timeZone, dateStyle: 'short', timeStyle: 'medium' });
    if (formats.size > 100) formats.clear();
    formats.set(timeZone, format);
  }
  return Date.parse(`${format.format(atMs).replace(' ', 'T')}Z`);
}

/** An offset from UTC, and the moment since when clocks have it. */
export interface Offset {
  sinceMs: number;
  offsetMs: number;
}

const years = new Map<string, readonly Offset[]>();
/** Before and after, a zone keeps the offset that it has in these years. */
const [FIRST_YEAR, LAST_YEAR] = [1900, 2150];

const readOffset = (timeZone: string, atMs: number) => {
  const second = Math.floor(atMs / 1_000) * 1_000;
  return readWall(timeZone, second) - second;
};

/** The moment between two at which clocks are set. */
function findChange(timeZone: string, fromMs: number, untilMs: number): number {
  let [low, high] = [fromMs, untilMs];
  const before = readOffset(timeZone, low);
  while (high - low > 1_000) {
    const middle = Math.floor((low + high) / 2_000) * 1_000;
    if (readOffset(timeZone, middle) === before) low = middle;
    else high = middle;
  }
  return high;
}

/** The offsets of a year, looked up day by day once. */
function listYear(timeZone: string, year: number): readonly Offset[] {
  const key = `${timeZone} ${year}`;
  const cachedYear = years.get(key);
  if (cachedYear) return cachedYear;
  const [start, end] = [Date.UTC(year, 0), Date.UTC(year + 1, 0)];
  let last = { sinceMs: start, offsetMs: readOffset(timeZone, start) };
  const offsets = [last];
  for (let at = start + DAY_MS; at <= end; at += DAY_MS) {
    const offsetMs = readOffset(timeZone, at);
    if (offsetMs === last.offsetMs) continue;
    last = { sinceMs: findChange(timeZone, at - DAY_MS, at), offsetMs };
    // A change at the year's end is the first of the next one.
    if (last.sinceMs < end) offsets.push(last);
  }
  if (years.size > 5_000) years.clear();
  years.set(key, offsets);
  return offsets;
}

const clampYear = (atMs: number) => Math.min(Math.max(new Date(atMs).getUTCFullYear(), FIRST_YEAR), LAST_YEAR);

/** Milliseconds that clocks of a zone are ahead of UTC. */
export function offsetAt(timeZone: string, atMs: number): number {
  if (timeZone === 'UTC') return 0;
  const offsets = listYear(timeZone, clampYear(atMs));
  return (offsets.findLast(({ sinceMs }) => sinceMs <= atMs) ?? offsets[0])?.offsetMs ?? 0;
}

/** The offsets of a zone from one moment to another, in order; the first one holds from the beginning on. */
export function listOffsets(timeZone: string, fromMs: number, untilMs: number): Offset[] {
  const offsets = [{ sinceMs: fromMs, offsetMs: offsetAt(timeZone, fromMs) }];
  if (timeZone === 'UTC') return offsets;
  for (let year = clampYear(fromMs); year <= clampYear(untilMs); year += 1) {
    for (const offset of listYear(timeZone, year)) {
      if (offset.sinceMs <= fromMs || offset.sinceMs >= untilMs) continue;
      if (offset.offsetMs !== offsets.at(-1)?.offsetMs) offsets.push(offset);
    }
  }
  return offsets;
}

/** The local time in a zone, as if it were UTC. */
export const wallMs = (timeZone: string, atMs: number): number => atMs + offsetAt(timeZone, atMs);

/** The day of a time in UTC, as `2026-03-01`. */
export const toDay = (at: Date): string => at.toISOString().slice(0, 10);

/** The day of a time there, such as 2026-11-20. */
export const dayIn = (timeZone: string, at: Date): string => toDay(new Date(wallMs(timeZone, at.getTime())));

/** The first moment at which clocks there show a time; a time that is skipped is as much later as they are set. */
export function toInstant(timeZone: string, wall: number): number {
  if (timeZone === 'UTC') return wall;
  const [before, after] = [wall - DAY_MS, wall + DAY_MS].map((atMs) => wall - offsetAt(timeZone, atMs));
  if (before === undefined || after === undefined || before === after) return before ?? wall;
  const matchingMs = [Math.min(before, after), Math.max(before, after)].find((atMs) => wallMs(timeZone, atMs) === wall);
  return matchingMs ?? before;
}

/** The first moment at which clocks there show this time of a day, such as 08:00; of a day that begins later, its beginning. */
export const timeIn = (timeZone: string, day: string, time = '00:00'): Date =>
  new Date(toInstant(timeZone, Date.parse(`${day}T${time}:00Z`)));

/** The day that many days later. */
export const daysAfter = (day: string, days: number): string =>
  new Date(Date.parse(day) + days * DAY_MS).toISOString().slice(0, 10);

/** The first moment of the month there that a time is in, and the first one after it. */
export function monthIn(timeZone: string, at: Date): { start: Date; end: Date } {
  const month = dayIn(timeZone, at).slice(0, 7);
  const next = daysAfter(`${month}-28`, 4).slice(0, 7);
  return { start: timeIn(timeZone, `${month}-01`), end: timeIn(timeZone, `${next}-01`) };
}

/** The last Monday up to a day. */
export const toMonday = (day: string): string => daysAfter(day, -((new Date(day).getUTCDay() + 6) % 7));

/** An offset such as `+05:30`. */
export function offsetText(offsetMs: number): string {
  const text = new Date(Math.abs(offsetMs)).toISOString().slice(11, 16);
  return `${offsetMs < 0 ? '-' : '+'}${text}`;
}

/** A moment with the zone's offset, such as `2027-10-31T02:00:00+01:00`. */
export const toLocalText = (timeZone: string, atMs: number): string =>
  `${new Date(wallMs(timeZone, atMs)).toISOString().slice(0, 19)}${offsetText(offsetAt(timeZone, atMs))}`;

/** The beginnings of the hours of a zone's clocks from one moment to another. A change of the clocks begins an hour. */
export function listHours(timeZone: string, fromMs: number, untilMs: number): number[] {
  const offsets = listOffsets(timeZone, fromMs, untilMs);
  return offsets.flatMap(({ sinceMs, offsetMs }, place) => {
    const end = offsets[place + 1]?.sinceMs ?? untilMs;
    const wholeHour = Math.floor((sinceMs + offsetMs) / HOUR_MS) * HOUR_MS - offsetMs;
    const hours: number[] = [];
    for (let at = wholeHour; at < end; at += HOUR_MS) hours.push(place === 0 ? at : Math.max(at, sinceMs));
    return hours;
  });
}
