import { endOf, startOf } from '../../figures/schema.ts';
import { DAY_MS } from '../../values/duration.ts';
import { validationError } from '../../values/errors.ts';
import type { AnalyticsFilter, Granularity } from './schema.ts';

const DEFAULT_DAYS = 30;
const MAX_BUCKETS = 1_000;

export interface Period {
  from: Date;
  /** Excluded. */
  until: Date;
  /** As requested, or the default days. */
  shown: { from: string; to: string };
}

const dayOf = (at: Date): string => at.toISOString().slice(0, 10);

const refuse = (message: string) => validationError([{ field: 'from', code: 'invalid', message }]);

/** The requested period; by default the last 30 UTC days, including today. */
export function periodOf({ from, to, granularity }: AnalyticsFilter, now: Date): Period {
  const lastDay = to ?? dayOf(now);
  const until = endOf(lastDay);
  const midnight = Date.parse(dayOf(new Date(until.getTime() - 1)));
  const firstDay = from ?? dayOf(new Date(midnight - (DEFAULT_DAYS - 1) * DAY_MS));
  const start = startOf(firstDay);
  if (start >= until) throw refuse('must not be after `to`.');
  const period = { from: start, until, shown: { from: firstDay, to: lastDay } };
  if ((until.getTime() - start.getTime()) / DAY_MS / DAYS_AT_LEAST[granularity] > MAX_BUCKETS) {
    throw refuse(`must leave at most ${MAX_BUCKETS} buckets; use a larger granularity.`);
  }
  return period;
}

const DAYS_AT_LEAST: Record<Granularity, number> = { day: 1, week: 7, month: 28 };

/** The first day of the bucket that contains a day. */
export function bucketOf(day: string, granularity: Granularity): string {
  if (granularity === 'month') return `${day.slice(0, 8)}01`;
  if (granularity === 'day') return day;
  const at = new Date(day);
  const sinceMonday = (at.getUTCDay() + 6) % 7;
  return dayOf(new Date(at.getTime() - sinceMonday * DAY_MS));
}

/** Every bucket of the period, in order. */
export function bucketsOf({ from, until }: Period, granularity: Granularity): string[] {
  const buckets = new Set<string>();
  for (let at = Date.parse(dayOf(from)); at < until.getTime(); at += DAY_MS) {
    buckets.add(bucketOf(dayOf(new Date(at)), granularity));
  }
  return [...buckets];
}
