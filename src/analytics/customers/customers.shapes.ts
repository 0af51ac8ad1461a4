import { z } from 'zod';
import { currencyField } from '../../kit/values/fields.ts';
import { PageQuery, Pagination } from '../../kit/values/page.ts';
import { fromOutside } from '../../kit/values/untrusted.ts';
import { currencyQuery, historySince, PeriodQuery, ShownPeriod, shownTimeZone } from '../summary/summary.shapes.ts';

const BY = ['creator', 'campaign', 'link', 'store'] as const;

const SORTS = [
  'new_customers',
  'returning_customers',
  'new_share',
  'first_order_minor',
  'repeat_rate_30',
  'repeat_rate_60',
  'repeat_rate_90',
  'value_90_minor',
  'cost_per_new_customer_minor',
] as const;

export const CustomersQuery = z.object({
  by: z.enum(BY).default('creator').describe('What a row of customers is about.').meta({ example: 'creator' }),
  ...PeriodQuery,
  currency: currencyQuery,
  sort: z
    .enum(SORTS)
    .default('new_customers')
    .describe('Sorts by this figure, largest first, whatever the currency. Rows without it come last.'),
  ...PageQuery,
});
export type CustomersQuery = z.output<typeof CustomersQuery>;

export const ShareQuery = z.object(PeriodQuery);
export type ShareQuery = z.output<typeof ShareQuery>;

const count = z.number().int().min(0);
const minor = z.number().int();
const percent = z.number().nullable();
const again = (days: number) =>
  percent
    .describe(
      `New customers who ordered again within ${days} days, in percent of those who have been known for ${days} days.`,
    )
    .meta({ example: 18.5 });

/** `docs/analytics.md` has the same definitions. */
export const CustomersRow = z
  .object({
    key: fromOutside(
      z
        .string()
        .nullable()
        .describe('Id of the creator, campaign, code or link, or store; null for orders that have none.')
        .meta({ example: 'crt_0Uo3xK2mVdT2aXs7LpRb' }),
    ),
    label: fromOutside(z.string().nullable().describe('Its name; null for none.').meta({ example: 'Ana Ortiz' })),
    currency: currencyField.describe('Currency of the orders of the row, and of its money.'),
    orders: count.describe('Paid orders with an email address, placed in the period.').meta({ example: 52 }),
    new_customers: count.describe('Customers whose first known paid order is one of these.').meta({ example: 31 }),
    returning_customers: count.describe('The other customers of these orders.').meta({ example: 14 }),
    new_share: percent.describe('`new_customers` in percent of all customers of the row.').meta({ example: 68.89 }),
    first_order_minor: minor
      .nullable()
      .describe('Average value of first orders, minus their refunds; null without new customers.')
      .meta({ example: 8_900 }),
    repeat_rate_30: again(30),
    repeat_rate_60: again(60),
    repeat_rate_90: again(90),
    value_90_minor: minor
      .nullable()
      .describe(
        'Average value of all orders of a new customer within 90 days; null if no customer has been known for 90 days.',
      )
      .meta({ example: 11_200 }),
    cost_minor: minor
      .nullable()
      .describe('Commission and fees of the period, as in `/v1/analytics/returns`; null if a fee has no amount there.')
      .meta({ example: 31_000 }),
    cost_per_new_customer_minor: minor
      .nullable()
      .describe('`cost_minor` ÷ `new_customers`; null without new customers.')
      .meta({ example: 1_000 }),
  })
  .meta({ id: 'CustomersRow' });
export type CustomersRow = z.infer<typeof CustomersRow>;

export const Customers = z.object({
  data: z.array(CustomersRow).describe('Rows in the order of `sort`.'),
  pagination: Pagination.describe('This page, and the number of rows of customers on all pages.'),
  meta: z
    .object({
      period: ShownPeriod.describe('The period of the orders.'),
      time_zone: shownTimeZone,
      history_since: historySince,
      orders: count.describe('Paid orders of the period, with or without an email address.').meta({ example: 60 }),
      without_email: count
        .describe('Number of these orders without an email address, whose customers are neither new nor returning.')
        .meta({ example: 8 }),
    })
    .describe('What the customers are known from.'),
});

const Side = z.object({
  orders: count.describe('Orders with an email address on this side.').meta({ example: 52 }),
  first_orders: count.describe('Number of these orders that are the first of their customers.').meta({ example: 31 }),
  share: percent.describe('`first_orders` in percent of `orders`; null without any.').meta({ example: 59.62 }),
});

export const Share = z.object({
  data: z
    .object({
      period: ShownPeriod.describe('The period in which the orders were placed.'),
      time_zone: shownTimeZone,
      history_since: historySince,
      orders: count.describe('All paid orders of the period, in any currency.').meta({ example: 400 }),
      attributed_orders: count.describe('Number of these orders that a code or link won.').meta({ example: 60 }),
      share: percent.describe('`attributed_orders` in percent of `orders`.').meta({ example: 15 }),
      by_currency: z
        .array(
          z.object({
            currency: currencyField.describe('Currency of these sales.'),
            sales_minor: minor.describe('Value of all orders, minus their refunds.').meta({ example: 4_000_000 }),
            attributed_sales_minor: minor
              .describe('Value of the orders that a code or link won, minus their refunds.')
              .meta({ example: 600_000 }),
            share: percent.describe('`attributed_sales_minor` in percent of `sales_minor`.').meta({ example: 15 }),
          }),
        )
        .describe("Creators' share of all sales, in each currency."),
      new_customers: z
        .object({
          attributed: Side.describe('Orders that a code or link won.'),
          others: Side.describe('All other orders.'),
          difference: percent
            .describe('`attributed.share` minus `others.share`, in percentage points; null if either is null.')
            .meta({ example: 12.5 }),
          interval: z
            .object({
              from: z.number().describe('Lower end, in percentage points.').meta({ example: -1.8 }),
              to: z.number().describe('Upper end, in percentage points.').meta({ example: 26.1 }),
            })
            .nullable()
            .describe('95% interval of the difference, by Newcombe. If it contains 0, the difference may be chance.'),
        })
        .describe('Whether creators bring more new customers than other sales.'),
    })
    .describe("Creators' share of all sales."),
});
