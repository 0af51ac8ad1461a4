import { z } from 'zod';
import { type EventsOf, events } from '../../kit/outbox/events.ts';
import { Email } from '../../kit/values/email.ts';
import { createdAt, currencyField, idField, PLATFORM_NAMES, updatedAt } from '../../kit/values/fields.ts';
import { amountProblem, Currency, toPpm } from '../../kit/values/money.ts';
import { ListQuery, listSchema, TotalsQuery, timestamp, utcTimestampInput } from '../../kit/values/page.ts';
import { PLATFORMS } from '../../kit/values/platforms.ts';
import { fromOutside } from '../../kit/values/untrusted.ts';
import { Budgets } from '../terms/budgets.ts';
import { NotifyOfTerms, Terms, TermsInput } from '../terms/terms.shapes.ts';

/** Fields of every noun that has a creator or belongs to a campaign. */
export const creatorName = fromOutside(
  z.string().nullable().describe("Creator's name; null when unknown.").meta({ example: 'Ana Ortiz' }),
);
export const campaignIdInput = z
  .string()
  .max(100)
  .nullable()
  .describe('Campaign it belongs to; null for none.')
  .meta({ example: 'cmp_0Uo3xK2mVdT2aXs7LpRb' });
export const campaignFilter = z.string().max(100).optional().describe('Only items of this campaign.');
export const creatorFilter = Email.optional().describe('Only items of this creator; case is ignored.');

const STATUSES = ['active', 'draft', 'paused', 'completed'] as const;
const status = z.enum(STATUSES).describe('Campaign status. Creators can apply only while it is `active`.');

/** A campaign without what it sold. */
export const CampaignRecord = z.object({
  id: idField('cmp', 'Campaign id.'),
  title: z.string().describe('Title that creators see.').meta({ example: 'Summer launch' }),
  status,
  campaign_type: z
    .string()
    .nullable()
    .describe("The brand's name for this kind of campaign; null when none was given.")
    .meta({ example: 'ugc' }),
  compensation_label: z
    .string()
    .nullable()
    .describe('Compensation in words, such as "15% commission" or "Product only"; null when none is set.')
    .meta({ example: '$500 fixed' }),
  applicant_count: z.number().int().describe('Number of applications, whatever their status.').meta({ example: 12 }),
  hired_count: z.number().int().describe('Number of accepted applications.').meta({ example: 4 }),
  created_at: createdAt,
  updated_at: updatedAt,
  deadline: timestamp
    .nullable()
    .describe(
      'Applications are refused after this time; midnight UTC means the end of that day for the brand. Null: no deadline.',
    )
    .meta({ example: '2026-06-30T00:00:00.000Z' }),
});

const SOLD = 'by its codes and links since they were created';
const UNKNOWN = 'Null while figures cannot be read.';

/** A campaign in the list. */
export const Campaign = CampaignRecord.extend({
  conversions: z
    .number()
    .int()
    .nullable()
    .describe(`Paid orders ${SOLD}, in any currency; refunds do not reduce them. ${UNKNOWN}`)
    .meta({ example: 52 }),
  revenue: z
    .number()
    .nullable()
    .describe(`Sales ${SOLD}, minus refunds, in major units of the brand's currency. ${UNKNOWN}`)
    .meta({ example: 5120.4 }),
  commission: z
    .number()
    .nullable()
    .describe(
      `Commission on these sales in major units: pending, approved and paid, minus refunds of paid commissions. ${UNKNOWN}`,
    )
    .meta({ example: 412.5 }),
  by_currency: z
    .array(
      z.object({
        currency: currencyField,
        revenue: z.number().describe('Sales minus refunds in this currency, in major units.').meta({ example: 310.2 }),
        commission: z.number().describe('Commission in this currency, in major units.').meta({ example: 31.02 }),
      }),
    )
    .describe('Revenue and commission in currencies other than that of the brand, one row per currency.'),
}).meta({ id: 'Campaign' });
export type Campaign = z.infer<typeof Campaign>;

export const CampaignList = listSchema(Campaign).extend({
  totals: z
    .array(
      z.object({
        currency: currencyField.describe("The brand's currency."),
        count: z.number().int().min(1).describe('Matching campaigns.').meta({ example: 163 }),
        applicant_count: z.number().int().describe('Applications to these campaigns.').meta({ example: 22 }),
        hired_count: z.number().int().describe('Accepted applications among them.').meta({ example: 22 }),
        conversions: z
          .number()
          .int()
          .nullable()
          .describe(`Their paid orders, in any currency. ${UNKNOWN}`)
          .meta({ example: 640 }),
        revenue: z
          .number()
          .nullable()
          .describe(`Their sales in \`currency\`, minus refunds, in major units. ${UNKNOWN}`)
          .meta({ example: 1250.5 }),
        commission: z
          .number()
          .nullable()
          .describe(`Commission on these sales, in major units. ${UNKNOWN}`)
          .meta({ example: 125.05 }),
      }),
    )
    .optional()
    .describe('Counts and sums of all matching campaigns; only with `totals=true`. One item, none without campaigns.'),
});

export const Compensation = z.object({
  type: z
    .enum(['fixed', 'commission', 'product'])
    .describe('`fixed`: a sum of money; `commission`: a share of sales; `product`: products only.'),
  amount: z
    .number()
    .min(0)
    .nullable()
    .describe('Major units of the currency; for a commission, percent.')
    .meta({ example: 500 }),
  currency: Currency.nullable().describe("ISO 4217 code; the brand's currency when omitted. Unused for commissions."),
});

