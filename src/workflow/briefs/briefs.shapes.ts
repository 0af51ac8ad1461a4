import { z } from 'zod';
import { Email } from '../../kit/values/email.ts';
import { campaignId, createdAt, creatorEmail, idField, PLATFORM_NAMES, updatedAt } from '../../kit/values/fields.ts';
import { ListQuery, timestamp } from '../../kit/values/page.ts';
import { WebAddress } from '../../kit/values/web-address.ts';
import { toWire } from '../../kit/values/wire.ts';
import { campaignFilter, campaignIdInput, creatorFilter, creatorName } from '../campaigns/campaigns.shapes.ts';
import { DueDate, Platform } from '../deliverables/deliverables.shapes.ts';
import type { BriefFacts, RecipientRow } from './briefs.ts';

const STATUSES = ['draft', 'sent', 'in_progress', 'completed'] as const;
const MAX_RECIPIENTS = 100;

const id = idField('brf', 'Brief id.');
const status = z
  .enum(STATUSES)
  .describe(
    'Brief status. `sent`: emailed and not opened yet; `in_progress`: opened by a recipient; `completed`: nothing more is owed for it.',
  );
const sentAt = timestamp
  .nullable()
  .describe('When it was first sent to anyone; null for a draft.')
  .meta({ example: '2026-03-02T10:00:00.000Z' });
const texts = {
  title: 'Title that the creator sees.',
  content_type: 'Kind of content to make.',
  platform: `Platform the content is for: ${PLATFORM_NAMES}; null when left open.`,
  instructions: 'What the creator is to do.',
  talking_points: 'What the creator should say.',
  do_not: 'What the creator must not say or do.',
  mood_board_urls: 'Pictures or pages that show the mood. The creator sees them as links.',
  due_date: 'Day the content is due; null for none.',
};
const examples = {
  title: 'Two reels for the summer launch',
  instructions: 'Show the product in the first three seconds.',
  talking_points: ['Made of linen'],
  do_not: ['No other brands'],
  mood_board_urls: ['https://pictures.example/mood.jpg'],
};

export const Brief = z
  .object({
    id,
    title: z.string().describe(texts.title).meta({ example: examples.title }),
    campaign_id: campaignId,
    creator_email: creatorEmail.describe(
      'Creator to whom the brief is sent when no recipients are named; null for none.',
    ),
    status,
    content_type: z.string().nullable().describe(texts.content_type).meta({ example: 'reel' }),
    platform: z.string().nullable().describe(texts.platform).meta({ example: 'photo_app' }),
    instructions: z.string().nullable().describe(texts.instructions).meta({ example: examples.instructions }),
    talking_points: z.array(z.string()).describe(texts.talking_points).meta({ example: examples.talking_points }),
    do_not: z.array(z.string()).describe(texts.do_not).meta({ example: examples.do_not }),
    mood_board_urls: z.array(z.string()).describe(texts.mood_board_urls).meta({ example: examples.mood_board_urls }),
    due_date: z.string().nullable().describe(texts.due_date).meta({ example: '2027-01-31' }),
    created_at: createdAt,
    creator_name: creatorName,
    sent_at: sentAt,
    updated_at: updatedAt,
    recipient_count: z.number().int().describe('Number of creators it was sent to.').meta({ example: 3 }),
    viewed_count: z.number().int().describe('Number of these creators who opened it.').meta({ example: 2 }),
  })
  .meta({ id: 'Brief' });
export type Brief = z.infer<typeof Brief>;

export const BriefDetail = Brief.extend({
  first_viewed_at: timestamp.nullable().describe('When a recipient first opened it; null until then.'),
  completed_at: timestamp
    .nullable()
    .describe('When it was completed, by the brand or because nothing more was owed for it.'),
  recipients: z
    .array(
      z.object({
        email: z.string().describe("Recipient's email address.").meta({ example: 'ana@example.com' }),
        sent_at: timestamp.describe('When it was emailed to this recipient.'),
        viewed_at: timestamp.nullable().describe('When this recipient first opened it; null until then.'),
      }),
    )
    .describe('Everyone it was sent to, in the order of sending.'),
}).meta({ id: 'BriefDetail' });

