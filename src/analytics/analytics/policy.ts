import { DAY_MS, HOUR_MS } from '../../kit/values/duration.ts';
import { validationError } from '../../kit/values/errors.ts';
import { fromMinor } from '../../kit/values/money.ts';
import { commissionOf, endOf, isDayEdge, revenueOf, type Sums, startOf } from '../figures/schema.ts';
import type { AnalyticsFilter, Granularity } from './schema.ts';

const TOP = 10;

const total = (rows: readonly Sums[], of: (sums: Sums) => number) => rows.reduce((sum, row) => sum + of(row), 0);
const clicksOf = ({ clicks }: Sums) => clicks;
const conversionsOf = ({ conversions }: Sums) => conversions;

/** Money of many rows, in major units: the brand's currency, and the other currencies apart. */
function moneyOf(rows: readonly Sums[], currency: string) {
  const groups = Map.groupBy(rows, (row) => row.currency);
  const others = [...groups.keys()].filter((code) => code !== currency).sort();
  const inCurrency = (code: string) => {
    const own = groups.get(code) ?? [];
    return {
      currency: code,
      revenue: fromMinor(total(own, revenueOf), code),
      commissions: fromMinor(total(own, commissionOf), code),
    };
  };
  // A currency without sales only has clicks.
  const withMoney = others.map(inCurrency).filter(({ revenue, commissions }) => revenue !== 0 || commissions !== 0);
  return { own: inCurrency(currency), others: withMoney };
}

const withoutCommissions = ({ currency, revenue }: { currency: string; revenue: number }) => ({ currency, revenue });

export function totalsOf(days: readonly Sums[], currency: string, conversionsByClick: number) {
  const { own, others } = moneyOf(days, currency);
  const clicks = total(days, clicksOf);
  const conversions = total(days, conversionsOf);
  return {
    total_revenue: own.revenue,
    total_commissions: own.commissions,
    total_clicks: clicks,
    total_conversions: conversions,
    conversion_rate: clicks === 0 ? 0 : Math.round((conversionsByClick / clicks) * 10_000) / 100,
    by_currency: others,
  };
}

type CreatorSums = Sums & { owner_id: string };

export function countActive(rows: readonly CreatorSums[]): number {
  return new Set(rows.filter((row) => row.clicks > 0 || row.conversions > 0).map((row) => row.owner_id)).size;
}

/** By revenue in the brand's currency, then conversions, then id. */
export function topOf(rows: readonly CreatorSums[], currency: string) {
  return [...Map.groupBy(rows, (row) => row.owner_id)]
    .map(([id, sums]) => {
      const { own, others } = moneyOf(sums, currency);
      return {
        id,
        revenue: own.revenue,
        conversions: total(sums, conversionsOf),
        by_currency: others.map(withoutCommissions),
      };
    })
    .filter(({ revenue, conversions }) => revenue !== 0 || conversions > 0)
    .sort((a, b) => b.revenue - a.revenue || b.conversions - a.conversions || (a.id < b.id ? -1 : 1))
    .slice(0, TOP);
}

export function trendsOf(
  days: readonly (Sums & { day: string })[],
  period: Period,
  granularity: Granularity,
  currency: string,
) {
  const byBucket = Map.groupBy(days, ({ day }) => bucketOf(day, granularity));
  return bucketsOf(period, granularity).map((date) => {
    const rows = byBucket.get(date) ?? [];
    const { own, others } = moneyOf(rows, currency);
    return {
      date,
      revenue: own.revenue,
      clicks: total(rows, clicksOf),
      by_currency: others.map(withoutCommissions),
    };
  });
}

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

const dayOf = (at: Date): string => at.toISOString().slice(0, 10);

const refuse = (message: string) => validationError([{ field: 'from', code: 'invalid', message }]);

/** The requested period; by default the last 30 UTC days, including today. */
export function periodOf({ from, to }: Pick<AnalyticsFilter, 'from' | 'to'>, now: Date): Period {
  const lastDay = to ?? dayOf(now);
  const until = endOf(lastDay);
  const midnight = Date.parse(dayOf(new Date(until.getTime() - 1)));
  const firstDay = from ?? dayOf(new Date(midnight - (DEFAULT_DAYS - 1) * DAY_MS));
  const start = startOf(firstDay);
  if (start >= until) throw refuse('must not be after `to`.');
  return { from: start, until, shown: { from: firstDay, to: lastDay } };
}

/** Throws if the period has too many buckets for one answer. */
export function assertBuckets({ from, until }: Period, granularity: Granularity): void {
  const days = (until.getTime() - from.getTime()) / DAY_MS;
  if (granularity === 'hour') {
    if (days > MAX_DAYS_BY_HOUR)
      throw refuse(`must be at most ${MAX_DAYS_BY_HOUR} days before \`to\` with \`granularity=hour\`.`);
  } else if (days / DAYS_AT_LEAST[granularity] > MAX_BUCKETS) {
    throw refuse(`must give at most ${MAX_BUCKETS} buckets; use a larger granularity.`);
  }
}

/** The same date and time a year before; of 29 February the 28th. */
function yearBefore(at: Date): Date {
  const before = new Date(at);
  before.setUTCFullYear(at.getUTCFullYear() - 1);
  if (before.getUTCMonth() !== at.getUTCMonth()) before.setUTCDate(0);
  return before;
}

/** The period to compare with. */
export function earlierOf({ from, until }: Period, compare: 'previous' | 'year'): Period {
  const start = compare === 'year' ? yearBefore(from) : new Date(2 * from.getTime() - until.getTime());
  const end = compare === 'year' ? yearBefore(until) : from;
  const last = new Date(end.getTime() - 1);
  const isDays = isDayEdge(start) && isDayEdge(end);
  const shown = isDays
    ? { from: dayOf(start), to: dayOf(last) }
    : { from: start.toISOString(), to: last.toISOString() };
  return { from: start, until: end, shown };
}

const DAYS_AT_LEAST: Record<Exclude<Granularity, 'hour'>, number> = { day: 1, week: 7, month: 28 };

/** The first day of the bucket that contains a day; of an hour, such as `2026-03-01T13`, its first moment. */
export function bucketOf(day: string, granularity: Granularity): string {
  if (granularity === 'hour') return `${day}:00:00.000Z`;
  if (granularity === 'month') return `${day.slice(0, 8)}01`;
  if (granularity === 'day') return day;
  const at = new Date(day);
  const sinceMonday = (at.getUTCDay() + 6) % 7;
  return dayOf(new Date(at.getTime() - sinceMonday * DAY_MS));
}

/** Every bucket of the period, in order. */
function bucketsOf({ from, until }: Period, granularity: Granularity): string[] {
  const buckets = new Set<string>();
  const [step, length] = granularity === 'hour' ? [HOUR_MS, 13] : [DAY_MS, 10];
  for (let at = Math.floor(from.getTime() / step) * step; at < until.getTime(); at += step) {
    buckets.add(bucketOf(new Date(at).toISOString().slice(0, length), granularity));
  }
  return [...buckets];
}
