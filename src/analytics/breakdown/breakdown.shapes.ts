import { z } from 'zod';
import { currencyField } from '../../kit/values/fields.ts';
import { PageQuery, Pagination } from '../../kit/values/page.ts';
import { fromOutside } from '../../kit/values/untrusted.ts';
import { UTM_NAMES } from '../../kit/values/utm.ts';
import {
  commissionFigure,
  compare,
  currencyQuery,
  DimensionFilter,
  orderFigures,
  PeriodQuery,
  ShownPeriod,
  shownTimeZone,
} from '../summary/summary.shapes.ts';

const BY = [
  'country',
  'device',
  'referrer',
  'creator',
  'campaign',
  'link',
  'platform',
  'store',
  'source',
  'product',
  'weekday',
  'hour',
  'click_kind',
  ...UTM_NAMES,
  'group',
  'kind',
] as const;

const SORTS = ['clicks', 'visitors', 'orders', 'revenue', 'commission', 'conversion_rate', 'aov'] as const;

export const BreakdownQuery = z.object({
  by: z.enum(BY).default('creator').describe('What a row is about.').meta({ example: 'country' }),
  ...PeriodQuery,
  ...DimensionFilter,
  currency: currencyQuery,
  sort: z.enum(SORTS).default('revenue').describe('Sorts by this figure, largest first.'),
  compare,
  ...PageQuery,
});
export type BreakdownQuery = z.output<typeof BreakdownQuery>;

const minor = z.number().int();

/** `docs/analytics.md` has the same definitions. */
const Figures = {
  clicks: minor
    .describe('Clicks, without bots and repeats, at the time of the click. By `click_kind`: all clicks of that kind.')
    .meta({ example: 640 }),
  visitors: minor
    .describe(
      'People who made these clicks. Each counts once in a row, however often they come. Above a few hundred, the number is within 2%.',
    )
    .meta({ example: 512 }),
  ...orderFigures,
  commission_minor: commissionFigure,
  conversion_rate: z
    .number()
    .nullable()
    .describe('Orders that a click won, in percent of `clicks`, to two decimals; null without clicks.')
    .meta({ example: 2.5 }),
  aov_minor: minor
    .nullable()
    .describe('`revenue_minor` per order, in minor units; null without orders.')
    .meta({ example: 10_333 }),
};

export const BreakdownRow = z
  .object({
    key: fromOutside(
      z
        .string()
        .nullable()
        .describe(
          'Id or value that the row is about; null for figures without one. Send it as the filter of the same name.',
        )
        .meta({ example: 'DE' }),
    ),
    label: fromOutside(
      z.string().nullable().describe('Name of the key; null if it has none.').meta({ example: 'Germany' }),
    ),
    currency: currencyField.describe(
      'Currency of the row: that of the order, or for a click that of its link. Nothing is converted.',
    ),
    ...Figures,
    previous: z.object(Figures).nullable().describe('The same row in the earlier period; null without `compare`.'),
  })
  .meta({ id: 'BreakdownRow' });
export type BreakdownRow = z.infer<typeof BreakdownRow>;

export const Breakdown = z.object({
  data: z.array(BreakdownRow).describe('The rows of this page.'),
  pagination: Pagination.describe('This page, and the number of rows on all pages.'),
  meta: z
    .object({
      period: ShownPeriod.describe('The period of these figures.'),
      time_zone: shownTimeZone,
      previous_period: ShownPeriod.nullable().describe('The period of `previous`; null without `compare`.'),
      coverage: z
        .object({
          orders: minor.describe('Number of orders in all rows.').meta({ example: 52 }),
          by_click: minor.describe('Number of these orders that a click won.').meta({ example: 46 }),
          by_code: minor
            .describe(
              'Number of these orders that a code won. They have no country, device, referrer or kind of click.',
            )
            .meta({ example: 6 }),
        })
        .describe('How many orders have the country, device and referrer of the click that won them.'),
    })
    .describe('What the rows cover.'),
});
