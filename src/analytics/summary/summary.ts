import { sql } from 'kysely';
import { COUNT, countRows } from '../../kit/engines/postgres/count.ts';
import type { Db } from '../../kit/engines/postgres/open.ts';
import { fromMinor } from '../../kit/values/decimals.ts';
import { computeCommission, computeRevenue, type Sums, type Window } from '../figures/sums.ts';
import { listBuckets, type Period } from '../periods.ts';
import type { Granularity } from './summary.shapes.ts';

export const countActiveCampaigns = (db: Db, brandId: string): Promise<number> =>
  countRows(db.selectFrom('campaigns').select(COUNT).where('brandId', '=', brandId).where('status', '=', 'active'));

/** Paid orders that a click earned, placed in the window. */
export const countConversionsByClick = (db: Db, brandId: string, { from, until }: Window): Promise<number> =>
  countRows(
    db
      .selectFrom('commissions')
      .where('brandId', '=', brandId)
      .where('clickId', 'is not', null)
      .where('paidAt', 'is not', null)
      .where(sql<boolean>`(${from ?? null}::timestamptz is null or occurred_at >= ${from ?? null})`)
      .where(sql<boolean>`(${until ?? null}::timestamptz is null or occurred_at < ${until ?? null})`)
      .select(COUNT),
  );

const TOP = 10;

const total = (rows: readonly Sums[], of: (sums: Sums) => number) => rows.reduce((sum, row) => sum + of(row), 0);

/** Money of many rows, in major units: the brand's currency, and the other currencies apart. */
function sumMoney(rows: readonly Sums[], currency: string) {
  const groups = Map.groupBy(rows, (row) => row.currency);
  const others = [...groups.keys()].filter((code) => code !== currency).sort();
  const inCurrency = (code: string) => {
    const own = groups.get(code) ?? [];
    return {
      currency: code,
      revenue: fromMinor(total(own, computeRevenue), code),
      commissions: fromMinor(total(own, computeCommission), code),
    };
  };
  // A currency without sales only has clicks.
  const withMoney = others.map(inCurrency).filter(({ revenue, commissions }) => revenue !== 0 || commissions !== 0);
  return { own: inCurrency(currency), others: withMoney };
}

const withoutCommissions = ({ currency, revenue }: { currency: string; revenue: number }) => ({ currency, revenue });

export function toTotals(days: readonly Sums[], currency: string, conversionsByClick: number) {
  const { own, others } = sumMoney(days, currency);
  const clicks = total(days, (row) => row.clicks);
  const conversions = total(days, (row) => row.conversions);
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
export function toTopCreators(rows: readonly CreatorSums[], currency: string) {
  return [...Map.groupBy(rows, (row) => row.owner_id)]
    .map(([id, sums]) => {
      const { own, others } = sumMoney(sums, currency);
      return {
        id,
        revenue: own.revenue,
        conversions: total(sums, (row) => row.conversions),
        by_currency: others.map(withoutCommissions),
      };
    })
    .filter(({ revenue, conversions }) => revenue !== 0 || conversions > 0)
    .sort((a, b) => b.revenue - a.revenue || b.conversions - a.conversions || (a.id < b.id ? -1 : 1))
    .slice(0, TOP);
}

export function toTrends(
  days: readonly (Sums & { day: string })[],
  period: Period,
  granularity: Granularity,
  currency: string,
) {
  const byDay = Map.groupBy(days, ({ day }) => day);
  return listBuckets(period, granularity).map(({ date, keys }) => {
    const rows = keys.flatMap((key) => byDay.get(key) ?? []);
    const { own, others } = sumMoney(rows, currency);
    return {
      date,
      revenue: own.revenue,
      clicks: total(rows, (row) => row.clicks),
      by_currency: others.map(withoutCommissions),
    };
  });
}