/** A compensation as it is returned. */
export const CompensationShown = Compensation.extend({
  type: z
    .string()
    .describe('`fixed`: a sum of money; `commission`: a share of sales; `product`: products only.')
    .meta({ example: 'fixed' }),
  currency: currencyField.nullable().describe('ISO 4217 code of `amount`; null for a commission.'),
});

const Requirements = z.object({
  platforms: z
    .array(z.enum(PLATFORMS))
    .max(10)
    .nullable()
    .describe(`Platforms that creators post on: ${PLATFORM_NAMES}; null for any.`),
  min_followers: z
    .number()
    .int()
    .min(0)
    .max(2_000_000_000)
    .nullable()
    .describe('Fewest followers that a creator needs; null for no minimum.')
    .meta({ example: 10_000 }),
  content_types: z
    .array(z.string().min(1).max(50))
    .max(20)
    .nullable()
    .describe('Kinds of content to make; null when left open.')
    .meta({ example: ['reel', 'story'] }),
  deliverables_count: z
    .number()
    .int()
    .min(0)
    .max(1_000)
    .nullable()
    .describe('Pieces of content that each creator makes; null when left open.')
    .meta({ example: 2 }),
});

export const CampaignDetail = CampaignRecord.extend({
  description: z
    .string()
    .nullable()
    .describe('Description on the page where creators apply; null when none was written.')
    .meta({ example: 'Three reels around our summer line.' }),
  compensation: CompensationShown.nullable().describe('What an accepted creator gets; null when none is set.'),
  requirements: Requirements.extend({
    platforms: z
      .array(z.string())
      .nullable()
      .describe(`Platforms that creators post on: ${PLATFORM_NAMES}; null for any.`)
      .meta({ example: ['photo_app'] }),
  }).describe('What applicants need to bring. Shown to creators; applications are not checked against it.'),
  apply_url: z
    .string()
    .describe('The public page where creators apply, on the links host.')
    .meta({ example: 'https://links.example/apply/cmp_0Uo3xK2mVdT2aXs7LpRb' }),
  terms: Terms.nullable().describe('Terms of its codes and links that have none of their own; null without any.'),
  budget: Budgets,
}).meta({ id: 'CampaignDetail' });

export const CampaignSaved = CampaignRecord.omit({ applicant_count: true, hired_count: true, deadline: true });

type CompensationInput = {
  type?: string | undefined;
  amount?: number | null | undefined;
  currency?: string | null | undefined;
};

/**
 * A commission is at most 100%, and an amount has no more decimals than its currency. If no currency is given, only
 * the action knows the brand's.
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
  // A wrong currency is already reported for its own field.
  return code !== undefined && Currency.safeParse(code).success ? amountProblem(amount, code) : undefined;
}

export const CompensationCreate = Compensation.partial({ amount: true, currency: true }).superRefine(
  (input, context) => {
    const message = compensationProblem(input);
    if (message) context.addIssue({ code: 'custom', path: ['amount'], message, input: input.amount });
  },
);

const terms = TermsInput.nullable().describe(
  "What its codes and links pay, unless they or their creator's group have terms of their own; null for none.",
);
const description = z
  .string()
  .max(10_000)
  .nullable()
  .describe('Shown on the page where creators apply.')
  .meta({ example: 'Three reels around our summer line.' });
const deadline = utcTimestampInput
  .nullable()
  .describe(
    "Applications are refused after it. A date, or midnight UTC, means the end of that day in the brand's time zone.",
  );
const name = z
  .string()
  .trim()
  .min(1)
  .max(200)
  .describe('Title that creators see, returned as `title`.')
  .meta({ example: 'Summer launch' });
const type = z
  .string()
  .min(1)
  .max(50)
  .nullable()
  .describe('Your own name for the kind of campaign, returned as `campaign_type`.')
  .meta({ example: 'ugc' });
const compensationMeaning = 'Pay of an accepted creator: `fixed` money, `commission` percent of sales, `product` none.';
const requirements = Requirements.partial()
  .nullable()
  .describe('What applicants need to bring. Shown to creators; applications are not checked against it.');

export const CampaignCreate = z
  .object({
    name,
    type: type.optional(),
    description: description.optional(),
    compensation: CompensationCreate.nullable().optional().describe(compensationMeaning),
    requirements: requirements.optional(),
    deadline: deadline.optional(),
    terms: terms.optional(),
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
    compensation: Compensation.partial().nullable().optional().describe(compensationMeaning),
    requirements: requirements.optional(),
    deadline: deadline.optional(),
    terms: terms.optional(),
    notify: NotifyOfTerms,
    status: status.optional(),
  })
  .meta({ id: 'CampaignPatch' });
export type CampaignPatch = z.output<typeof CampaignPatch>;

/** Figures of sales that the list can be sorted by. */
export const SOLD_FIGURES = ['conversions', 'revenue', 'commission'] as const;
export type SoldFigure = (typeof SOLD_FIGURES)[number];

export const CampaignFilter = z.object({
  status: status.optional().describe('Only campaigns with this status.'),
  search: z.string().trim().min(1).max(200).optional().describe('Part of the title; case is ignored.'),
  ...ListQuery,
  ...TotalsQuery,
  sort: z
    .enum(['newest', 'oldest', 'applications', 'accepted', ...SOLD_FIGURES])
    .default('newest')
    .describe(
      "`applications`, `accepted`: by the number of these, largest first. `conversions`, `revenue`, `commission`: by that lifetime figure, money in the brand's currency, largest first. " +
        'The others sort by the time of creation.',
    ),
});
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
declare module '../../kit/outbox/events.ts' {
  interface Events extends EventsOf<typeof campaignEvents> {}
}
