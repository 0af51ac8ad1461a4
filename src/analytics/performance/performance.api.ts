import { read } from '../../kit/operation/kit.ts';
import { toPage, toPagination } from '../../kit/values/page.ts';
import { withFreshness, withFreshRows } from '../figures/freshness.ts';
import { listPerformance, totalPerformance } from '../figures/performance.ts';
import { FRESHNESS } from '../figures/sums.ts';
import {
  CampaignPerformance,
  CampaignPerformanceFilter,
  CampaignPerformanceList,
  PerformanceFilter,
  PerformanceList,
  PerformanceRow,
} from './performance.shapes.ts';
import { eachByCampaign, eachRow, listByCampaign, toBalances, toPerformanceFilter, toRows } from './performance.ts';

const listAffiliatePerformance = read({
  id: 'list_affiliate_performance',
  path: '/v1/affiliates/performance',
  tag: 'Affiliates',
  summary: 'Get performance by code or link',
  description:
    'One row for each code or link and currency with any activity in the window, newest first. Clicks, refunds and ' +
    `adjustments count by their own time, sales and their commission by the time of the order. Manual commissions have no code or link and are left out. ${FRESHNESS}`,
  forAgents: {
    description:
      'One row for each code or link and currency with any activity, newest first; `summary` has the totals.',
    example: { date_from: '2026-01-01', sort: 'revenue' },
    omits: ['offset', 'link_ids'],
  },
  query: PerformanceFilter,
  response: PerformanceList,
  handler: (context, { caller: { brandId }, query, ...call }) =>
    withFreshness(context, { ...call, caller: { brandId } }, async () => {
      const page = toPage(query);
      const where = await toPerformanceFilter(context, brandId, query);
      if (!where)
        return {
          data: [],
          pagination: toPagination(page, 0),
          summary: { by_currency: [], time_zone: query.time_zone },
        };
      const [sums, { total, byCurrency }] = await Promise.all([
        listPerformance(context.clickhouse, brandId, where, { ...page, sort: query.sort }),
        totalPerformance(context.clickhouse, brandId, where),
      ]);
      const data = await toRows(context, brandId, sums);
      return {
        data,
        pagination: toPagination(page, total),
        summary: { by_currency: byCurrency.map(toBalances), time_zone: query.time_zone },
      };
    }),
  csv: {
    item: PerformanceRow,
    rows: (context, call) => withFreshRows(context, call, eachRow(context, call.caller.brandId, call.query)),
  },
});

const listCampaignPerformance = read({
  id: 'list_campaign_performance',
  path: '/v1/affiliates/performance/campaigns',
  tag: 'Affiliates',
  summary: 'Get performance by campaign',
  description:
    "One row for each campaign and currency, with the sums of its codes and links. All of a link's activity counts for " +
    `its current campaign. The highest revenue comes first. ${FRESHNESS}`,
  // get_analytics_breakdown does the same.
  forAgents: { isListed: false },
  query: CampaignPerformanceFilter,
  response: CampaignPerformanceList,
  handler: (context, { query, ...call }) =>
    withFreshness(context, call, async () => {
      const page = toPage(query);
      const rows = await listByCampaign(context, call.caller.brandId, query);
      return {
        data: rows.slice(page.offset, page.offset + page.limit),
        pagination: toPagination(page, rows.length),
        meta: { time_zone: query.time_zone },
      };
    }),
  csv: {
    item: CampaignPerformance,
    rows: (context, call) => withFreshRows(context, call, eachByCampaign(context, call.caller.brandId, call.query)),
  },
});

export const performanceOperations = [listAffiliatePerformance, listCampaignPerformance] as const;
