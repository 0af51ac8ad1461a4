import { z } from 'zod';
import { isOnStorableDay } from '../../engines/clickhouse/tsv.ts';
import { Boundary, startOf } from '../../figures/schema.ts';
import { fromOutside } from '../../values/untrusted.ts';

const money = z.number();
const OtherCurrency = z.object({ currency: z.string(), revenue: money });

const GRANULARITIES = ['day', 'week', 'month'] as const;
export type Granularity = (typeof GRANULARITIES)[number];

/** Every bucket of a period is answered with its date, so both ends must be days that figures can have. */
const StorableBoundary = Boundary.refine(
  (boundary) => isOnStorableDay(startOf(boundary)),
  'must be from 1970-01-01 to 2149-06-06 in UTC',
);

export const AnalyticsFilter = z.object({
  from: StorableBoundary.optional().describe('A UTC day or a time; default: 30 days before the end.'),
  to: StorableBoundary.optional().describe('A UTC day, which is included whole, or a time; default: today.'),
  granularity: z.enum(GRANULARITIES).default('day').describe('Weeks begin on ISO Monday.'),
});
export type AnalyticsFilter = z.output<typeof AnalyticsFilter>;

/** Money is in major units of the brand's currency; what came in others stands in `by_currency` beside it. */
export const Analytics = z
  .object({
    period: z.object({ from: z.string(), to: z.string() }),
    summary: z.object({
      total_revenue: money.describe('Sales less refunds.'),
      total_commissions: money.describe('Whatever their state, less what refunds took back.'),
      total_clicks: z.number().int(),
      total_conversions: z.number().int(),
      conversion_rate: z
        .number()
        .describe(
          'Conversions that came by a click, in percent of clicks, to two decimals; codes are redeemed without one.',
        ),
      active_creators: z.number().int().describe('With a click or a sale in the period.'),
      active_campaigns: z.number().int().describe('In status `active` now.'),
      content_pieces_tracked: z.number().int(),
      by_currency: z.array(OtherCurrency.extend({ commissions: money })),
    }),
    top_creators: z.array(
      z.object({
        id: z.string(),
        name: fromOutside(z.string().nullable()),
        revenue: money,
        conversions: z.number().int(),
        by_currency: z.array(OtherCurrency),
      }),
    ),
    trends: z.array(
      z.object({
        date: z.iso.date().describe('The first day of the bucket.'),
        revenue: money,
        clicks: z.number().int(),
        by_currency: z.array(OtherCurrency),
      }),
    ),
  })
  .meta({ id: 'Analytics' });
