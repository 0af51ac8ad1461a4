import type { Db } from '../kit/engines/postgres/open.ts';
import { getTimeZone } from '../kit/operation/local-days.ts';
import { DAY_MS } from '../kit/values/duration.ts';
import { validationError } from '../kit/values/errors.ts';
import {
  dayIn,
  daysAfter,
  listHours,
  offsetAt,
  offsetText,
  timeIn,
  toInstant,
  toLocalText,
  toMonday,
  wallMs,
} from '../kit/values/time-zone.ts';
import { toEnd, toStart } from './figures/sums.ts';
import type { AnalyticsFilter, Granularity } from './summary/summary.shapes.ts';

const DEFAULT_DAYS = 30;
const MAX_BUCKETS = 1_000;
const MAX_DAYS_BY_HOUR = 31;

export interface Period {
  from: Date;
  /** Exclusive. */
  until: Date;
  /** As requested, or the default days. */
  shown: { from: string; to: string };
  /** The zone of its days. */
  timeZone: string;
}

const periodError = (message: string) => validationError([{ field: 'from', code: 'invalid', message }]);

/** The requested period; by default the last 30 days, including today. */
export function resolvePeriod({ from, to }: Pick<AnalyticsFilter, 'from' | 'to'>, now: Date, timeZone: string): Period {
  const lastDay = to ?? dayIn(timeZone, now);
  const until = toEnd(lastDay, timeZone);
  const firstDay = from ?? daysAfter(dayIn(timeZone, new Date(until.getTime() - 1)), 1 - DEFAULT_DAYS);
  const start = toStart(firstDay, timeZone);
  if (start >= until) throw periodError('must not be after `to`.');
  return { from: start, until, shown: { from: firstDay, to: lastDay }, timeZone };
}

/** The requested period in the zone of the request, or else of the brand. */
export async function findPeriod(
  db: Db,
  brandId: string,
  query: Pick<AnalyticsFilter, 'from' | 'to' | 'time_zone'>,
  now: Date,
): Promise<Period> {
  return resolvePeriod(query, now, query.time_zone ?? (await getTimeZone(db, brandId)));
}

/** Throws if the period has too many buckets for one answer. */
export function assertBuckets({ from, until }: Period, granularity: Granularity): void {
  const days = (until.getTime() - from.getTime()) / DAY_MS;
  if (granularity === 'hour') {
    if (days > MAX_DAYS_BY_HOUR)
      throw periodError(`must be at most ${MAX_DAYS_BY_HOUR} days before \`to\` with \`granularity=hour\`.`);
  } else if (days / DAYS_AT_LEAST[granularity] > MAX_BUCKETS) {
    throw periodError(`must give at most ${MAX_BUCKETS} buckets; use a larger granularity.`);
  }
}

/** The same date and time a year before; 28 February for the 29th. */
function yearBefore(at: Date, timeZone: string): Date {
  const wall = new Date(wallMs(timeZone, at.getTime()));
  const before = new Date(wall);
  before.setUTCFullYear(wall.getUTCFullYear() - 1);
  if (before.getUTCMonth() !== wall.getUTCMonth()) before.setUTCDate(0);
  return new Date(toInstant(timeZone, before.getTime()));
}

/** True if a day of the zone begins at a moment. */
export const isDayStart = (at: Date, timeZone: string): boolean =>
  timeIn(timeZone, dayIn(timeZone, at)).getTime() === at.getTime();

/** The period of as many days before, or of the same dates a year before. */
function toEarlierSpan({ from, until, timeZone }: Period, compare: 'previous' | 'year'): { from: Date; until: Date } {
  if (compare === 'year') return { from: yearBefore(from, timeZone), until: yearBefore(until, timeZone) };
  if (!isDayStart(from, timeZone) || !isDayStart(until, timeZone)) {
    return { from: new Date(2 * from.getTime() - until.getTime()), until: from };
  }
  const [first, next] = [dayIn(timeZone, from), dayIn(timeZone, until)];
  const days = Math.round((Date.parse(next) - Date.parse(first)) / DAY_MS);
  return { from: timeIn(timeZone, daysAfter(first, -days)), until: from };
}

/** The period to compare with. */
export function toEarlierPeriod(period: Period, compare: 'previous' | 'year'): Period {
  const { timeZone } = period;
  const { from, until } = toEarlierSpan(period, compare);
  const last = new Date(until.getTime() - 1);
  const isDays = isDayStart(from, timeZone) && isDayStart(until, timeZone);
  const shownPeriod = isDays
    ? { from: dayIn(timeZone, from), to: dayIn(timeZone, last) }
    : { from: from.toISOString(), to: last.toISOString() };
  return { from, until, shown: shownPeriod, timeZone };
}

const DAYS_AT_LEAST: Record<Exclude<Granularity, 'hour'>, number> = { day: 1, week: 7, month: 28 };

/** The first day of the bucket that contains a day. */
export function toBucket(day: string, granularity: Exclude<Granularity, 'hour'>): string {
  if (granularity === 'month') return `${day.slice(0, 8)}01`;
  return granularity === 'day' ? day : toMonday(day);
}

interface Bucket {
  /** Its first day, or the first moment of an hour. */
  date: string;
  /** The days, or the day and hour, of its figures. */
  keys: readonly string[];
}

/** The hours of a period, by their keys. */
function listHourBuckets({ from, until, timeZone }: Period): Bucket[] {
  return listHours(timeZone, from.getTime(), until.getTime()).map((at) => {
    const offset = offsetText(offsetAt(timeZone, at));
    const key = `${new Date(wallMs(timeZone, at)).toISOString().slice(0, 13)}${offset}`;
    return { date: timeZone === 'UTC' ? new Date(at).toISOString() : toLocalText(timeZone, at), keys: [key] };
  });
}

/** Every bucket of the period, in order. */
export function listBuckets(period: Period, granularity: Granularity): Bucket[] {
  if (granularity === 'hour') return listHourBuckets(period);
  const { from, until, timeZone } = period;
  const [first, last] = [dayIn(timeZone, from), dayIn(timeZone, new Date(until.getTime() - 1))];
  const days: string[] = [];
  for (let day = first; day <= last; day = daysAfter(day, 1)) days.push(day);
  const buckets = Map.groupBy(days, (day) => toBucket(day, granularity));
  return [...buckets].map(([date, keys]) => ({ date, keys }));
}
