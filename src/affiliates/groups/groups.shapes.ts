import { z } from 'zod';
import { Email } from '../../kit/values/email.ts';
import { createdAt, creatorEmail, idField, updatedAt } from '../../kit/values/fields.ts';
import { booleanParameter, ListQuery, timestamp } from '../../kit/values/page.ts';
import { Budgets } from '../../workflow/terms/budgets.ts';
import { NotifyOfTerms, Terms, TermsInput } from '../../workflow/terms/terms.shapes.ts';
import { payeeName } from '../payouts/payouts.shapes.ts';

const MAX_CREATORS = 500;

const groupId = idField('grp', 'Id of the group.');
const name = z
  .string()
  .trim()
  .min(1)
  .max(100)
  .refine((text) => !/\p{Cc}/u.test(text), 'must not have control characters')
  .describe('Name of the group, unique whatever its case.')
  .meta({ example: 'Ambassadors' });
const TERMS =
  'What codes and links of its creators pay if they have no terms of their own; null for those of the campaign or the brand.';
const isDefault = z
  .boolean()
  .describe('Whether creators who join the roster are added to it.')
  .meta({ example: false });
const holdDays = z
  .number()
  .int()
  .min(0)
  .max(90)
  .nullable()
  .describe('Review period of codes and links that its creators get later, in days; null for the usual 30.')
  .meta({ example: 14 });
const attributionDays = z
  .number()
  .int()
  .min(1)
  .max(90)
  .nullable()
  .describe('Attribution window of codes and links that its creators get later, in days; null for the usual 30.')
  .meta({ example: 30 });

export const Group = z
  .object({
    id: groupId,
    name,
    terms: Terms.nullable().describe(TERMS),
    terms_summary: z
      .string()
      .nullable()
      .describe('These terms in a sentence; null without any.')
      .meta({ example: '10% of each order; also on renewals of the subscription.' }),
    default: isDefault,
    hold_days: holdDays,
    attribution_days: attributionDays,
    creators: z.number().int().describe('Creators who are in it now.').meta({ example: 12 }),
    budget: Budgets,
    created_at: createdAt,
    updated_at: updatedAt,
  })
  .meta({ id: 'Group' });

export const GroupCreate = z
  .object({
    name,
    terms: TermsInput.nullable().describe(TERMS).optional(),
    default: isDefault.default(false),
    hold_days: holdDays.optional(),
    attribution_days: attributionDays.optional(),
  })
  .meta({ id: 'GroupCreate' });
export type GroupCreate = z.output<typeof GroupCreate>;

/** Set changes, omit keeps, null clears. */
export const GroupPatch = z
  .object({
    name: name.optional(),
    terms: TermsInput.nullable().describe(TERMS).optional(),
    default: isDefault.optional(),
    hold_days: holdDays.optional(),
    attribution_days: attributionDays.optional(),
    notify: NotifyOfTerms,
  })
  .meta({ id: 'GroupPatch' });
export type GroupPatch = z.output<typeof GroupPatch>;

export const GroupDeleted = z.object({
  id: groupId,
  deleted: z.literal(true).describe('Always true. Orders that its terms decided keep them.'),
});

export const GroupMember = z
  .object({
    id: idField('mbr', 'Id of the membership.'),
    creator_id: idField('crt', 'Id of the creator in `/v1/creators`.'),
    creator_email: creatorEmail,
    creator_name: payeeName,
    since: timestamp.describe('When the creator joined the group.').meta({ example: '2026-03-02T09:30:00.000Z' }),
    until: timestamp
      .nullable()
      .describe('When the creator left it; null while they are in it.')
      .meta({ example: null }),
  })
  .meta({ id: 'GroupMember' });

export const MemberFilter = z.object({
  present: booleanParameter()
    .optional()
    .describe('`true`: only creators who are in it now. `false`: only those who left it.'),
  ...ListQuery,
});
export type MemberFilter = z.output<typeof MemberFilter>;

export const MembersAdd = z
  .object({
    creator_emails: z
      .array(Email)
      .min(1)
      .max(MAX_CREATORS)
      .describe('Creators on the roster. Those of another group move to this one.')
      .meta({ example: ['ana@example.com'] }),
    links: z
      .enum(['keep', 'inherit'])
      .default('keep')
      .describe(
        '`keep`: codes and links with terms of their own keep them. `inherit`: all codes and links of these creators take the terms of the group.',
      ),
  })
  .meta({ id: 'GroupCreatorsAdd' });
export type MembersAdd = z.output<typeof MembersAdd>;

const emails = (meaning: string) =>
  z
    .array(z.string())
    .describe(meaning)
    .meta({ example: ['ana@example.com'] });

export const MembersMoved = z
  .object({
    moved: emails('Creators who are in the group now, and were not before.'),
    unchanged: emails('Creators who were in the group already.'),
    failed: z
      .array(
        z.object({
          creator_email: z.string().describe('The address as it was given.').meta({ example: 'ben@example.com' }),
          reason: z
            .literal('not_on_roster')
            .describe("`not_on_roster`: nobody on the brand's roster has this address."),
        }),
      )
      .describe('Creators who could not be moved.')
      .meta({ example: [] }),
    links_changed: z
      .number()
      .int()
      .describe('Codes and links that had terms of their own and take those of the group now.')
      .meta({ example: 0 }),
  })
  .meta({ id: 'GroupCreatorsMoved' });

export const MemberQuery = z.object({ creator_email: Email.describe('The creator to take out.') });
export const MemberLeft = z.object({
  id: groupId,
  creator_email: z.string().describe('The creator who left the group.').meta({ example: 'ana@example.com' }),
});
