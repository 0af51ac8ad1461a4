import { read } from '../../../kit/operation/kit.ts';
import { figuresAnswer } from '../../figures/queries.ts';
import { FRESHNESS } from '../../figures/schema.ts';
import { eachCohort, findCohorts } from './actions.ts';
import { CohortRow, Cohorts, CohortsQuery } from './schema.ts';

const getAnalyticsCohorts = read({
  id: 'get_analytics_cohorts',
  path: '/v1/analytics/cohorts',
  tag: 'Analytics',
  summary: 'What customers bought since their first order',
  description:
    'Groups customers by the month or week of their first paid order, and shows how many of them ordered in each ' +
    `one since. All their orders count, even those that no creator won. ${FRESHNESS}`,
  forAgents: {
    description: 'By the month or week of their first paid order. All their orders count.',
    example: { of: 'attributed' },
  },
  query: CohortsQuery,
  response: Cohorts,
  ...figuresAnswer({ item: CohortRow, page: findCohorts, rows: eachCohort, from: 'customers' }),
});

export const cohortsOperations = [getAnalyticsCohorts] as const;
