import { nothing, operation } from '../../api/operation.ts';
import { pageOf, paginationOf } from '../../api/page.ts';
import { fresh, freshRows, listPerformance, totalPerformance } from '../../figures/queries.ts';
import { FRESHNESS } from '../../figures/schema.ts';
import { balancesOf, eachRow, rowsOf, whereOf } from './rows.ts';
import { PerformanceFilter, PerformanceList, PerformanceRow } from './schema.ts';

const listAffiliatePerformance = operation({
  id: 'list_affiliate_performance',
  method: 'GET',
  path: '/v1/affiliates/performance',
  tag: 'Affiliates',
  summary: 'What each assignment brought, per currency',
  description:
    'Assignments with any activity in the window, newest first. Clicks count by their own time, sales and their commission ' +
    `by the time of the order, refunds and adjustments by theirs. ${FRESHNESS}`,
  callers: ['brand'],
  params: nothing,
  query: PerformanceFilter,
  body: nothing,
  response: PerformanceList,
  hints: { readOnly: true, idempotent: true, destructive: false },
  handler: (context, { caller: { brandId }, query, ...call }) =>
    fresh(context, { ...call, caller: { brandId } }, async () => {
      const page = pageOf(query);
      const where = await whereOf(context, brandId, query);
      if (!where) return { data: [], pagination: paginationOf(page, 0), summary: { by_currency: [] } };
      const [sums, { total, byCurrency }] = await Promise.all([
        listPerformance(context.clickhouse, brandId, where, page),
        totalPerformance(context.clickhouse, brandId, where),
      ]);
      const data = await rowsOf(context, brandId, sums);
      return { data, pagination: paginationOf(page, total), summary: { by_currency: byCurrency.map(balancesOf) } };
    }),
  csv: {
    item: PerformanceRow,
    rows: (context, call) => freshRows(context, call, eachRow(context, call.caller.brandId, call.query)),
  },
});

export const performanceOperations = [listAffiliatePerformance] as const;
