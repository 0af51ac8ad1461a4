import { z } from 'zod';
import { isOnStorableDay } from '../../kit/engines/clickhouse/tsv.ts';
import { currencyField, idField } from '../../kit/values/fields.ts';
import { Currency } from '../../kit/values/money.ts';
import { integerParameter, timestamp } from '../../kit/values/page.ts';
import { TimeZone } from '../../kit/values/time-zone.ts';
import { fromOutside } from '../../kit/values/untrusted.ts';
import { CLICK_KINDS } from '../../kit/values/visitor.ts';
import { OrderKind } from '../../workflow/terms/terms.shapes.ts';
import { Boundary, toStart } from '../figures/sums.ts';

const money = z.number();
const OtherCurrency = z.object({
  currency: currencyField.describe("ISO 4217 code of a currency other than the brand's."),
  revenue: money.describe('Sales minus refunds in this currency, in its major units.').meta({ example: 310.2 }),
});
const otherCurrencies = z
  .array(OtherCurrency)
  .describe("The same in currencies other than the brand's; empty when nothing was sold in them.");

const GRANULARITIES = ['hour', 'day', 'week', 'month'] as const;
export type Granularity = (typeof GRANULARITIES)[number];

/** The answer has a date for every bucket of the period, so ClickHouse must be able to store both ends. */
const StorableBoundary = Boundary.refine(
  (boundary) => isOnStorableDay(toStart(boundary)),
  'must be from 1970-01-01 to 2149-06-06 in UTC',
);

/** The value of a filter that selects the key null. */
export const NONE = 'none';

/** A provider, or one of its stores as commissions show it. */
const SOURCE = /^(?:manual|none|(?:shopify|woocommerce|generic)(?::[!-\uffff]+)?)$/;

/** A filter takes the `key` of a breakdown's row. */
const keyFilter = (what: string, example: string, max = 100) =>
  z.string().min(1).max(max).optional().describe(`${what} \`none\`: those without one.`).meta({ example });

const utm = (name: string, example: string) =>
  keyFilter(`Only clicks with this \`${name}\`, and orders that such clicks won.`, example);

/** Filters of figures by the dimensions of a breakdown, under the same names. */
export const DimensionFilter = {
  country: z
    .string()
    .regex(/^(?:[A-Z]{2}|none)$/, 'must be an ISO 3166 code such as `DE`, or `none`')
    .refine((code) => code !== 'UK', 'must be the ISO 3166 code GB')
    .optional()
    .describe('Only clicks from this country, and orders that such clicks won. `none`: unknown, or won by a code.'),
  device: z
    .enum(['mobile', 'tablet', 'desktop', 'bot', 'none'])
    .optional()
    .describe('Only clicks on this kind of device, and orders that such clicks won. `none`: orders that a code won.'),
  referrer: keyFilter('Only clicks from this host, and orders that such clicks won.', 'l.instagram.com', 253),
  creator: keyFilter('Only clicks, orders and commissions of the creator with this id.', 'crt_0Uo3xK2mVdT2aXs7LpRb'),
  campaign: keyFilter('Only codes and links that belong to this campaign now.', 'cmp_0Uo3xK2mVdT2aXs7LpRb'),
  link: keyFilter('Only this code or link.', 'lnk_0Uo3xK2mVdT2aXs7LpRb'),
  platform: keyFilter('Only codes and links with this `platform`.', 'photo_app'),
  store: keyFilter('Only orders of this store. Clicks have no store.', 'int_0Uo3xK2mVdT2aXs7LpRb'),
  source: z
    .string()
    .max(500)
    .refine(
      (source) => SOURCE.test(source),
      `must be a provider such as \`shopify\`, one of its stores such as \`generic:shop.example\`, \`manual\` or \`none\``,
    )
    .optional()
    .describe(
      'Only orders of stores of this provider, or of a `provider:host`, or `manual` commissions. Clicks have no provider. `none`: those without one.',
    )
    .meta({ example: 'shopify' }),
  product: keyFilter("Only this product's part of orders, by SKU. Clicks have no product.", 'SERUM-30', 200),
  weekday: integerParameter({ min: 1, max: 7 }).optional().describe('Only this day of the week: 1 is Monday.'),
  hour: integerParameter({ min: 0, max: 23 }).optional().describe('Only this hour of the day.'),
  click_kind: z
    .enum([...CLICK_KINDS, 'none'])
    .optional()
    .describe('Only clicks of this kind, and orders that such clicks won. `none`: orders won by a code.'),
  utm_source: utm('utm_source', 'instagram'),
  utm_medium: utm('utm_medium', 'story'),
  utm_campaign: utm('utm_campaign', 'spring'),
  utm_term: utm('utm_term', 'serum'),
  utm_content: utm('utm_content', 'bio'),
  group: keyFilter('Only codes and links of creators who are in this group now.', 'grp_0Uo3xK2mVdT2aXs7LpRb'),
  kind: z
    .enum([...OrderKind.options, 'none'])
    .optional()
    .describe('Only orders of this kind, such as renewals of subscriptions. Clicks have no kind of order.')
    .meta({ example: 'renewal' }),
};

