import { fresh, listCreatorSums, listDays } from '../../figures/queries.ts';
import { FRESHNESS } from '../../figures/schema.ts';
import type { Context } from '../../operation/context.ts';
import { read } from '../../operation/kit.ts';
import { getBrandCurrency } from '../brands/queries.ts';
import { countTracked } from '../content/queries.ts';
import { listMerged } from '../creators/queries.ts';
import { countActive, periodOf, topOf, totalsOf, trendsOf } from './policy.ts';
import { countActiveCampaigns, countConversionsByClick, listNames } from './queries.ts';
import { Analytics, AnalyticsFilter } from './schema.ts';

async function analyticsOf({ postgres: { db }, clickhouse, clock }: Context, brandId: string, query: AnalyticsFilter) {
  const period = periodOf(query, clock.now());
  const merged = await listMerged(db, brandId);
  const [currency, campaigns, pieces, days, creators, byClick] = await Promise.all([
    getBrandCurrency(db, brandId),
    countActiveCampaigns(db, brandId),
    countTracked(db, brandId, period.from, period.until),
    listDays(clickhouse, brandId, period),
    listCreatorSums(clickhouse, brandId, period, merged),
    countConversionsByClick(db, brandId, period),
  ]);
  const top = topOf(creators, currency);
  const names = await listNames(
    db,
    brandId,
    top.map(({ id }) => id),
  );
  return {
    period: period.shown,
    summary: {
      ...totalsOf(days, currency, byClick),
      active_creators: countActive(creators),
      active_campaigns: campaigns,
      content_pieces_tracked: pieces,
    },
    top_creators: top.map((creator) => ({ ...creator, name: names.get(creator.id) ?? null })),
    trends: trendsOf(days, period, query.granularity, currency),
  };
}

const getAnalytics = read({
  id: 'get_analytics',
  path: '/v1/analytics',
  tag: 'Analytics',
  summary: 'Totals, top creators and trends of a period',
  description:
    'Covers the last 30 UTC days by default. `trends` has every bucket of the period, including empty ones. Money is in ' +
    `the brand's currency; \`by_currency\` has the other currencies. ${FRESHNESS}`,
  forAgents: {
    description:
      "Covers the last 30 UTC days by default. `trends` has every bucket of the period. Money is in the brand's currency; `by_currency` has the other currencies.",
    example: { from: '2026-01-01', granularity: 'month' },
  },
  query: AnalyticsFilter,
  response: Analytics,
  handler: (context, call) => fresh(context, call, () => analyticsOf(context, call.caller.brandId, call.query)),
});

export const analyticsOperations = [getAnalytics] as const;
