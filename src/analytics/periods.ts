import { DAY_MS, HOUR_MS } from '../kit/values/duration.ts';
import { validationError } from '../kit/values/errors.ts';
import { isDayEdge, toEnd, toStart } from './figures/sums.ts';
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
}

export const toDay = (at: Date): string => at.toISOString().slice(0, 10);

const periodError = (message: string) => validationError([{ field: 'from', code: 'invalid', message }]);

/** The requested period; by default the last 30 UTC days, including today. */
export function resolvePeriod({ from, to }: Pick<AnalyticsFilter, 'from' | 'to'>, now: Date): Period {
  const lastDay = to ?? toDay(now);
  const until = toEnd(lastDay);
  const midnight = Date.parse(toDay(new Date(until.getTime() - 1)));
  const firstDay = from ?? toDay(new Date(midnight - (DEFAULT_DAYS - 1) * DAY_MS));
  const start = toStart(firstDay);
  if (start >= until) throw periodError('must not be after `to`.');
  return { from: start, until, shown: { from: firstDay, to: lastDay } };
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
function yearBefore(at: Date): Date {
  const before = new Date(at);
  before.setUTCFullYear(at.getUTCFullYear() - 1);
  if (before.getUTCMonth() !== at.getUTCMonth()) before.setUTCDate(0);
  return before;
}

/** The period to compare with. */
export function toEarlierPeriod({ from, until }: Period, compare: 'previous' | 'year'): Period {
  const start = compare === 'year' ? yearBefore(from) : new Date(2 * from.getTime() - until.getTime());
  const end = compare === 'year' ? yearBefore(until) : from;
  const last = new Date(end.getTime() - 1);
  const isDays = isDayEdge(start) && isDayEdge(end);
  const label = isDays
    ? { from: toDay(start), to: toDay(last) }
    : { from: start.toISOString(), to: last.toISOString() };
  return { from: start, until: end, shown: label };
}

const DAYS_AT_LEAST: Record<Exclude<Granularity, 'hour'>, number> = { day: 1, week: 7, month: 28 };

/** The first day of the bucket that contains a day, or the first moment of an hour such as `2026-03-01T13`. */
export function toBucket(day: string, granularity: Granularity): string {
  if (granularity === 'hour') return `${day}:00:00.000Z`;
  if (granularity === 'month') return `${day.slice(0, 8)}01`;
  if (granularity === 'day') return day;
  const at = new Date(day);
  const sinceMonday = (at.getUTCDay() + 6) % 7;
  return toDay(new Date(at.getTime() - sinceMonday * DAY_MS));
}

/** Every bucket of the period, in order. */
export function listBuckets({ from, until }: Period, granularity: Granularity): string[] {
  const buckets = new Set<string>();
  const [step, length] = granularity === 'hour' ? [HOUR_MS, 13] : [DAY_MS, 10];
  for (let at = Math.floor(from.getTime() / step) * step; at < until.getTime(); at += step) {
    buckets.add(toBucket(new Date(at).toISOString().slice(0, length), granularity));
  }
  return [...buckets];
}
