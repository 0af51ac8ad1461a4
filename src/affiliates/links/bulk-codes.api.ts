import { z } from 'zod';
import { act } from '../../kit/operation/kit.ts';
import { Email } from '../../kit/values/email.ts';
import { idField } from '../../kit/values/fields.ts';
import { besideOthers, type Unchecked } from '../../kit/values/problems.ts';
import { assignedCreatorName } from '../../workflow/creators/creators.shapes.ts';
import { TermsInput } from '../../workflow/terms/terms.shapes.ts';
import { createCodes } from './bulk-codes.ts';
import { checkDeal, Destination, ForwardParameters, LINK_TYPES, Notify, Rate, shortUrlField } from './links.shapes.ts';

/** Most assignments that one request creates, and most creators that it may name. */
export const MAX_CREATED = 500;

const SELECTORS = ['all_missing', 'creators', 'roster_ids'] as const;

export const BulkCreate = z
  .object({
    all_missing: z.boolean().describe('`true`: every creator on the roster who has none yet.').optional(),
    creators: z
      .array(z.object({ email: Email.describe('Email address of a creator on the roster.') }))
      .min(1)
      .max(MAX_CREATED)
      .optional()
      .describe('Creators to assign a code or link to, by email address.'),
    roster_ids: z
      .array(z.string().min(1).max(100))
      .min(1)
      .max(MAX_CREATED)
      .optional()
      .describe('Creators to assign a code or link to, by their roster ids.')
      .meta({ example: ['rst_0Uo3xK2mVdT2aXs7LpRb'] }),
    campaign_id: z
      .string()
      .min(1)
      .max(100)
      .nullable()
      .describe('Campaign to assign within. Only creators who were accepted for it are selected.')
      .meta({ example: 'cmp_0Uo3xK2mVdT2aXs7LpRb' })
      .optional(),
    commission_rate: Rate.optional().describe(
      "Percent of each sale that the creators earn. When omitted, the terms of each creator's group, the campaign or the brand apply; without any, the brand's `default_commission_rate`.",
    ),
    terms: TermsInput.optional().describe('What each pays and for how long, instead of `commission_rate`.'),
    type: z
      .enum([...LINK_TYPES, 'referral_link'])
      .default('discount_code')
      .transform((type) => (type === 'referral_link' ? 'link' : type))
      .pipe(z.enum(LINK_TYPES))
      .describe('What to create. `referral_link` is an alias of `link`.'),
    destination_url: Destination.nullable()
      .describe('Page that the new links redirect to. Required for links.')
      .optional(),
    forward_parameters: ForwardParameters.default(true).describe(
      'Whether the new links take the parameters that they are opened with along to the destination.',
    ),
    notify: Notify.describe(
      '`true`: emails each creator their code or link at once. `false`: emails a code when its first order arrives.',
    ),
  })
  .superRefine((input: Unchecked<(typeof SELECTORS)[number] | 'type' | 'destination_url'>, context) => {
    const selectors = SELECTORS.filter((name) => input[name] !== undefined && input[name] !== false);
    if (selectors.length !== 1) {
      const message = 'give exactly one of `all_missing: true`, `creators`, `roster_ids`';
      context.addIssue({
        code: 'custom',
        path: [selectors[1] ?? 'all_missing'],
        params: { code: 'selector' },
        message,
      });
    }
    if (input.type === 'link' && (input.destination_url ?? null) === null) {
      const message = 'is required for links';
      context.addIssue({ code: 'custom', path: ['destination_url'], params: { code: 'required' }, message });
    }
  }, besideOthers)
  .superRefine(checkDeal, besideOthers)
  .meta({ id: 'BulkCodes', examples: [{ all_missing: true, commission_rate: 10 }] });
export type BulkCreate = z.output<typeof BulkCreate>;

const count = z.number().int();
const Refused = z.object({
  creator_email: z
    .string()
    .nullable()
    .describe('Email address of the creator who got nothing; null when it is not known.')
    .meta({ example: 'ana@example.com' }),
  roster_id: idField('rst', 'The creator in `/v1/roster`.'),
});

export const BulkCreated = z
  .object({
    created: z
      .array(
        z.object({
          id: idField('lnk', 'Id of the new code or link.'),
          creator_email: z
            .string()
            .describe('Email address of the creator who got it.')
            .meta({ example: 'ana@example.com' }),
          creator_name: assignedCreatorName,
          value: z.string().describe('The generated code or link name.').meta({ example: 'ANA10' }),
          url: shortUrlField,
        }),
      )
      .describe('New codes or links, one per creator.'),
    count: count.describe('Number of new codes or links; the same as `summary.created`.'),
    skipped: z
      .array(
        Refused.extend({
          reason: z
            .enum(['already_exists', 'no_email'])
            .describe('`already_exists`: the creator has one already. `no_email`: their email address is not known.'),
          id: z
            .string()
            .nullable()
            .describe('Id of the existing code or link; null for `no_email`.')
            .meta({ example: 'lnk_0Uo3xK2mVdT2aXs7LpRb' }),
        }),
      )
      .describe('Creators who got no code or link, because they have one or cannot get one.'),
    failed: z
      .array(
        Refused.extend({
          reason: z.literal('no_free_code').describe('`no_free_code`: every generated code was taken.'),
        }),
      )
      .describe('Creators for whom nothing could be created. Request them again.'),
    remaining: count.describe('With `all_missing`: creators still without one. Repeat the request until it is 0.'),
    provisioning: z
      .literal('manual')
      .describe('Generated codes must be added to the store before customers can redeem them.'),
    summary: z
      .object({
        created: count.describe('Number of entries in `created`.'),
        skipped: count.describe('Number of entries in `skipped`.'),
        failed: count.describe('Number of entries in `failed`.'),
      })
      .describe('How many creators ended up in each list.'),
  })
  .meta({ id: 'BulkCodesCreated' });
export type BulkCreated = z.output<typeof BulkCreated>;

export const bulkCodeOperations = [
  act({
    id: 'bulk_create_affiliate_codes',
    path: '/v1/affiliates/links/bulk',
    tag: 'Affiliates',
    summary: 'Generate codes or links for creators on the roster',
    description:
      'For every creator without one, or for those you name: up to 500 new ones in a request. A code begins with the name ' +
      'of its creator. A creator who has one of the same campaign and type keeps it, even an inactive one. An invalid ' +
      'selection is refused before anything is written.',
    forAgents: {
      description:
        'For every creator on the roster without one, or for those you name: up to 500 in a call. A creator who has one of the same campaign and type keeps it.',
      example: { all_missing: true, commission_rate: 10 },
      omits: ['roster_ids', 'terms'],
    },
    body: BulkCreate,
    item: BulkCreated,
    errors: ['INVALID_SELECTION'],
    hints: { idempotent: true, planned: ['terms'] },
    weighs: { rate: 'commissionRatePpm' },
    lookUp: async ({ config }) => config.linksUrl,
    apply: async (work, { body }, linksUrl) => await createCodes(work, body, linksUrl),
  }),
] as const;