export const BriefSaved = Brief.pick({ id: true, title: true, status: true, creator_email: true, created_at: true });

const text = z.string().trim().min(1).max(1_000);
const fields = {
  title: z.string().trim().min(1).max(200).describe(texts.title).meta({ example: examples.title }),
  campaign_id: campaignIdInput,
  creator_email: Email.nullable().describe('A creator on the roster, or an applicant.'),
  content_type: z.string().trim().min(1).max(50).nullable().describe(texts.content_type).meta({ example: 'reel' }),
  platform: Platform.nullable().describe(texts.platform),
  instructions: z
    .string()
    .trim()
    .max(20_000)
    .nullable()
    .describe(texts.instructions)
    .meta({ example: examples.instructions }),
  talking_points: z.array(text).max(50).describe(texts.talking_points).meta({ example: examples.talking_points }),
  do_not: z.array(text).max(50).describe(texts.do_not).meta({ example: examples.do_not }),
  mood_board_urls: z
    .array(WebAddress)
    .max(50)
    .describe(texts.mood_board_urls)
    .meta({ example: examples.mood_board_urls }),
  due_date: DueDate.nullable().describe(texts.due_date),
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
    send_notification: z.boolean().default(false).describe('Send it to `creator_email` right away.'),
  })
  .meta({ id: 'BriefCreate' });
export type BriefCreate = z.output<typeof BriefCreate>;

/** Set changes, omit keeps, null clears. */
export const BriefPatch = z
  .object({
    title: fields.title.optional(),
    campaign_id: fields.campaign_id.optional(),
    creator_email: fields.creator_email.optional().describe('Can be changed only while it is a draft.'),
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
    action: z
      .enum(['send', 'duplicate'])
      .describe('`send` emails it to its recipients; `duplicate` creates a draft with the same content.'),
    recipients: z
      .array(z.object({ email: Email.describe('Email address of a recipient: on the roster, or an applicant.') }))
      .min(1)
      .max(MAX_RECIPIENTS)
      .optional()
      .describe("For `send`; the brief's creator when omitted. Recipients who already have it are skipped."),
  })
  .meta({ id: 'BriefAct' });
export type BriefAct = z.output<typeof BriefAct>;

export const BriefSent = z
  .object({
    id,
    status,
    sent_at: sentAt,
    recipients: z
      .array(
        z.object({
          email: z.string().describe('Email address that this call named.').meta({ example: 'ana@example.com' }),
          status: z
            .enum(['sent', 'skipped', 'failed'])
            .describe('`sent`: the email is queued; `skipped`: they already have it; `failed`: it cannot be emailed.'),
          reason: z
            .enum(['already_sent', 'suppressed'])
            .nullable()
            .describe('Why no email was queued; null when one was. `suppressed` means the address accepts no mail.'),
        }),
      )
      .describe('Recipients of this call, each listed once.'),
  })
  .meta({ id: 'BriefSent' });
export type BriefSent = z.infer<typeof BriefSent>;

export const BriefDeleted = z.object({ deleted: z.literal(true).describe('Always true: the draft is deleted.'), id });

export const BriefFilter = z.object({
  campaign_id: campaignFilter,
  creator_email: creatorFilter,
  status: status.optional().describe('Only briefs with this status.'),
  ...ListQuery,
});
export type BriefFilter = z.output<typeof BriefFilter>;

export const toBrief = (row: BriefFacts): Brief => Brief.parse(toWire(row));
export const toBriefDetail = (row: BriefFacts, recipients: readonly RecipientRow[]) =>
  BriefDetail.parse({ ...toWire(row), recipients: recipients.map(toWire) });
