import { z } from 'zod';
import { Email } from '../../kit/values/email.ts';
import { campaignId, createdAt, creatorEmail, idField, updatedAt } from '../../kit/values/fields.ts';
import { ListQuery, listSchema, timestamp, timestampInput } from '../../kit/values/page.ts';
import { besideOthers, type Unchecked } from '../../kit/values/problems.ts';
import { hasUnseen } from '../../kit/values/text.ts';
import { fromOutside } from '../../kit/values/untrusted.ts';
import { campaignFilter, creatorFilter } from '../campaigns/campaigns.shapes.ts';
import { REASONS } from './rights.ts';

const MAX_SELECTED = 100;
const type = z.enum(['image', 'video', 'document', 'audio', 'other']);
const id = z.string().min(1).max(100).meta({ example: 'ast_0Uo3xK2mVdT2aXs7LpRb' });
const folderId = z.string().min(1).max(100).meta({ example: 'fld_0Uo3xK2mVdT2aXs7LpRb' });
const campaign = z.string().min(1).max(100).meta({ example: 'cmp_0Uo3xK2mVdT2aXs7LpRb' });

const usageRightsExample = 'Organic posts on our own channels, for a year';

export const UsageTerms = z
  .object({
    channels: z
      .array(z.string().trim().min(1).max(50))
      .max(20)
      .nullable()
      .default(null)
      .describe('Channels it may be used on; null for any.')
      .meta({ example: ['paid_social'] }),
    territory: z
      .string()
      .trim()
      .min(1)
      .max(200)
      .nullable()
      .default(null)
      .describe('Territories in which it may be used; null for everywhere.')
      .meta({ example: 'US' }),
    days: z
      .number()
      .int()
      .min(1)
      .max(36_500)
      .nullable()
      .default(null)
      .describe('Number of days for which it may be used; null for no end.')
      .meta({ example: 90 }),
    starts: z
      .enum(['signed', 'posted', 'fixed'])
      .nullable()
      .default(null)
      .describe('The days count from the signature, the first post or `starts_on`.'),
    starts_on: z.iso
      .date({ error: 'must be a date such as 2027-01-31' })
      .nullable()
      .default(null)
      .describe('First day of use, when `starts` is `fixed`.')
      .meta({ example: '2027-01-31' }),
  })
  .meta({ id: 'UsageTerms' });

export const Asset = z
  .object({
    id: idField('ast', 'Asset id.'),
    name: fromOutside(z.string().describe('File name.').meta({ example: 'summer-reel.jpg' })),
    type: type.describe('Kind of file, by its content. Files that a browser could run are `other`.'),
    mime_type: z.string().describe('Media type, by the content of the file.').meta({ example: 'image/jpeg' }),
    size_bytes: z.number().int().describe('Size in bytes.').meta({ example: 482_133 }),
    url: z
      .string()
      .describe('Signed address of the file, valid for at least an hour; accepts Range requests.')
      .meta({ example: 'https://links.example/files/…' }),
    thumbnail_url: z
      .string()
      .nullable()
      .describe('Signed address of a webp, 480 pixels wide; null until it is made, and for files that are not images.')
      .meta({ example: 'https://links.example/files/…' }),
    width: z.number().int().nullable().describe('Width in pixels; null when unknown.').meta({ example: 1_080 }),
    height: z.number().int().nullable().describe('Height in pixels; null when unknown.').meta({ example: 1_350 }),
    folder_id: z
      .string()
      .nullable()
      .describe('Folder that holds it; null at the root.')
      .meta({ example: 'fld_0Uo3xK2mVdT2aXs7LpRb' }),
    campaign_id: campaignId,
    creator_email: creatorEmail,
    source: z
      .enum(['upload', 'deliverable', 'tracked_content'])
      .describe(
        '`upload`: the brand uploaded it; `deliverable`: a creator submitted it; `tracked_content`: from a post.',
      ),
    tags: z
      .array(z.string())
      .describe("The brand's tags.")
      .meta({ example: ['food'] }),
    usage_rights: z
      .string()
      .nullable()
      .describe('Usage rights in words; null when none were written.')
      .meta({ example: usageRightsExample }),
    rights: UsageTerms.nullable().describe('Usage rights as data; null when none were set.'),
    rights_expires_at: timestamp
      .nullable()
      .describe('When the usage rights end; null when they do not end or the end is not known yet.')
      .meta({ example: '2026-09-01T00:00:00.000Z' }),
    sha256: z
      .string()
      .describe('SHA-256 of the file, in hex.')
      .meta({ example: '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08' }),
    created_at: createdAt,
    updated_at: updatedAt,
  })
  .meta({ id: 'Asset' });
export type Asset = z.infer<typeof Asset>;

