import { z } from 'zod';
import { currencyField } from '../../kit/values/fields.ts';
import { PageQuery, Pagination } from '../../kit/values/page.ts';
import { fromOutside } from '../../kit/values/untrusted.ts';
import {
  commissionFigure,
  currencyQuery,
  orderFigures,
  PeriodQuery,
  ShownPeriod,
  shownTimeZone,
} from '../summary/summary.shapes.ts';

const BY = ['campaign', 'creator', 'link', 'month'] as const;
const MISSING = ['goods', 'contract_fees', 'gifts'] as const;
export type Missing = (typeof MISSING)[number];

export const ReturnsQuery = z.object({
  by: z.enum(BY).default('campaign').describe('What a row of returns is about.').meta({ example: 'month' }),
  ...PeriodQuery,
  currency: currencyQuery,
  ...PageQuery,
});
export type ReturnsQuery = z.output<typeof ReturnsQuery>;

const minor = z.number().int();
const missing = z.array(z.enum(MISSING));

/** `docs/analytics.md` has the same definitions. */
export const ReturnsRow = z
  .object({
    key: fromOutside(
      z
        .string()
        .nullable()
        .describe('Id of the campaign, creator, code or link, or a month; null for figures without one.')
        .meta({ example: '2026-03' }),
    ),
    label: fromOutside(
      z
        .string()
        .nullable()
        .describe('Name of the campaign, creator, code or link; null if the key has none.')
        .meta({ example: '2026-03' }),
    ),
    currency: currencyField.describe('Currency of all amounts of the row. Money is never converted.'),
    ...orderFigures,
    goods_minor: minor
      .nullable()
      .describe(
        'Cost of the goods sold: `per_item` costs of their products, `cogs_percent` of the rest, and `per_order`; null if no cost applies to some order.',
      )
      .meta({ example: 65_100 }),
    commission_minor: commissionFigure,
    contract_fees_minor: minor
      .nullable()
      .describe('Fixed fees of contracts, when they were signed; null if one has no amount.')
      .meta({ example: 50_000 }),
    fee_payouts_minor: minor
      .describe('Payouts of fees, when they were paid. They belong to a creator, never to a campaign or link.')
      .meta({ example: 50_000 }),
    fees_minor: minor
      .nullable()
      .describe(
        'Cost of fees: for each creator, the larger of all fees agreed and all fees paid, and of that the increase within the period.',
      )
      .meta({ example: 50_000 }),
    gifts_minor: minor
      .nullable()
      .describe('Products shipped and not returned, at their `per_item` cost; null if one has none.')
      .meta({ example: 6_000 }),
    fixed_minor: minor
      .describe("The period's part of `fixed` costs. The brand's own have the key null, except by month.")
      .meta({ example: 10_000 }),
    profit_minor: minor
      .nullable()
      .describe('`revenue_minor` minus goods, commission, fees, gifts and fixed costs; null if one of them is null.')
      .meta({ example: 36_300 }),
    return_on_spend: z
      .number()
      .nullable()
      .describe('`revenue_minor` ÷ (commission + fees + gifts + fixed costs), to two decimals; null without any spend.')
      .meta({ example: 2.2 }),
    orders_to_break_even: minor
      .nullable()
      .describe(
        'Number of average orders that cover fees, gifts and fixed costs; null if an order leaves nothing after its costs.',
      )
      .meta({ example: 12 }),
    missing: missing.describe('Which figures are null because nobody entered what they need.').meta({ example: [] }),
  })
  .meta({ id: 'ReturnsRow' });
export type ReturnsRow = z.infer<typeof ReturnsRow>;

export const Returns = z.object({
  data: z.array(ReturnsRow).describe('Rows with the highest revenue first; months in order.'),
  pagination: Pagination.describe('This page, and the number of returns on all pages.'),
  meta: z
    .object({
      period: ShownPeriod.describe('The period of these returns.'),
      time_zone: shownTimeZone,
      missing: missing.describe('Costs that are missing in some row, on all pages.').meta({ example: ['gifts'] }),
    })
    .describe('What the returns cover.'),
});
