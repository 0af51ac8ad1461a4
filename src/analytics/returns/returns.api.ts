import { read } from '../../kit/operation/kit.ts';
import { figuresHandlers } from '../figures/freshness.ts';
import { FRESHNESS } from '../figures/sums.ts';
import { Returns, ReturnsQuery, ReturnsRow } from './returns.shapes.ts';
import { eachReturn, findReturns } from './returns.ts';

const getAnalyticsReturns = read({
  id: 'get_analytics_returns',
  path: '/v1/analytics/returns',
  tag: 'Analytics',
  summary: 'Get returns',
  description:
    'Revenue, costs and profit, in one row for each key and currency. The rows add up to the same totals for every `by`. ' +
    `A cost that nobody entered makes figures null and is named in \`missing\`: see \`/v1/costs\`. Covers the last 30 days by default. ${FRESHNESS}`,
  forAgents: {
    description: 'Revenue, costs and profit. What nobody entered is null and named in `missing`.',
    example: { by: 'campaign' },
    omits: ['offset', 'currency'],
  },
  query: ReturnsQuery,
  response: Returns,
  ...figuresHandlers({ item: ReturnsRow, page: findReturns, rows: eachReturn }),
});

export const returnsOperations = [getAnalyticsReturns] as const;
