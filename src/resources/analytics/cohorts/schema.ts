import { z } from 'zod';
import { Boundary } from '../../../figures/schema.ts';
import { currencyField } from '../../../values/fields.ts';
import { historySince, ShownPeriod } from '../schema.ts';

export const CohortsQuery = z.object({
  by: z.enum(['month', 'week']).default('month').describe('Length of a cohort. Weeks begin on Monday.'),
  metric: z
    .enum(['customers', 'orders', 'revenue'])
    .default('customers')
    .describe(
      'What `values` counts. `customers`: customers who ordered; `orders`: their orders; `revenue`: the value of these orders.',
    ),
  of: z
    .string()
    .min(1)
    .max(100)
    .default('all')
    .describe(
      'Customers to count, by their first order. `all`: any; `attributed`: one that a creator won; an id: one that this creator won.',
    )
    .meta({ example: 'attributed' }),
  from: Boundary.optional()
    .describe(
      'Start of the period of first orders, as a UTC day or a time. Omitted: 12 months or weeks before its end.',
    )
    .meta({ example: '2026-01-01' }),
  to: Boundary.optional().describe(
    'End of the period of first orders, as a UTC day, which is included whole, or a time. Omitted: today.',
  ),
});
export type CohortsQuery = z.output<typeof CohortsQuery>;

export const CohortRow = z
  .object({
    cohort: z.iso
      .date()
      .describe('First UTC day of the month or week of the first orders.')
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

export const Cohorts = z.object({
  data: z
    .array(CohortRow)
    .describe('One row for each cohort, oldest first; for revenue, one for each cohort and currency.'),
  meta: z
    .object({
      period: ShownPeriod.describe('The period of the first orders, in UTC.'),
      history_since: historySince,
    })
    .describe('What the cohorts cover.'),
});
