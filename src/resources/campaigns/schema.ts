import { z } from 'zod';
import { type EventsOf, events } from '../../outbox/events.ts';
import { amountProblem, Currency, toPpm } from '../../values/money.ts';
import { ListQuery, timestamp, timestampInput } from '../../values/page.ts';

const STATUSES = ['active', 'draft', 'paused', 'completed'] as const;
const status = z.enum(STATUSES);

export const Campaign = z
  .object({
    id: z.string(),
    title: z.string(),
    status,
    campaign_type: z.string().nullable(),
    compensation_label: z.string().nullable().describe('Such as "$500 fixed", "15% commission" or "Product only".'),
    applicant_count: z.number().int(),
    hired_count: z.number().int(),
    created_at: timestamp,
    updated_at: timestamp.nullable(),
    deadline: timestamp.nullable(),
  })
  .meta({ id: 'Campaign' });
export type Campaign = z.infer<typeof Campaign>;

export const Compensation = z.object({
  type: z.enum(['fixed', 'commission', 'product']),
  amount: z.number().min(0).nullable().describe('Major units of the currency; of a commission, percent.'),
  currency: Currency.nullable(),
});

const Requirements = z.object({
  platforms: z
    .array(z.enum(['photo_app', 'video_app', 'stream_app']))
    .max(10)
    .nullable(),
  min_followers: z.number().int().min(0).max(2_000_000_000).nullable(),
  content_types: z.array(z.string().min(1).max(50)).max(20).nullable(),
  deliverables_count: z.number().int().min(0).max(1_000).nullable(),
});

export const CampaignDetail = Campaign.extend({
  description: z.string().nullable(),
  compensation: Compensation.extend({ type: z.string().meta({ example: 'fixed' }) }).nullable(),
  requirements: Requirements.extend({ platforms: z.array(z.string()).nullable() }),
  apply_url: z.string().describe('The public page where creators apply, on the links host.'),
}).meta({ id: 'CampaignDetail' });

export const CampaignSaved = Campaign.omit({ applicant_count: true, hired_count: true, deadline: true });

type CompensationInput = {
  type?: string | undefined;
  amount?: number | null | undefined;
  currency?: string | null | undefined;
};

/**
 * A commission is at most 100 %, an amount whole in its currency's own decimals; the brand's currency, where none is
 * said, is known to the action alone.
 */
export function compensationProblem(
  { type, amount, currency }: CompensationInput,
  brandCurrency?: string,
): string | undefined {
  if (amount === undefined || amount === null) return undefined;
  if (type === 'commission') {
    return amount <= 100 && toPpm(amount) !== undefined
      ? undefined
      : 'must be a percentage of at most 100 with at most 4 decimals';
  }
  const code = currency ?? brandCurrency;
  // What is wrong with the currency itself is said of that already.
  return code !== undefined && Currency.safeParse(code).success ? amountProblem(amount, code) : undefined;
}

export const CompensationCreate = Compensation.partial({ amount: true, currency: true }).superRefine(
  (input, context) => {
    const message = compensationProblem(input);
    if (message) context.addIssue({ code: 'custom', path: ['amount'], message, input: input.amount });
  },
);

const description = z.string().max(10_000).nullable();
const deadline = timestampInput
  .nullable()
  .describe('Applications are refused after it. A date, or midnight UTC, means the end of that day in UTC.');
const name = z.string().trim().min(1).max(200);
const type = z.string().min(1).max(50).nullable().meta({ example: 'ugc' });

export const CampaignCreate = z
  .object({
    name: name.meta({ example: 'Summer launch' }),
    type: type.optional(),
    description: description.optional(),
    compensation: CompensationCreate.nullable().optional(),
    requirements: Requirements.partial().nullable().optional(),
    deadline: deadline.optional(),
    status: status.default('active'),
  })
  .meta({ id: 'CampaignCreate' });
export type CampaignCreate = z.output<typeof CampaignCreate>;

/** Set changes, omit keeps, null clears; also inside `compensation` and `requirements`. */
export const CampaignPatch = z
  .object({
    name: name.optional(),
    type: type.optional(),
    description: description.optional(),
    compensation: Compensation.partial().nullable().optional(),
    requirements: Requirements.partial().nullable().optional(),
    deadline: deadline.optional(),
    status: status.optional(),
  })
  .meta({ id: 'CampaignPatch' });
export type CampaignPatch = z.output<typeof CampaignPatch>;

export const CampaignFilter = z.object({ status: status.optional(), ...ListQuery });
export type CampaignFilter = z.output<typeof CampaignFilter>;

const campaignEvents = events({
  'campaign.created': {
    data: CampaignSaved,
    when: 'A campaign was created.',
    shownTo: ['legacy'],
  },
  'campaign.updated': {
    data: CampaignSaved,
    when: 'A campaign was changed.',
    shownTo: ['legacy'],
  },
});
declare module '../../outbox/events.ts' {
  interface Events extends EventsOf<typeof campaignEvents> {}
}
