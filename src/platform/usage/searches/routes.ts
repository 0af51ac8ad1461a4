import { get } from '../../../kit/operation/kit.ts';
import { DAY_MS } from '../../../kit/values/duration.ts';
import { CALLS_KEPT_MS } from '../../requests/policy.ts';
import { readSearchUsage } from './queries.ts';
import { SearchUsage, SearchUsageFilter } from './schema.ts';

export const getSearchUsage = get({
  id: 'get_search_usage',
  path: '/v1/usage/searches',
  tag: 'Usage',
  summary: 'How the brand searches',
  description:
    'Which filters keys used, how many searches found nothing, how many previews became searches, and how long ' +
    'answers took, from ' +
    'the calls of the last 14 days (`GET /v1/requests`).',
  forAgents: false,
  item: SearchUsage,
  query: SearchUsageFilter,
  errors: [],
  find: async ({ clickhouse, clock }, { caller, query }) => {
    const now = clock.now();
    const to = query.to ?? now.toISOString().slice(0, 10);
    const until = new Date(Date.parse(to) + DAY_MS);
    const first = query.from ? Date.parse(query.from) : until.getTime() - CALLS_KEPT_MS;
    const from = new Date(Math.max(first, now.getTime() - CALLS_KEPT_MS));
    return await readSearchUsage(clickhouse, caller.brandId, { from, until, keyId: query.key });
  },
});
