import { z } from 'zod';
import { Email } from '../../kit/values/email.ts';
import { campaignId, creatorEmail, currencyField } from '../../kit/values/fields.ts';
import { PageQuery, Pagination } from '../../kit/values/page.ts';
import { besideOthers, type Unchecked } from '../../kit/values/problems.ts';
import { TimeZone } from '../../kit/values/time-zone.ts';
import { assignedCreatorName } from '../../workflow/creators/creators.shapes.ts';
import { Boundary, toEnd, toStart } from '../figures/sums.ts';

const minor = z.number().int();

const Balances = {
  currency: currencyField,
  clicks: minor.describe('Clicks in the window, without bots.').meta({ example: 1840 }),
  conversions: minor
    .describe('Attributed orders placed in the window; refunds do not reduce them.')
    .meta({ example: 52 }),
  revenue_minor: minor
    .describe('Sales of orders placed in the window minus refunds made in the window, in minor units of `currency`.')
    .meta({ example: 512_040 }),
  commission_minor: z
    .object({
      pending: minor.describe('Part that awaits a review, in minor units.').meta({ example: 1_800 }),
      approved: minor.describe('Part that is approved and not paid, in minor units.').meta({ example: 4_200 }),
      paid: minor.describe('Part that payouts have paid, in minor units.').meta({ example: 31_000 }),
    })
    .describe('Commission on orders placed in the window, by its current status.'),
  refund_adjustment_minor: minor
    .describe('What refunds in the window took back from paid commission, in minor units of `currency`; 0 or negative.')
    .meta({ example: -250 }),
};

export const PerformanceRow = z
  .object({
    link_id: z
      .string()
      .describe('Code or link that the row is about, in `/v1/affiliates/links`.')
      .meta({ example: 'lnk_0Uo3xK2mVdT2aXs7LpRb' }),
    creator_email: creatorEmail,
    creator_name: assignedCreatorName,
    campaign_id: campaignId,
    type: z.enum(['discount_code', 'link']).describe('Whether it is a discount code or a link.'),
    value: z.string().describe('The discount code, or the name of the link.').meta({ example: 'ANA10' }),
    ...Balances,
  })
  .meta({ id: 'PerformanceRow' });
export type PerformanceRow = z.infer<typeof PerformanceRow>;

const Filter = z.object({
  creator_email: Email.optional()
    .describe("Only this creator's codes and links. Case does not matter.")
    .meta({ example: 'ana@example.com' }),
  date_from: Boundary.optional()
    .describe('Start of the window: a day or a time. Omitted: since the beginning.')
    .meta({ example: '2026-03-01' }),
  date_to: Boundary.optional().describe(
    'End of the window: a day, which is included whole, or a time. Omitted: until now.',
  ),
  time_zone: TimeZone.default('UTC').describe('IANA time zone of `date_from` and `date_to` without a time.'),
  ...PageQuery,
});

function beginsBeforeItEnds(
  { date_from, date_to, time_zone }: Unchecked<'date_from' | 'date_to' | 'time_zone'>,
  context: z.core.$RefinementCtx,
): void {
  const { data: from } = Boundary.safeParse(date_from);
  const { data: to } = Boundary.safeParse(date_to);
  const { data: zone = 'UTC' } = TimeZone.safeParse(time_zone);
  if (from === undefined || to === undefined || toStart(from, zone) < toEnd(to, zone)) return;
  context.addIssue({ code: 'custom', path: ['date_to'], message: 'must not be before date_from', input: to });
}

const MAX_LINKS = 100;

/** Without the check of its dates. */
const PlainPerformanceFilter = Filter.extend({
  link_ids: z
    .string()
    .transform((text) => text.split(',').map((id) => id.trim()))
    .pipe(z.array(z.string().min(1).max(100)).max(MAX_LINKS))
    .optional()
    .describe('Only these codes and links: up to 100 ids, separated by commas.')
    .meta({ example: 'lnk_0Uo3xK2mVdT2aXs7LpRb' }),
  sort: z
    .enum(['newest', 'revenue'])
    .default('newest')
    .describe('`newest`: newest code or link first. `revenue`: highest revenue first. CSV is always newest first.'),
});
export const PerformanceFilter = PlainPerformanceFilter.superRefine(beginsBeforeItEnds, besideOthers);
export type PerformanceFilter = z.output<typeof PerformanceFilter>;

export const CampaignPerformanceFilter = Filter.extend({
  campaign_id: z
    .string()
    .max(100)
    .optional()
    .describe('Only the rows of this campaign.')
    .meta({ example: 'cmp_0Uo3xK2mVdT2aXs7LpRb' }),
}).superRefine(beginsBeforeItEnds, besideOthers);
export type CampaignPerformanceFilter = z.output<typeof CampaignPerformanceFilter>;

export const CampaignPerformance = z
  .object({
    campaign_id: z
      .string()
      .nullable()
      .describe('The campaign; null for codes and links without one.')
      .meta({ example: 'cmp_0Uo3xK2mVdT2aXs7LpRb' }),
    campaign_title: z
      .string()
      .nullable()
      .describe('Title of the campaign; null for codes and links without one.')
      .meta({ example: 'Summer launch' }),
    ...Balances,
  })
  .meta({ id: 'CampaignPerformance' });
export type CampaignPerformance = z.infer<typeof CampaignPerformance>;

const shownZone = z.string().describe('Time zone of the days of the window.').meta({ example: 'UTC' });

export const CampaignPerformanceList = z.object({
  data: z.array(CampaignPerformance),
  pagination: Pagination,
  meta: z.object({ time_zone: shownZone }).describe('What the rows cover.'),
});

export const PerformanceList = z.object({
  data: z.array(PerformanceRow),
  pagination: Pagination,
  summary: z
    .object({
      by_currency: z.array(z.object(Balances)).describe('Sums in each currency.'),
      time_zone: shownZone,
    })
    .describe('Sums over all matching rows, not just this page.'),
});