const Dimensions = z.object(DimensionFilter);
export type DimensionFilter = z.output<typeof Dimensions>;

export const compare = z
  .enum(['previous', 'year'])
  .optional()
  .describe(
    'Adds figures of an earlier period. `previous`: the period of the same length just before. `year`: the same dates a year before.',
  );

/** The zone of the days of a request. */
export const timeZoneQuery = TimeZone.optional().describe(
  "IANA time zone of days, weeks, months, weekdays and hours. Omitted: the brand's.",
);

export const shownTimeZone = z
  .string()
  .describe('Time zone of the days of the period.')
  .meta({ example: 'Europe/Berlin' });

export const PeriodQuery = {
  from: StorableBoundary.optional()
    .describe('Start of the period: a day or a time. Omitted: the 30 days up to its end.')
    .meta({ example: '2026-03-01' }),
  to: StorableBoundary.optional().describe(
    'End of the period: a day, which is included whole, or a time. Omitted: today.',
  ),
  time_zone: timeZoneQuery,
};

export const currencyQuery = Currency.optional().describe(
  'Only figures in this currency. Omitted: a row for each currency.',
);

const minor = z.number().int();

/** Figures of orders in a row; `docs/analytics.md` has the same definitions. */
export const orderFigures = {
  orders: minor
    .describe('Attributed orders that were paid, at the time of the order; refunds do not reduce them.')
    .meta({ example: 18 }),
  revenue_minor: minor
    .describe('Sales of those orders minus refunds made in the period, in minor units of `currency`.')
    .meta({ example: 186_000 }),
  refunds_minor: minor
    .describe('Refunds, by the time of the refund, in minor units. They are already deducted from `revenue_minor`.')
    .meta({ example: 4_000 }),
};

export const commissionFigure = minor
  .describe(
    'Commission on those orders and commissions recorded by hand, not `rejected`, minus what refunds took back after payment.',
  )
  .meta({ example: 18_600 });

export const historySince = timestamp
  .nullable()
  .describe('Time of the oldest known order. Customers from before it count as new. Null without orders.')
  .meta({ example: '2025-11-02T09:30:00.000Z' });

/** Without filters. */
export const PlainAnalyticsFilter = z.object({
  ...PeriodQuery,
  granularity: z
    .enum(GRANULARITIES)
    .default('day')
    .describe('Length of a bucket in `trends`. Weeks begin on Monday. `hour`: for up to 31 days.'),
});

export const AnalyticsFilter = PlainAnalyticsFilter.extend({ ...DimensionFilter, compare });
export type AnalyticsFilter = z.output<typeof AnalyticsFilter>;

export const ShownPeriod = z.object({
  from: z
    .string()
    .describe('Start of the period, as requested, or the first day by default.')
    .meta({ example: '2026-03-01' }),
  to: z
    .string()
    .describe('End of the period, as requested, or today by default; a day is included whole.')
    .meta({ example: '2026-03-31' }),
});

const Summary = z.object({
  total_revenue: money
    .describe("Sales minus refunds in the period, in major units of the brand's currency.")
    .meta({ example: 5120.4 }),
  total_commissions: money
    .describe(
      "Commission on sales of the period, in major units of the brand's currency: pending, approved and paid, minus what refunds took back after payment.",
    )
    .meta({ example: 412.5 }),
  total_clicks: z.number().int().describe('Clicks on all links in the period, without bots.').meta({ example: 1840 }),
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
});

/** Money is in major units of the brand's currency; `by_currency` beside it has the other currencies. */
export const Analytics = z
  .object({
    period: ShownPeriod.describe('The period that the figures cover.'),
    time_zone: shownTimeZone,
    summary: Summary.describe('Totals of the period.'),
    previous: z
      .object({ period: ShownPeriod.describe('The earlier period.'), summary: Summary.describe('Its totals.') })
      .nullable()
      .describe('Totals of the period to compare with; null without `compare`.'),
    top_creators: z
      .array(
        z.object({
          id: idField('crt', 'Id of a top creator, as in `/v1/creators`.'),
          name: fromOutside(
            z
              .string()
              .nullable()
              .describe(
                "The creator's name, else the name given with their newest link, else a handle, else the email address.",
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
          date: z
            .string()
            .describe(
              'First day of the bucket. For an hour, its start: `2026-03-01T13:00:00.000Z` in UTC, else `2026-03-01T14:00:00+01:00`.',
            )
            .meta({ example: '2026-03-01' }),
          revenue: money
            .describe("Sales minus refunds in the bucket, in major units of the brand's currency.")
            .meta({ example: 164.9 }),
          clicks: z.number().int().describe('Clicks in the bucket, without bots.').meta({ example: 60 }),
          by_currency: otherCurrencies,
        }),
      )
      .describe('The period in buckets, oldest first, including empty ones.'),
  })
  .meta({ id: 'Analytics' });
