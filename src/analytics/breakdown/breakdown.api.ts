import { read } from '../../kit/operation/kit.ts';
import { UTM_NAMES } from '../../kit/values/utm.ts';
import { figuresHandlers } from '../figures/freshness.ts';
import { FRESHNESS } from '../figures/sums.ts';
import { Breakdown, BreakdownQuery, BreakdownRow } from './breakdown.shapes.ts';
import { eachBreakdownRow, findBreakdown } from './breakdown.ts';

const getAnalyticsBreakdown = read({
  id: 'get_analytics_breakdown',
  path: '/v1/analytics/breakdown',
  tag: 'Analytics',
  summary: 'Break figures down',
  description:
    'One row for each key and currency; the sums of all rows are those of `/v1/analytics`. An order has the country, ' +
    'device, referrer and kind of the click that won it; one that a code won has none, and is in the row with the key ' +
    `null. Covers the last 30 days by default. ${FRESHNESS}`,
  forAgents: {
    description: 'The last 30 days by default. An order that a code won has no click, so its country is null.',
    example: { by: 'creator', from: '2026-01-01', sort: 'orders' },
    omits: [
      'offset',
      'currency',
      'link',
      'click_kind',
      'source',
      'store',
      'platform',
      'group',
      'kind',
      'device',
      'referrer',
      'product',
      'weekday',
      'hour',
      ...UTM_NAMES,
    ],
  },
  query: BreakdownQuery,
  response: Breakdown,
  ...figuresHandlers({ item: BreakdownRow, page: findBreakdown, rows: eachBreakdownRow }),
});

export const breakdownOperations = [getAnalyticsBreakdown] as const;
