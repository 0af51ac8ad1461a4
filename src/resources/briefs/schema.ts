import { z } from 'zod';
import { ListQuery, timestamp } from '../../values/page.ts';
import { fromOutside } from '../../values/untrusted.ts';
import { WebAddress } from '../../values/web-address.ts';
import { toWire } from '../../values/wire.ts';
import { Email } from '../creators/schema.ts';
import { Platform } from '../deliverables/schema.ts';
import { DueDate } from '../deliverables/terms-schema.ts';
import type { BriefFacts, RecipientRow } from './queries.ts';

const STATUSES = ['draft', 'sent', 'in_progress', 'completed'] as const;
const MAX_RECIPIENTS = 100;

/** What a brand asks for, as lists show it. */
export const Brief = z
  .object({
    id: z.string(),
    title: z.string(),
    campaign_id: z.string().nullable(),
    creator_email: z.string().nullable(),
    status: z.enum(STATUSES),
    content_type: z.string().nullable().describe('What is to be made.').meta({ example: 'reel' }),
    platform: z.string().nullable(),
    instructions: z.string().nullable(),
    talking_points: z.array(z.string()).describe('What should be said.'),
    do_not: z.array(z.string()).describe('What must not be said or done.'),
    mood_board_urls: z.array(z.string()).describe('Shown to the creator as links.'),
    due_date: z.string().nullable().describe('A day, such as 2027-01-31.'),
    created_at: timestamp,
    creator_name: fromOutside(z.string().nullable()),
    sent_at: timestamp.nullable().describe('First.'),
    updated_at: timestamp.nullable(),
  })
  .meta({ id: 'Brief' });
export type Brief = z.infer<typeof Brief>;

export const BriefDetail = Brief.extend({
  first_viewed_at: timestamp.nullable().describe('When the first of its recipients looked at it.'),
  completed_at: timestamp.nullable().describe('When nothing more was owed for it, or the brand said so.'),
  recipients: z
    .array(
      z.object({
        email: z.string(),
        sent_at: timestamp.describe('When it was mailed to them.'),
        viewed_at: timestamp.nullable().describe('When they looked at it first.'),
      }),
    )
    .describe('Everybody who was sent it, first first.'),
}).meta({ id: 'BriefDetail' });

export const BriefSaved = Brief.pick({ id: true, title: true, status: true, creator_email: true, created_at: true });

const text = z.string().trim().min(1).max(1_000);
const fields = {
  title: z.string().trim().min(1).max(200).meta({ example: 'Two reels for the summer launch' }),
  campaign_id: z.string().max(100).nullable(),
  creator_email: Email.nullable().describe('Of somebody on the roster, or who applied to a campaign.'),
  content_type: z.string().trim().min(1).max(50).nullable().describe('What is to be made.').meta({ example: 'reel' }),
  platform: Platform.nullable(),
  instructions: z.string().trim().max(20_000).nullable(),
  talking_points: z.array(text).max(50).describe('What should be said.'),
  do_not: z.array(text).max(50).describe('What must not be said or done.'),
  mood_board_urls: z.array(WebAddress).max(50).describe('Shown to the creator as links.'),
  due_date: DueDate.nullable(),
};

export const BriefCreate = z
  .object({
    title: fields.title,
    campaign_id: fields.campaign_id.optional(),
    creator_email: fields.creator_email.optional(),
    content_type: fields.content_type.optional(),
    platform: fields.platform.optional(),
    instructions: fields.instructions.optional(),
    talking_points: fields.talking_points.default([]),
    do_not: fields.do_not.default([]),
    mood_board_urls: fields.mood_board_urls.default([]),
    due_date: fields.due_date.optional(),
    send_notification: z.boolean().default(false).describe('Send it to `creator_email` at once.'),
  })
  .meta({ id: 'BriefCreate' });
export type BriefCreate = z.output<typeof BriefCreate>;

/** Set changes, omit keeps, null clears. */
export const BriefPatch = z
  .object({
    title: fields.title.optional(),
    campaign_id: fields.campaign_id.optional(),
    creator_email: fields.creator_email.optional().describe('Of a draft only.'),
    content_type: fields.content_type.optional(),
    platform: fields.platform.optional(),
    instructions: fields.instructions.optional(),
    talking_points: fields.talking_points.optional(),
    do_not: fields.do_not.optional(),
    mood_board_urls: fields.mood_board_urls.optional(),
    due_date: fields.due_date.optional(),
    status: z.literal('completed').optional().describe('Completes a brief that was sent.'),
  })
  .meta({ id: 'BriefPatch' });
export type BriefPatch = z.output<typeof BriefPatch>;

export const BriefAct = z
  .object({
    action: z.enum(['send', 'duplicate']).describe('What to do with it.'),
    recipients: z
      .array(z.object({ email: Email }))
      .min(1)
      .max(MAX_RECIPIENTS)
      .optional()
      .describe("Of `send`: the brief's creator when omitted. Who has it already is skipped."),
  })
  .meta({ id: 'BriefAct' });
export type BriefAct = z.output<typeof BriefAct>;

export const BriefSent = z
  .object({
    id: z.string(),
    status: z.enum(STATUSES),
    sent_at: timestamp.nullable().describe('When it was sent to anybody first.'),
    recipients: z
      .array(
        z.object({
          email: z.string(),
          status: z.enum(['sent', 'skipped', 'failed']).describe('`sent` means that the mail is queued.'),
          reason: z.enum(['already_sent', 'suppressed']).nullable().describe('Why it was not sent.'),
        }),
      )
      .describe('Of this call, each once.'),
  })
  .meta({ id: 'BriefSent' });
export type BriefSent = z.infer<typeof BriefSent>;

export const BriefDeleted = z.object({ deleted: z.literal(true).describe('It is gone.'), id: z.string() });

export const BriefFilter = z.object({
  campaign_id: z.string().max(100).optional(),
  creator_email: z.email().max(254).optional().describe('In any case.'),
  status: z.enum(STATUSES).optional(),
  ...ListQuery,
});

export const briefOf = (row: BriefFacts): Brief => Brief.parse(toWire(row));
export const briefDetailOf = (row: BriefFacts, recipients: readonly RecipientRow[]) =>
  BriefDetail.parse({ ...toWire(row), recipients: recipients.map(toWire) });
