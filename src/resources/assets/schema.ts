import { z } from 'zod';
import { ListQuery, listOf, timestamp, timestampInput } from '../../values/page.ts';
import { besideOthers, type Unchecked } from '../../values/problems.ts';
import { hasUnseen } from '../../values/text.ts';
import { fromOutside } from '../../values/untrusted.ts';
import { REASONS } from './policy.ts';

const MAX_SELECTED = 100;
const type = z.enum(['image', 'video', 'document', 'audio', 'other']);
const id = z.string().min(1).max(100);

export const UsageTerms = z
  .object({
    channels: z.array(z.string().trim().min(1).max(50)).max(20).nullable().default(null).describe('Null: any.'),
    territory: z.string().trim().min(1).max(200).nullable().default(null),
    days: z.number().int().min(1).max(36_500).nullable().default(null).describe('Null: for good.'),
    starts: z.enum(['signed', 'posted', 'fixed']).nullable().default(null).describe('What the days count from.'),
    starts_on: z.iso
      .date({ error: 'must be a date such as 2027-01-31' })
      .nullable()
      .default(null)
      .describe('The day before which it may not be used, where `starts` is `fixed`.')
      .meta({ example: '2027-01-31' }),
  })
  .meta({ id: 'UsageTerms' });

export const Asset = z
  .object({
    id: z.string(),
    name: fromOutside(z.string()),
    type: type.describe('By its content; what a browser could run is `other`.'),
    mime_type: z.string(),
    size_bytes: z.number().int(),
    url: z.string().describe('Signed, good for an hour at least; takes Range requests.'),
    thumbnail_url: z
      .string()
      .nullable()
      .describe('480 pixels wide, webp; null until it is made, and for what is no image.'),
    width: z.number().int().nullable(),
    height: z.number().int().nullable(),
    folder_id: z.string().nullable(),
    campaign_id: z.string().nullable(),
    creator_email: z.string().nullable(),
    source: z.enum(['upload', 'deliverable', 'tracked_content']),
    tags: z.array(z.string()),
    usage_rights: z.string().nullable(),
    rights: UsageTerms.nullable(),
    rights_expires_at: timestamp.nullable(),
    sha256: z.string().describe('Of the file, in hex digits.'),
    created_at: timestamp,
    updated_at: timestamp.nullable(),
  })
  .meta({ id: 'Asset' });
export type Asset = z.infer<typeof Asset>;

const name = z
  .string()
  .trim()
  .min(1)
  .max(200)
  .refine((text) => !hasUnseen(text), 'must not have control or invisible characters, such as U+202E');
const tag = z.string().trim().min(1).max(50);
const tags = z.array(tag).max(50);
const usageRights = z.string().trim().min(1).max(2_000);

/** The fields beside the file. A form's values are text; a blank one is none. */
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
  name: optional(name).describe("The file's own name when it is left out."),
  folder_id: optional(id),
  campaign_id: optional(id),
  creator_email: optional(z.email().max(254)).describe('Whose work it is: somebody the brand may write to.'),
  tags: optional(tagsOfForm).describe('Separated by commas, or given several times.'),
  usage_rights: optional(usageRights),
  rights_expires_at: optional(timestampInput),
});
export type AssetUpload = z.output<typeof AssetUpload>;

/** Set changes, omit keeps, null clears. */
export const AssetPatch = z
  .object({
    id: id.optional(),
    ids: z.array(id).min(1).max(MAX_SELECTED).optional(),
    name: name.optional().describe('Of one asset only.'),
    folder_id: id.nullable().optional().describe('Null moves to the root.'),
    tags: tags.optional(),
    usage_rights: usageRights.nullable().optional(),
    rights: UsageTerms.nullable().optional(),
    rights_expires_at: timestampInput.nullable().optional(),
  })
  .superRefine((patch: Unchecked<'id' | 'ids' | 'name'>, context) => {
    if ((patch.id === undefined) === (patch.ids === undefined)) {
      const params = { code: 'selector' };
      context.addIssue({ code: 'custom', path: ['id'], message: 'give exactly one of id and ids', params });
    }
    if (patch.name !== undefined && Array.isArray(patch.ids) && patch.ids.length > 1) {
      const params = { code: 'contradiction' };
      context.addIssue({ code: 'custom', path: ['name'], message: 'may be set of one asset only', params });
    }
  }, besideOthers)
  .meta({ id: 'AssetPatch' });
export type AssetPatch = z.output<typeof AssetPatch>;

export const AssetsSaved = z.object({ updated_count: z.number().int(), assets: z.array(Asset) });

export const AssetFilter = z.object({
  folder_id: z.string().max(100).optional().describe('A folder; `root` for what is in none.'),
  type: type.optional(),
  search: z.string().max(200).optional().describe('Part of the name, in any case.'),
  tag: z.string().max(50).optional(),
  campaign_id: z.string().max(100).optional(),
  creator_email: z.email().max(254).optional().describe('In any case.'),
  rights: z
    .enum(['valid', 'expiring', 'expired'])
    .optional()
    .describe('`valid` has not ended, `expiring` ends within 14 days, `expired` has ended.'),
  ...ListQuery,
});
export type AssetFilter = z.output<typeof AssetFilter>;

export const AssetList = listOf(Asset);

export const RightsQuery = z.object({
  on: timestampInput.optional().describe('When it is to be used; now when left out.'),
  channel: z.string().max(100).optional().describe('Such as `paid_social`; in any case.'),
});

export const AssetRights = z
  .object({
    allowed: z.boolean(),
    reason: z.enum(REASONS),
    until: timestamp.nullable().describe('When the rights end; null when that is not known or never.'),
  })
  .meta({ id: 'AssetRights' });
