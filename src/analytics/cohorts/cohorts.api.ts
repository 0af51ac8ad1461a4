import { z } from 'zod';
import { read } from '../../kit/operation/kit.ts';
import { currencyField } from '../../kit/values/fields.ts';
import { figuresHandlers } from '../figures/freshness.ts';
import { Boundary, FRESHNESS } from '../figures/sums.ts';
import { historySince, ShownPeriod, shownTimeZone, timeZoneQuery } from '../summary/summary.shapes.ts';
import { eachCohort, findCohorts } from './cohorts.ts';

export const CohortsQuery = z.object({
  by: z.enum(['month', 'week']).default('month').describe('Length of a cohort. Weeks begin on Monday.'),
  metric: z
    .enum(['customers', 'orders', 'revenue'])
    .default('customers')
    .describe('What `values` counts: customers who ordered, orders, or their value.'),
  of: z
    .string()
    .min(1)
    .max(100)
    .default('all')
    .describe(
      'Whose first orders count. `attributed`: those that a creator won; an id: those that this creator won; `all`: every one.',
    )
    .meta({ example: 'attributed' }),
  from: Boundary.optional()
    .describe('Start of the period of first orders, as a day or a time. Omitted: 12 months or weeks earlier.')
    .meta({ example: '2026-01-01' }),
  to: Boundary.optional().describe(
    'End of the period of first orders, as a day or a time. A day is included whole. Omitted: today.',
  ),
  time_zone: timeZoneQuery,
});
export type CohortsQuery = z.output<typeof CohortsQuery>;

export const CohortRow = z
  .object({
    cohort: z.iso
      .date()
      .describe('First day of the month or week of the first orders.')
      .meta({ example: '2026-01-01' }),
    currency: currencyField
      .nullable()
      .describe('Currency of `values` for `metric=revenue`; null for other metrics.')
      .meta({ example: null }),
    customers: z.number().int().describe('How many customers the cohort has.').meta({ example: 120 }),
    values: z
      .array(z.number().int())
      .describe('The metric in the month or week of the first order, and in each one since, up to now.')
      .meta({ example: [120, 31, 22] }),
  })
  .meta({ id: 'CustomerCohort' });
export type CohortRow = z.infer<typeof CohortRow>;

const Cohorts = z.object({
  data: z
    .array(CohortRow)
    .describe('One row for each cohort, oldest first; for revenue, one for each cohort and currency.'),
  meta: z
    .object({
      period: ShownPeriod.describe('The period of the first orders.'),
      time_zone: shownTimeZone,
      history_since: historySince,
    })
    .describe('What the cohorts cover.'),
});

const getAnalyticsCohorts = read({
  id: 'get_analytics_cohorts',
  path: '/v1/analytics/cohorts',
  tag: 'Analytics',
  summary: 'Get customer cohorts',
  description:
    'Groups customers by the month or week of their first paid order, and shows how many of them ordered in each ' +
    `one since. All their orders count, even those that no creator won. ${FRESHNESS}`,
  forAgents: {
    description: 'By the month or week of their first paid order. All their orders count.',
    example: { of: 'attributed' },
  },
  query: CohortsQuery,
  response: Cohorts,
  ...figuresHandlers({ item: CohortRow, page: findCohorts, rows: eachCohort, from: 'customers' }),
});

export const cohortsOperations = [getAnalyticsCohorts] as const;
