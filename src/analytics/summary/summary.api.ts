import type { ClickHouse } from '../../kit/engines/clickhouse/open.ts';
import type { Context } from '../../kit/operation/context.ts';
import { read } from '../../kit/operation/kit.ts';
import { noun } from '../../kit/operation/noun.ts';
import { getBrandCurrency } from '../../platform/brands/brands.ts';
import { countTracked } from '../../workflow/content/content.ts';
import { listMerged } from '../../workflow/creators/creators.ts';
import { breakdownOperations } from '../breakdown/breakdown.api.ts';
import { toEventFilter } from '../breakdown/breakdown.ts';
import { cohortsOperations } from '../cohorts/cohorts.api.ts';
import { customersOperations } from '../customers/customers.api.ts';
import { type BreakdownSums, type Grouping, listAllBreakdown } from '../figures/breakdown.ts';
import { withFreshness } from '../figures/freshness.ts';
import { hasStoredDays } from '../figures/local-time.ts';
import { FRESHNESS, type Sums } from '../figures/sums.ts';
import { listCreatorSums, listDays, type MergedCreators } from '../figures/totals.ts';
import { listCreatorNames } from '../labels.ts';
import { performanceOperations } from '../performance/performance.api.ts';
import { assertBuckets, findPeriod, type Period, toEarlierPeriod } from '../periods.ts';
import { returnsOperations } from '../returns/returns.api.ts';
import { Analytics, AnalyticsFilter, DimensionFilter } from './summary.shapes.ts';
import {
  countActive,
  countActiveCampaigns,
  countConversionsByClick,
  toTopCreators,
  toTotals,
  toTrends,
} from './summary.ts';

type Engines = Pick<Context, 'postgres' | 'clickhouse' | 'clock'>;

/** The sums behind analytics: by day or hour, by creator, and the orders that a click won. */
interface PeriodSums {
  times: (Sums & { day: string })[];
  creators: (Sums & { owner_id: string })[];
  byClick: number;
}

/** A breakdown sums commissions of any status together. */
const toSums = ({ currency, clicks, orders, sales, refunds, commission }: BreakdownSums): Sums => ({
  currency,
  clicks,
  conversions: orders,
  sales,
  refunds,
  pending: commission,
  approved: 0,
  paid: 0,
  refund_adjustment: 0,
});

const toDaySums = (row: BreakdownSums) => ({ ...toSums(row), day: row.group_key });

/** Sums by the days of a zone, for which the days that are stored are others. */
const listZoneDays = async (clickhouse: ClickHouse, brandId: string, period: Period) =>
  (await listAllBreakdown(clickhouse, brandId, { of: 'day' }, { ...period, only: {} })).map(toDaySums);

const FILTERS = Object.keys(DimensionFilter);

/** True if the answer needs orders by the click that won them, or sums by the hour. */
const needsOrders = (query: AnalyticsFilter) =>
  query.granularity === 'hour' ||
  Object.entries(query).some(([name, value]) => value !== undefined && FILTERS.includes(name));

async function readDimensions(
  { postgres: { db }, clickhouse }: Engines,
  brandId: string,
  merged: MergedCreators,
  query: AnalyticsFilter,
  period: Period,
): Promise<PeriodSums> {
  const { granularity } = query;
  const where = { ...period, only: await toEventFilter(db, brandId, merged, query) };
  const by: Grouping = { of: granularity === 'hour' ? 'day_and_hour' : 'day' };
  const [times, creators] = await Promise.all([
    listAllBreakdown(clickhouse, brandId, by, where),
    listAllBreakdown(clickhouse, brandId, { of: 'creator', merged }, where),
  ]);
  return {
    times: times.map(toDaySums),
    creators: creators.map((row) => ({ ...toSums(row), owner_id: row.group_key })),
    byClick: times.reduce((sum, row) => sum + row.click_orders, 0),
  };
}

async function readPostings(
  { postgres: { db }, clickhouse }: Engines,
  brandId: string,
  merged: MergedCreators,
  period: Period,
): Promise<PeriodSums> {
  const [times, creators, byClick] = await Promise.all([
    hasStoredDays(period) ? listDays(clickhouse, brandId, period) : listZoneDays(clickhouse, brandId, period),
    listCreatorSums(clickhouse, brandId, period, merged),
    countConversionsByClick(db, brandId, period),
  ]);
  return { times, creators, byClick };
}

/** Reads the totals of a period and the sums behind them. */
async function readPeriod(
  engines: Engines,
  brandId: string,
  merged: MergedCreators,
  query: AnalyticsFilter,
  period: Period,
) {
  const { db } = engines.postgres;
  const [currency, campaigns, pieces, sums] = await Promise.all([
    getBrandCurrency(db, brandId),
    countActiveCampaigns(db, brandId),
    countTracked(db, brandId, period.from, period.until),
    needsOrders(query)
      ? readDimensions(engines, brandId, merged, query, period)
      : readPostings(engines, brandId, merged, period),
  ]);
  const summary = {
    ...toTotals(sums.times, currency, sums.byClick),
    active_creators: countActive(sums.creators),
    active_campaigns: campaigns,
    content_pieces_tracked: pieces,
  };
  return { ...sums, currency, summary };
}

async function findAnalytics(engines: Engines, brandId: string, query: AnalyticsFilter) {
  const { db } = engines.postgres;
  const { compare, granularity } = query;
  const period = await findPeriod(db, brandId, query, engines.clock.now());
  assertBuckets(period, granularity);
  const earlier = compare && toEarlierPeriod(period, compare);
  const mergedCreators = await listMerged(db, brandId);
  const [now, before] = await Promise.all([
    readPeriod(engines, brandId, mergedCreators, query, period),
    earlier && readPeriod(engines, brandId, mergedCreators, query, earlier),
  ]);
  const top = toTopCreators(now.creators, now.currency);
  const names = await listCreatorNames(
    db,
    brandId,
    top.map(({ id }) => id),
  );
  return {
    period: period.shown,
    time_zone: period.timeZone,
    summary: now.summary,
    previous: earlier && before ? { period: earlier.shown, summary: before.summary } : null,
    top_creators: top.map((creator) => ({ ...creator, name: names.get(creator.id) ?? null })),
    trends: toTrends(now.times, period, granularity, now.currency),
  };
}

const getAnalytics = read({
  id: 'get_analytics',
  path: '/v1/analytics',
  tag: 'Analytics',
  summary: 'Get totals, top creators and trends',
  description:
    'Covers the last 30 days by default. `trends` has every bucket of the period, including empty ones. Money is in ' +
    `the brand's currency; \`by_currency\` has the other currencies. ${FRESHNESS}`,
  forAgents: {
    description: "The last 30 days by default. Money is in the brand's currency; `by_currency` has others.",
    example: { from: '2026-01-01', granularity: 'month' },
    // get_analytics_breakdown has them.
    omits: [...FILTERS, 'compare'],
  },
  query: AnalyticsFilter,
  response: Analytics,
  handler: (context, call) =>
    withFreshness(
      context,
      call,
      () => findAnalytics(context, call.caller.brandId, call.query),
      needsOrders(call.query) ? 'orders' : 'postings',
    ),
});

const analyticsOperations = [getAnalytics] as const;

export const analyticsNoun = noun({
  name: 'analytics',
  tag: {
    name: 'Analytics',
    about: 'Figures of the brand over time.',
  },
  ids: { top_creators: 'crt', affiliates: 'crt' },
  operations: [
    ...performanceOperations,
    ...analyticsOperations,
    ...breakdownOperations,
    ...returnsOperations,
    ...customersOperations,
    ...cohortsOperations,
  ],
});
