import { z } from 'zod';
import { Boundary, endOf, startOf } from '../../figures/schema.ts';
import { PageQuery, Pagination } from '../../values/page.ts';
import { besideOthers, type Unchecked } from '../../values/problems.ts';
import { fromOutside } from '../../values/untrusted.ts';

const minor = z.number().int();

const Balances = {
  currency: z.string(),
  clicks: minor,
  conversions: minor.describe('Attributed orders; refunds do not reduce them.'),
  revenue_minor: minor.describe('Sales less refunds.'),
  commission_minor: z
    .object({ pending: minor, approved: minor, paid: minor })
    .describe('Of the sales in the window, in the present state of their commission.'),
  refund_adjustment_minor: minor.describe('What refunds took back after the commission was paid; never above 0.'),
};

export const PerformanceRow = z
  .object({
    link_id: z.string(),
    creator_email: z.string().nullable(),
    creator_name: fromOutside(z.string().nullable()),
    campaign_id: z.string().nullable(),
    type: z.enum(['discount_code', 'link']),
    value: z.string(),
    ...Balances,
  })
  .meta({ id: 'PerformanceRow' });
export type PerformanceRow = z.infer<typeof PerformanceRow>;

const Filter = z.object({
  creator_email: z.email().max(254).optional().describe('In any case.'),
  date_from: Boundary.optional().describe('A UTC day or a time; default: from the beginning.'),
  date_to: Boundary.optional().describe('A UTC day, which is included whole, or a time.'),
  ...PageQuery,
});

function beginsBeforeItEnds(
  { date_from, date_to }: Unchecked<'date_from' | 'date_to'>,
  context: z.core.$RefinementCtx,
): void {
  const { data: from } = Boundary.safeParse(date_from);
  const { data: to } = Boundary.safeParse(date_to);
  if (from === undefined || to === undefined || startOf(from) < endOf(to)) return;
  context.addIssue({ code: 'custom', path: ['date_to'], message: 'must not be before date_from', input: to });
}

const MAX_LINKS = 100;

export const PerformanceFilter = Filter.extend({
  link_ids: z
    .string()
    .transform((text) => text.split(',').map((id) => id.trim()))
    .pipe(z.array(z.string().min(1).max(100)).max(MAX_LINKS))
    .optional()
    .describe('Only these links, at most 100, with commas.'),
  sort: z.enum(['newest', 'revenue']).default('newest').describe('`revenue`: most first; CSV is always newest first.'),
}).superRefine(beginsBeforeItEnds, besideOthers);
export type PerformanceFilter = z.output<typeof PerformanceFilter>;

export const CampaignPerformanceFilter = Filter.superRefine(beginsBeforeItEnds, besideOthers);
export type CampaignPerformanceFilter = z.output<typeof CampaignPerformanceFilter>;

export const CampaignPerformance = z
  .object({
    campaign_id: z.string().nullable().describe('Null of links that belong to no campaign.'),
    campaign_title: z.string().nullable(),
    ...Balances,
  })
  .meta({ id: 'CampaignPerformance' });
export type CampaignPerformance = z.infer<typeof CampaignPerformance>;

export const CampaignPerformanceList = z.object({ data: z.array(CampaignPerformance), pagination: Pagination });

export const PerformanceList = z.object({
  data: z.array(PerformanceRow),
  pagination: Pagination,
  summary: z.object({ by_currency: z.array(z.object(Balances)).describe('Over all rows, not the page.') }),
});
