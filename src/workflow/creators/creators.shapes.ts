import { z } from 'zod';
import { Email } from '../../kit/values/email.ts';
import { currencyField, idField, PLATFORM_NAMES } from '../../kit/values/fields.ts';
import { type HandlePlatform, parseHandleAddress, readHandle } from '../../kit/values/handle-address.ts';
import { integerParameter, ListQuery, listSchema, timestamp } from '../../kit/values/page.ts';
import { PLATFORMS, platformName } from '../../kit/values/platforms.ts';
import { fromOutside } from '../../kit/values/untrusted.ts';
import { MAX_ADDRESS } from '../../kit/values/web-address.ts';

/** Never dots alone: a handle becomes part of a path at the profile provider's. None ends with one. */
const HANDLE_FORM = /^(?![.-]*$)[\w.-]+(?<!\.)$/;

const MAX_HANDLE = 50;

/** The fields that hold the handles of a platform. */
type HandleFields = Partial<Record<HandlePlatform, string>>;

/** Explains why a text is no handle on the platform, with the code that the API gives it; undefined if it is one. */
export function findHandleProblem(
  text: string,
  platform: HandlePlatform,
  fields: HandleFields,
): { code: string; message: string } | undefined {
  const reading = readHandle(text, platform);
  if ('handle' in reading) {
    if (reading.handle.length <= MAX_HANDLE && HANDLE_FORM.test(reading.handle)) return undefined;
    return { code: 'invalid_format', message: 'must be at most 50 letters, digits, ".", "_" and "-"' };
  }
  if (reading.problem === 'not_a_profile') {
    const message = `must be a handle or the address of a profile on ${platformName(platform)}`;
    return { code: reading.problem, message };
  }
  const field = reading.platform === 'other' ? undefined : fields[reading.platform];
  const name = reading.platform === 'other' ? 'another platform' : platformName(reading.platform);
  const where = field ? `send it as ${field}` : `only ${Object.keys(fields).map(platformName).join(' and ')} are kept`;
  return { code: reading.problem, message: `is an address of ${name}: ${where}` };
}

/** The handle in a text that has no problem. */
export function toHandle(text: string, platform: HandlePlatform): string {
  const reading = readHandle(text, platform);
  return 'handle' in reading ? reading.handle : text;
}

/** A handle as people type it or the address of a profile, kept as the handle without the leading @. */
const handleOn = (platform: HandlePlatform, fields: HandleFields) =>
  z
    .string()
    .trim()
    .min(1)
    .max(MAX_ADDRESS)
    .superRefine((text, context) => {
      const problem = findHandleProblem(text, platform, fields);
      if (problem) context.addIssue({ code: 'custom', params: { code: problem.code }, message: problem.message });
    })
    .overwrite((text) => toHandle(text, platform));

const HANDLE_FIELDS = { photo_app: 'ig_handle', video_app: 'tt_handle' };

export const InstagramHandle = handleOn('photo_app', HANDLE_FIELDS).meta({ example: '@gordongram' });
export const TikTokHandle = handleOn('video_app', HANDLE_FIELDS).meta({ example: '@gordongram' });

/** A platform whose handles creators have. */
type KeptPlatform = 'photo_app' | 'video_app';

/** A filter takes the addresses of both platforms. */
const platformIn = (text: string): KeptPlatform =>
  parseHandleAddress(text)?.platform === 'video_app' ? 'video_app' : 'photo_app';

/** The handle in a filter, and where it may be one: an address names its platform, a bare handle is one of either. */
export function readAnyHandle(text: string): { handle: string; platforms: readonly KeptPlatform[] } {
  const platform = platformIn(text);
  const platforms = parseHandleAddress(text) ? [platform] : (['photo_app', 'video_app'] as const);
  return { handle: toHandle(text, platform), platforms };
}

/** It stays as it was sent: a handle without its address would be one of either platform. */
const AnyHandle = z
  .string()
  .trim()
  .min(1)
  .max(MAX_ADDRESS)
  .superRefine((text, context) => {
    const problem = findHandleProblem(text, platformIn(text), { photo_app: 'handle', video_app: 'handle' });
    if (problem) context.addIssue({ code: 'custom', params: { code: problem.code }, message: problem.message });
  })
  .meta({ example: '@gordongram' });

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
    .describe('Part of a name, email address or handle; case is ignored.')
    .optional(),
  creator_email: Email.describe('The whole email address; case is ignored.').optional(),
  handle: AnyHandle.describe(
    'The whole handle on either platform, with or without `@`, or the address of a profile, for that platform alone; case is ignored.',
  ).optional(),
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
const earnedFields = {
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
      .describe('Email address; null if the brand only knows handles.')
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
        ...earnedFields,
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
    .enum(PLATFORMS)
    .describe(
      `Platform on which they have a handle: ${PLATFORM_NAMES}. No \`stream_app\` handles are stored, so it finds nobody.`,
    )
    .optional(),
  min_followers: integerParameter({ min: 0 })
    .describe('Minimum followers on `platform`, or else on the platform where the creator has most.')
    .optional(),
  ...ListQuery,
});
export type CreatorFilter = z.output<typeof CreatorFilter>;

export const CreatorList = listSchema(Creator);
