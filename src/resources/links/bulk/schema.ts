import { z } from 'zod';
import { besideOthers, type Unchecked } from '../../../values/problems.ts';
import { fromOutside } from '../../../values/untrusted.ts';
import { Email } from '../../creators/schema.ts';
import { Destination, Rate } from '../schema.ts';

/** New assignments of one request; also how many creators one may name. */
export const MAX_CREATED = 500;

const SELECTORS = ['all_missing', 'creators', 'roster_ids'] as const;

export const BulkCreate = z
  .object({
    all_missing: z.boolean().describe('Everybody on the roster who has none yet.').optional(),
    creators: z
      .array(z.object({ email: Email }))
      .min(1)
      .max(MAX_CREATED)
      .optional(),
    roster_ids: z.array(z.string().min(1).max(100)).min(1).max(MAX_CREATED).optional(),
    campaign_id: z
      .string()
      .min(1)
      .max(100)
      .nullable()
      .describe('Limits the roster to those who were accepted for this campaign, and assigns within it.')
      .optional(),
    commission_rate: Rate.optional().describe("Percent; the brand's `default_commission_rate` when omitted."),
    type: z
      .enum(['discount_code', 'link', 'referral_link'])
      .default('discount_code')
      .transform((type) => (type === 'referral_link' ? 'link' : type))
      .pipe(z.enum(['discount_code', 'link'])),
    destination_url: Destination.nullable().describe('Required of links.').optional(),
  })
  .superRefine((input: Unchecked<(typeof SELECTORS)[number] | 'type' | 'destination_url'>, context) => {
    const given = SELECTORS.filter((name) => input[name] !== undefined && input[name] !== false);
    if (given.length !== 1) {
      const message = 'give exactly one of `all_missing: true`, `creators`, `roster_ids`';
      context.addIssue({ code: 'custom', path: [given[1] ?? 'all_missing'], params: { code: 'selector' }, message });
    }
    if (input.type === 'link' && (input.destination_url ?? null) === null) {
      const message = 'is required of links';
      context.addIssue({ code: 'custom', path: ['destination_url'], params: { code: 'required' }, message });
    }
  }, besideOthers)
  .meta({ id: 'BulkCodes', examples: [{ all_missing: true, commission_rate: 10 }] });
export type BulkCreate = z.output<typeof BulkCreate>;

const count = z.number().int();
const Refused = z.object({ creator_email: z.string().nullable(), roster_id: z.string() });

export const BulkCreated = z
  .object({
    created: z.array(
      z.object({
        id: z.string(),
        creator_email: z.string(),
        creator_name: fromOutside(z.string().nullable()),
        value: z.string(),
        url: z.string().nullable().describe('The tracked short URL of a link; null of a code.'),
      }),
    ),
    count: count.describe('How many were created.'),
    skipped: z.array(
      Refused.extend({
        reason: z.enum(['already_exists', 'no_email']),
        id: z.string().nullable().describe('The assignment that exists.'),
      }),
    ),
    failed: z.array(Refused.extend({ reason: z.literal('no_free_code') })).describe('Must be requested again.'),
    remaining: count.describe('Of `all_missing`: how many are still without one. Repeat the request until it is 0.'),
    provisioning: z
      .literal('manual')
      .describe('Generated codes must be added to the store before customers can redeem them.'),
    summary: z.object({ created: count, skipped: count, failed: count }),
  })
  .meta({ id: 'BulkCodesCreated' });
export type BulkCreated = z.output<typeof BulkCreated>;
