import { DAY_MS } from './duration.ts';
import { toInstant } from './time-zone.ts';

/** A day that was sent without a time: its first or last millisecond, in UTC until the zone of its brand is known. */
export class LocalDay extends Date {
  readonly day: string;
  readonly edge: 'start' | 'end';

  constructor(day: string, edge: 'start' | 'end') {
    super(edge === 'start' ? day : `${day}T23:59:59.999Z`);
    this.day = day;
    this.edge = edge;
  }

  in(timeZone: string): Date {
    const start = Date.parse(this.day);
    return new Date(this.edge === 'start' ? toInstant(timeZone, start) : toInstant(timeZone, start + DAY_MS) - 1);
  }
}

/** True if a value or one of its fields is a day without a time. */
export function hasLocalDays(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return value instanceof LocalDay || Object.values(value).some(hasLocalDays);
}

/** The same value with its days as moments of a zone. */
export function inTimeZone<T>(value: T, timeZone: string): T;
export function inTimeZone(value: unknown, timeZone: string): unknown {
  if (value instanceof LocalDay) return value.in(timeZone);
  if (!hasLocalDays(value)) return value;
  if (Array.isArray(value)) return value.map((item) => inTimeZone(item, timeZone));
  return Object.fromEntries(Object.entries(value ?? {}).map(([name, item]) => [name, inTimeZone(item, timeZone)]));
}