const name = z
  .string()
  .trim()
  .min(1)
  .max(200)
  .refine((text) => !hasUnseen(text), 'must not have control or invisible characters, such as U+202E')
  .meta({ example: 'summer-reel.jpg' });
const tag = z.string().trim().min(1).max(50);
const tags = z
  .array(tag)
  .max(50)
  .meta({ example: ['food'] });
const usageRights = z.string().trim().min(1).max(2_000).meta({ example: usageRightsExample });

/** A form field beside the file. Form values are text; a blank one counts as omitted. */
const optional = <T extends z.ZodType>(shape: T) =>
  z.preprocess((value) => (typeof value === 'string' && value.trim() === '' ? undefined : value), shape.optional());

const tagsOfForm = z
  .union([z.string(), z.array(z.string())])
  .transform((value) =>
    [value]
      .flat()
      .flatMap((text) => text.split(','))
      .map((text) => text.trim())
      .filter(Boolean),
  )
  .pipe(tags);

export const AssetUpload = z.object({
  name: optional(name).describe("Name in the library; the file's name when omitted."),
  folder_id: optional(folderId).describe('Folder to put it in; the root when omitted.'),
  campaign_id: optional(campaign).describe('Campaign it belongs to.'),
  creator_email: optional(Email).describe('Creator who made it: on the roster, or one who applied to a campaign.'),
  tags: optional(tagsOfForm).describe('Tags, separated by commas or as repeated fields.'),
  usage_rights: optional(usageRights).describe('Usage rights in words.'),
  rights_expires_at: optional(timestampInput).describe('When the usage rights end.'),
});
export type AssetUpload = z.output<typeof AssetUpload>;

/** Set changes, omit keeps, null clears. */
export const AssetPatch = z
  .object({
    id: id.optional().describe('The asset to change; give this or `ids`.'),
    ids: z.array(id).min(1).max(MAX_SELECTED).optional().describe('The assets to change, at most 100.'),
    name: name.optional().describe('New name; for one asset only.'),
    folder_id: folderId.nullable().optional().describe('Folder to move to; null for the root.'),
    tags: tags.optional().describe('Replaces all tags.'),
    usage_rights: usageRights.nullable().optional().describe('Usage rights in words.'),
    rights: UsageTerms.nullable().optional().describe('Usage rights as data; replaces all of them.'),
    rights_expires_at: timestampInput
      .nullable()
      .optional()
      .describe('When the usage rights end; null for the end that `rights` has with a fixed first day, else never.'),
  })
  .superRefine((patch: Unchecked<'id' | 'ids' | 'name'>, context) => {
    if ((patch.id === undefined) === (patch.ids === undefined)) {
      const params = { code: 'selector' };
      context.addIssue({ code: 'custom', path: ['id'], message: 'give exactly one of id and ids', params });
    }
    if (patch.name !== undefined && Array.isArray(patch.ids) && patch.ids.length > 1) {
      const params = { code: 'contradiction' };
      context.addIssue({ code: 'custom', path: ['name'], message: 'can be set for one asset only', params });
    }
  }, besideOthers)
  .meta({ id: 'AssetPatch' });
export type AssetPatch = z.output<typeof AssetPatch>;

export const AssetsSaved = z.object({
  updated_count: z.number().int().describe('Number of selected assets.').meta({ example: 1 }),
  assets: z.array(Asset).describe('The selected assets after the change.'),
});

export const AssetFilter = z.object({
  folder_id: z.string().max(100).optional().describe('Only assets in this folder; `root` for those in no folder.'),
  type: type.optional().describe('Only files of this kind.'),
  search: z.string().max(200).optional().describe('Part of the name; case is ignored.'),
  tag: z.string().max(50).optional().describe('Only assets with this tag.'),
  campaign_id: campaignFilter,
  creator_email: creatorFilter,
  rights: z
    .enum(['valid', 'expiring', 'expired'])
    .optional()
    .describe('By usage rights: `valid` have not ended, `expiring` end within 14 days, `expired` have ended.'),
  ...ListQuery,
});
export type AssetFilter = z.output<typeof AssetFilter>;

export const AssetList = listSchema(Asset);

export const RightsQuery = z.object({
  on: timestampInput.optional().describe('When you want to use it; now when omitted.'),
  channel: z.string().max(100).optional().describe('Channel to use it on, such as `paid_social`; case is ignored.'),
});

export const AssetRights = z
  .object({
    allowed: z.boolean().describe('Whether the asset may be used at that time and on that channel.'),
    reason: z
      .enum(REASONS)
      .describe(
        '`no_limit`: an upload without terms; `no_terms`: nothing was agreed with the creator; `not_begun`: the term has not begun.',
      ),
    until: timestamp
      .nullable()
      .describe('When the rights end; null when they do not end or the end is not known yet.')
      .meta({ example: '2026-09-01T00:00:00.000Z' }),
  })
  .meta({ id: 'AssetRights' });
