import { z } from 'zod';
import { figuresHandlers } from '../../analytics/figures/freshness.ts';
import { FRESHNESS } from '../../analytics/figures/sums.ts';
import { PeriodQuery, ShownPeriod, shownTimeZone } from '../../analytics/summary/summary.shapes.ts';
import { read } from '../../kit/operation/kit.ts';
import { noun } from '../../kit/operation/noun.ts';
import { creatorEmail } from '../../kit/values/fields.ts';
import { integerParameter, PageQuery, Pagination } from '../../kit/values/page.ts';
import { fromOutside } from '../../kit/values/untrusted.ts';
import { assignedCreatorName } from '../../workflow/creators/creators.shapes.ts';
import { searchLeaks } from './leaks.jobs.ts';
import { eachLeak, pageOfLeaks } from './leaks.ts';

export const LeaksQuery = z.object({
  ...PeriodQuery,
  min_score: integerParameter({ min: 0, max: 100 })
    .default(0)
    .describe('Only codes with at least this score.')
    .meta({ example: 0 }),
  ...PageQuery,
});
export type LeaksQuery = z.output<typeof LeaksQuery>;

const count = z.number().int().min(0);
const share = z.number().nullable();

export const LeakRow = z
  .object({
    link_id: z.string().describe('The code, in `/v1/affiliates/links`.').meta({ example: 'lnk_0Uo3xK2mVdT2aXs7LpRb' }),
    value: fromOutside(z.string().describe('The code as customers redeem it.').meta({ example: 'ANA10' })),
    creator_email: creatorEmail,
    creator_name: assignedCreatorName,
    active: z.boolean().describe('Whether the code still pays.'),
    score: z
      .number()
      .int()
      .min(0)
      .max(100)
      .describe('How probable it is that the code is public, from 0 to 100.')
      .meta({ example: 72 }),
    orders: count.describe('Paid orders by the code in the period.').meta({ example: 64 }),
    without_click: share
      .describe('Percent of these orders without any click of the creator before.')
      .meta({ example: 81.25 }),
    without_click_before: share
      .describe("That percentage for all orders by the creator's codes in the eight weeks before; null without orders.")
      .meta({ example: 34.5 }),
    new_customers: share
      .describe('Percent of these orders that are the first of their customer, among those with an email address.')
      .meta({ example: 22.5 }),
    new_customers_before: share
      .describe("That percentage for the creator's codes in the eight weeks before; null without such orders.")
      .meta({ example: 61.9 }),
    busiest_day: z
      .string()
      .nullable()
      .describe('Day with the most orders without a click.')
      .meta({ example: '2026-03-14' }),
    busiest_day_orders: count.describe('Orders without a click on that day.').meta({ example: 19 }),
    coupon_site_visits: count
      .describe("Clicks on the creator's links in the period that came from coupon sites.")
      .meta({ example: 9 }),
    reasons: fromOutside(
      z
        .array(z.string())
        .describe('What the score is made of, each with its points.')
        .meta({ example: ['40 points: 81% of its orders had no click of the creator before; 35% was usual.'] }),
    ),
  })
  .meta({ id: 'LeakRow' });
export type LeakRow = z.infer<typeof LeakRow>;

const Leaks = z.object({
  data: z.array(LeakRow).describe('Codes with orders in the period, highest score first.'),
  pagination: Pagination.describe('This page, and the number of codes on all pages.'),
  meta: z
    .object({
      period: ShownPeriod.describe('When the orders by these codes were placed.'),
      time_zone: shownTimeZone,
      flagged_from: z
        .number()
        .int()
        .describe('Score from which the rule `code_leak` of `/v1/fraud-rules` counts a code as leaked.')
        .meta({ example: 50 }),
    })
    .describe('What the scores are about.'),
});

const listLeaks = read({
  id: 'list_code_leaks',
  path: '/v1/affiliates/leaks',
  tag: 'Affiliates',
  summary: 'List codes that are probably public',
  description:
    "Compares each code's orders in a period of at most 92 days with those of its creator's codes in the eight weeks before: orders " +
    `without a click, returning customers, bursts, visits from coupon sites. ${FRESHNESS}`,
  forAgents: { isListed: false },
  query: LeaksQuery,
  response: Leaks,
  ...figuresHandlers({ item: LeakRow, page: pageOfLeaks, rows: eachLeak, from: 'postings' }),
});

const leakOperations = [listLeaks] as const;

export const leaks = noun({ name: 'leaks', operations: leakOperations, jobs: [searchLeaks] });
