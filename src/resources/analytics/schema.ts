import { z } from 'zod';
import { isOnStorableDay } from '../../engines/clickhouse/tsv.ts';
import { Boundary, startOf } from '../../figures/schema.ts';
import { currencyField, idField } from '../../values/fields.ts';
import { fromOutside } from '../../values/untrusted.ts';

const money = z.number();
const OtherCurrency = z.object({
  currency: currencyField.describe("ISO 4217 code of a currency other than the brand's."),
  revenue: money.describe('Sales minus refunds in this currency, in its major units.').meta({ example: 310.2 }),
});
const otherCurrencies = z
  .array(OtherCurrency)
  .describe("The same in currencies other than the brand's; empty when nothing was sold in them.");

const GRANULARITIES = ['day', 'week', 'month'] as const;
export type Granularity = (typeof GRANULARITIES)[number];

/** The answer has a date for every bucket of the period, so ClickHouse must be able to store both ends. */
const StorableBoundary = Boundary.refine(
  (boundary) => isOnStorableDay(startOf(boundary)),
  'must be from 1970-01-01 to 2149-06-06 in UTC',
);

export const AnalyticsFilter = z.object({
  from: StorableBoundary.optional()
    .describe('Start of the period: a UTC day or a time. Omitted: the 30 days up to its end.')
    .meta({ example: '2026-03-01' }),
  to: StorableBoundary.optional().describe(
    'End of the period: a UTC day, which is included whole, or a time. Omitted: today.',
  ),
  granularity: z.enum(GRANULARITIES).default('day').describe('Length of a bucket in `trends`. Weeks begin on Monday.'),
});
export type AnalyticsFilter = z.output<typeof AnalyticsFilter>;

/** Money is in major units of the brand's currency; `by_currency` beside it has the other currencies. */
export const Analytics = z
  .object({
    period: z
      .object({
        from: z
          .string()
          .describe('Start of the period, as requested, or the first day by default.')
          .meta({ example: '2026-03-01' }),
        to: z
          .string()
          .describe('End of the period, as requested, or today by default; a day is included whole.')
          .meta({ example: '2026-03-31' }),
      })
      .describe('The period that the figures cover, in UTC.'),
    summary: z
      .object({
        total_revenue: money
          .describe("Sales minus refunds in the period, in major units of the brand's currency.")
          .meta({ example: 5120.4 }),
        total_commissions: money
          .describe(
            "Commission on sales of the period, in major units of the brand's currency: pending, approved and paid, minus what refunds took back after payment.",
          )
          .meta({ example: 412.5 }),
        total_clicks: z
          .number()
          .int()
          .describe('Clicks on all links in the period, without bots.')
          .meta({ example: 1840 }),
        total_conversions: z
          .number()
          .int()
          .describe('Attributed orders placed in the period, in any currency; refunds do not reduce them.')
          .meta({ example: 52 }),
        conversion_rate: z
          .number()
          .describe(
            'Orders earned by a click, in percent of all clicks, to two decimals. Orders earned by a discount code do not count.',
          )
          .meta({ example: 2.5 }),
        active_creators: z
          .number()
          .int()
          .describe('Creators with a click or an attributed order in the period.')
          .meta({ example: 14 }),
        active_campaigns: z
          .number()
          .int()
          .describe('Campaigns that are `active` now, whatever the period.')
          .meta({ example: 3 }),
        content_pieces_tracked: z
          .number()
          .int()
          .describe('Posts tracked by the end of the period and not deleted before its start.')
          .meta({ example: 7 }),
        by_currency: z
          .array(
            OtherCurrency.extend({
              commissions: money.describe('Commission in this currency, in its major units.').meta({ example: 31.02 }),
            }),
          )
          .describe("Revenue and commission in currencies other than the brand's, one row per currency."),
      })
      .describe('Totals of the period.'),
    top_creators: z
      .array(
        z.object({
          id: idField('crt', 'Id of a top creator, as in `/v1/creators`.'),
          name: fromOutside(
            z
              .string()
              .nullable()
              .describe(
                "The creator's name, else the name given with their newest link, else a handle; null without any.",
              )
              .meta({ example: 'Ana Ortiz' }),
          ),
          revenue: money
            .describe("Sales minus refunds of the creator's orders, in major units of the brand's currency.")
            .meta({ example: 1860 }),
          conversions: z
            .number()
            .int()
            .describe("Orders attributed to the creator's codes and links in the period.")
            .meta({ example: 21 }),
          by_currency: otherCurrencies,
        }),
      )
      .describe("Up to 10 creators with the highest revenue in the brand's currency, then with the most conversions."),
    trends: z
      .array(
        z.object({
          date: z.iso.date().describe('First UTC day of the bucket.').meta({ example: '2026-03-01' }),
          revenue: money
            .describe("Sales minus refunds in the bucket, in major units of the brand's currency.")
            .meta({ example: 164.9 }),
          clicks: z.number().int().describe('Clicks in the bucket, without bots.').meta({ example: 60 }),
          by_currency: otherCurrencies,
        }),
      )
      .describe('The course of the period: one row for each bucket, including empty ones, oldest first.'),
  })
  .meta({ id: 'Analytics' });
