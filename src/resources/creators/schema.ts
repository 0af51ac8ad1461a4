import { z } from 'zod';
import { integerParameter, ListQuery, listOf, timestamp } from '../../values/page.ts';
import { fromOutside } from '../../values/untrusted.ts';

/** Never dots alone: a handle becomes part of a path at the profile provider's. */
export const HANDLE_FORM = /^(?![.-]*$)[\w.-]+$/;

/** A handle as people type it, kept without the leading @. */
export const Handle = z
  .string()
  .transform((text) => text.trim().replace(/^@/, ''))
  .pipe(z.string().min(1).max(50).regex(HANDLE_FORM, 'must consist of letters, digits, ".", "_" and "-"'))
  .meta({ example: '@gordongram' });

export const Email = z.string().trim().max(254).pipe(z.email()).meta({ example: 'ana@example.com' });

export const CreatorName = z.string().trim().min(1).max(200);
export const MAX_TAGS = 50;
export const Tags = z.array(z.string().trim().min(1).max(50)).max(MAX_TAGS);

/** What a list of people can be asked for. */
export const PersonFilter = {
  search: z
    .string()
    .trim()
    .min(1)
    .max(200)
    .describe('Part of a name, an e-mail address or a handle, in any case.')
    .optional(),
  creator_email: Email.describe('The whole address, in any case.').optional(),
  handle: Handle.describe('On either platform, in any case, with or without `@`.').optional(),
  tag: z.string().trim().min(1).max(50).describe('One of the tags, in any case.').optional(),
};

/** One of the brand's own creators, with what they brought. */
export const Creator = z
  .object({
    id: z.string(),
    name: fromOutside(z.string().nullable()),
    email: z.string().nullable(),
    photo_app: fromOutside(z.string().nullable().describe('Handle without a leading @.')),
    video_app: fromOutside(z.string().nullable().describe('Handle without a leading @.')),
    followers: z.number().int().nullable().describe('Of the platform with the most.'),
    engagement_rate: z.number().nullable().describe('Percent: 3.5 means 3.5 %.'),
    performance: z.object({
      clicks: z.number().int(),
      conversions: z.number().int(),
      revenue: z.number().describe("In the brand's currency."),
      commissions_earned: z.number(),
      by_currency: z.array(z.object({ currency: z.string(), revenue: z.number(), commissions_earned: z.number() })),
    }),
    tags: z.array(z.string()),
    joined_at: timestamp.describe('When they were put on the roster.'),
    note: z.string().nullable().describe("The brand's own, of the roster."),
    on_roster: z.boolean().describe('False of one who was removed.'),
    roster_id: z.string().describe('The same person in `/v1/roster`.'),
  })
  .meta({ id: 'Creator' });
export type Creator = z.infer<typeof Creator>;

export const CreatorFilter = z.object({
  ...PersonFilter,
  platform: z.enum(['photo_app', 'video_app', 'stream_app']).describe('With a handle there.').optional(),
  min_followers: integerParameter({ min: 0 })
    .describe('On `platform` where one is given, else on the platform with the most.')
    .optional(),
  ...ListQuery,
});

export const CreatorList = listOf(Creator);
