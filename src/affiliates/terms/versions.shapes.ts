import { z } from 'zod';
import { createdAt, idField } from '../../kit/values/fields.ts';
import { ListQuery, timestamp } from '../../kit/values/page.ts';
import { besideOthers, type Unchecked } from '../../kit/values/problems.ts';
import { TERMS_PLACES } from '../../workflow/terms/places.ts';
import { Terms } from '../../workflow/terms/terms.shapes.ts';

export const TermsVersion = z
  .object({
    id: idField('trm', 'Id of the version.'),
    place: z.enum(TERMS_PLACES).describe('Where these terms stand, or stood.').meta({ example: 'group' }),
    place_id: z
      .string()
      .describe('Id of the code or link, the group, the campaign or the brand.')
      .meta({ example: 'grp_0Uo3xK2mVdT2aXs7LpRb' }),
    terms: Terms.describe('The terms as they were set.'),
    summary: z
      .string()
      .describe('The deal in a sentence.')
      .meta({ example: '10% of each order; also on renewals of the subscription.' }),
    by: z
      .string()
      .nullable()
      .describe('Name of the person or of the API key that set them; null if it is not known.')
      .meta({ example: 'Robin Bauer' }),
    created_at: createdAt,
    replaced_at: timestamp
      .nullable()
      .describe('When other terms replaced them; null while they are in effect.')
      .meta({ example: null }),
  })
  .meta({ id: 'TermsVersion' });

const PLACES = ['link_id', 'group_id', 'campaign_id'] as const;
const placeId = z.string().max(100).optional();

export const TermsFilter = z
  .object({
    link_id: placeId.describe('Only versions of this code or link.'),
    group_id: placeId.describe('Only versions of this group.'),
    campaign_id: placeId.describe('Only versions of this campaign. Without any of the three, those of the brand.'),
    ...ListQuery,
  })
  .superRefine((query: Unchecked<(typeof PLACES)[number]>, context) => {
    const [, second] = PLACES.filter((place) => query[place] !== undefined);
    if (second === undefined) return;
    context.addIssue({ code: 'custom', path: [second], params: { code: 'conflict' }, message: 'give only one place' });
  }, besideOthers);
export type TermsFilter = z.output<typeof TermsFilter>;
