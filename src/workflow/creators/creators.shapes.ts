import { z } from 'zod';
import { currencyField, idField, PLATFORM_NAMES } from '../../kit/values/fields.ts';
import { integerParameter, ListQuery, listSchema, timestamp } from '../../kit/values/page.ts';
import { fromOutside } from '../../kit/values/untrusted.ts';

/** Never dots alone: a handle becomes part of a path at the profile provider's. */
export const HANDLE_FORM = /^(?![.-]*$)[\w.-]+$/;

/** A handle as people type it, kept without the leading @. */
export const Handle = z
  .string()
  .trim()
  .min(1)
  .max(51)
  .regex(/^@?(?![.-]*$)[\w.-]{1,50}$/, 'must be at most 50 letters, digits, ".", "_" and "-"')
  .overwrite((text) => text.replace(/^@/, ''))
  .meta({ example: '@gordongram' });

export const Email = z.string().trim().max(254).pipe(z.email()).meta({ example: 'ana@example.com' });

export const CreatorName = z.string().trim().min(1).max(200);
export const MAX_TAGS = 50;
export const Tags = z.array(z.string().trim().min(1).max(50)).max(MAX_TAGS);

/** The filters shared by lists of creators. */
export const PersonFilter = {
  search: z
    .string()
    .trim()
    .min(1)
    .max(200)
    .describe('Part of a name, e-mail address or handle; case is ignored.')
    .optional(),
  creator_email: Email.describe('The whole e-mail address; case is ignored.').optional(),
  handle: Handle.describe('The whole handle on either platform, with or without `@`; case is ignored.').optional(),
  tag: z.string().trim().min(1).max(50).describe('Only creators with this tag; case is ignored.').optional(),
};

/** The creator's name where a code, a link or its sales are shown. */
export const assignedCreatorName = fromOutside(
  z
    .string()
    .nullable()
    .describe(
      "The creator's name: the one given with the code or link, else the one on the roster; null without either.",
    )
    .meta({ example: 'Ana Ortiz' }),
);

const revenue = z.number().meta({ example: 5120.4 });
const commissions = z.number().meta({ example: 412.5 });
const earned = {
  revenue: revenue.describe("Revenue of those orders, in major units of the brand's currency."),
  commissions_earned: commissions.describe("Commissions not rejected, in major units of the brand's currency."),
};
const earnedElsewhere = {
  revenue: revenue.describe('Revenue of the orders in this currency, in major units.'),
  commissions_earned: commissions.describe('Commissions not rejected in this currency, in major units.'),
};

/** Fields that the roster shows as well. */
export const personFields = {
  igHandle: fromOutside(
    z.string().nullable().describe('Instagram handle (`photo_app`), without `@`.').meta({ example: 'anaeats' }),
  ),
  ttHandle: fromOutside(
    z.string().nullable().describe('TikTok handle (`video_app`), without `@`.').meta({ example: 'ana.cooks' }),
  ),
  engagementRate: z
    .number()
    .nullable()
    .describe('Engagement rate in percent: 3.5 means 3.5%. Null if unknown.')
    .meta({ example: 3.5 }),
  tags: z
    .array(z.string())
    .describe("The brand's tags for this creator.")
    .meta({ example: ['food'] }),
  note: z
    .string()
    .nullable()
    .describe("The brand's note on this creator. Creators never see it.")
    .meta({ example: 'Met at the fair.' }),
};

export const Creator = z
  .object({
    id: idField('crt', 'Creator id.'),
    name: fromOutside(
      z.string().nullable().describe("Creator's name; null if unknown.").meta({ example: 'Ana Ortiz' }),
    ),
    email: z
      .string()
      .nullable()
      .describe('E-mail address; null if the brand only knows handles.')
      .meta({ example: 'ana@example.com' }),
    photo_app: fromOutside(
      z.string().nullable().describe('Photo app handle without `@`; null if unknown.').meta({ example: 'anaeats' }),
    ),
    video_app: fromOutside(
      z.string().nullable().describe('Video app handle without `@`; null if unknown.').meta({ example: 'ana.cooks' }),
    ),
    followers: z
      .number()
      .int()
      .nullable()
      .describe('Followers on the platform where the creator has most; null until a profile is fetched.')
      .meta({ example: 91_000 }),
    engagement_rate: personFields.engagementRate,
    performance: z
      .object({
        clicks: z.number().int().describe("Clicks on the creator's links, without robots.").meta({ example: 1840 }),
        conversions: z.number().int().describe('Orders attributed to the creator.').meta({ example: 52 }),
        ...earned,
        by_currency: z
          .array(z.object({ currency: currencyField, ...earnedElsewhere }))
          .describe("Money in currencies other than the brand's, one row per currency.")
          .meta({ example: [] }),
      })
      .describe('All-time results of the creator for the brand.'),
    tags: personFields.tags,
    joined_at: timestamp.describe('When the creator joined the roster.').meta({ example: '2026-03-02T09:30:00.000Z' }),
    note: personFields.note,
    on_roster: z.boolean().describe('False if the creator was removed from the roster.').meta({ example: true }),
    roster_id: idField('rst', 'Id of the roster entry, for `/v1/roster/{id}`.'),
  })
  .meta({ id: 'Creator' });
export type Creator = z.infer<typeof Creator>;

export const CreatorFilter = z.object({
  ...PersonFilter,
  platform: z
    .enum(['photo_app', 'video_app', 'stream_app'])
    .describe(
      `Platform on which they have a handle: ${PLATFORM_NAMES}. No \`stream_app\` handles are stored, so it finds nobody.`,
    )
    .optional(),
  min_followers: integerParameter({ min: 0 })
    .describe('Minimum followers on `platform`, or else on the platform where the creator has most.')
    .optional(),
  ...ListQuery,
});

export const CreatorList = listSchema(Creator);
