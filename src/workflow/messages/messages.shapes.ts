import { z } from 'zod';
import { type EventsOf, events } from '../../kit/outbox/events.ts';
import { Email } from '../../kit/values/email.ts';
import { creatorEmail, idField } from '../../kit/values/fields.ts';
import { booleanParameter, integerParameter, ListQuery, timestamp } from '../../kit/values/page.ts';
import { fromOutside } from '../../kit/values/untrusted.ts';
import { creatorFilter, creatorName } from '../campaigns/campaigns.shapes.ts';

export const PREVIEW_CHARACTERS = 200;
export const MAX_BODY = 10_000;
const MAX_THREAD = 500;

const sender = z.enum(['creator', 'brand']).describe('Who wrote the message.');
const sentAt = timestamp.describe('When the message was sent.').meta({ example: '2026-03-02T09:30:00.000Z' });
const conversationId = idField('cnv', 'Conversation id; a brand has one conversation with each creator.');
const unreadCount = z
  .number()
  .int()
  .describe('Number of messages from the creator that the brand has not read.')
  .meta({ example: 1 });
const messageCount = z.number().int().describe('Number of messages from either side.').meta({ example: 4 });
const bodyExample = 'Hello Ana, shall we start on Monday?';

export const Conversation = z
  .object({
    conversation_id: conversationId,
    creator_email: creatorEmail,
    creator_name: creatorName,
    last_message: z
      .object({
        body: fromOutside(z.string().describe('The first 200 characters of the text.').meta({ example: bodyExample })),
        sender,
        sent_at: sentAt,
      })
      .describe('Newest message, shortened.'),
    unread_count: unreadCount,
    message_count: messageCount,
  })
  .meta({ id: 'Conversation' });
export type Conversation = z.infer<typeof Conversation>;

/** The answer to sending a message. `message.received` carries it too. */
export const Message = z
  .object({
    id: idField('msg', 'Message id.'),
    conversation_id: conversationId,
    creator_email: creatorEmail,
    creator_name: creatorName,
    subject: fromOutside(
      z
        .string()
        .nullable()
        .describe('Subject line; null when there is none.')
        .meta({ example: 'About your summer reel' }),
    ),
    body: fromOutside(z.string().describe('Text of the message.').meta({ example: bodyExample })),
    sender,
    sent_at: sentAt,
    read_at: timestamp
      .nullable()
      .describe('When the other side read it; null until then.')
      .meta({ example: '2026-03-03T08:00:00.000Z' }),
    email_sent: z
      .boolean()
      .describe(
        'Whether it also goes out by email. False when the address accepts no email, when sending failed, and while a limit holds or delays the email; `/v1/mails` says why.',
      ),
  })
  .meta({ id: 'Message' });
export type Message = z.infer<typeof Message>;

export const Thread = z
  .object({
    conversation_id: conversationId,
    creator_email: creatorEmail,
    creator_name: creatorName,
    unread_count: unreadCount,
    message_count: messageCount,
    has_more: z.boolean().describe('Whether the conversation has messages older than these.').meta({ example: false }),
    messages: z
      .array(
        Message.omit({ conversation_id: true, creator_email: true, creator_name: true }).extend({
          number: z
            .number()
            .int()
            .describe('Position in the conversation; the first message is 1.')
            .meta({ example: 4 }),
        }),
      )
      .describe('Messages, oldest first.'),
  })
  .meta({ id: 'Thread' });

export const MessageCreate = z
  .object({
    creator_email: Email.describe('A creator on the roster, or an applicant.').meta({ example: 'ann@mail.example' }),
    subject: z
      .string()
      .trim()
      .min(1)
      .max(200)
      .nullable()
      .optional()
      .describe('Subject line of the email.')
      .meta({ example: 'About your summer reel' }),
    body: z
      .string()
      .trim()
      .min(1)
      .max(MAX_BODY)
      .describe('Text, without email addresses and phone numbers.')
      .meta({ example: 'We love your last reel. Shall we plan another?' }),
    send_email: z
      .boolean()
      .default(false)
      .describe('Also send it by email, with a link to a page where the creator replies.'),
  })
  .meta({ id: 'MessageCreate' });
export type MessageCreate = z.output<typeof MessageCreate>;

export const ConversationFilter = z.object({
  creator_email: creatorFilter,
  unread: booleanParameter()
    .optional()
    .describe('`true`: only conversations with unread messages from the creator; `false`: only those without.'),
  answered: booleanParameter()
    .optional()
    .describe(
      '`false`: only conversations whose newest message is from the creator; `true`: only those where it is yours.',
    ),
  ...ListQuery,
});
export type ConversationFilter = z.output<typeof ConversationFilter>;

export const ThreadQuery = z.object({
  limit: integerParameter({ min: 1 })
    .transform((limit) => Math.min(limit, MAX_THREAD))
    .pipe(z.number().int().min(1).max(MAX_THREAD))
    .default(MAX_THREAD)
    .describe('Number of messages, newest first; larger values are clamped to 500.'),
  before: z
    .string()
    .max(100)
    .optional()
    .describe('Id of a message in this conversation: only older messages are returned.'),
  before_number: integerParameter({ min: 1 })
    .optional()
    .describe('Only messages with a smaller `number`. It reaches any part of a long conversation in one call.'),
});
export type ThreadQuery = z.output<typeof ThreadQuery>;

const messageEvents = events({
  'message.received': {
    data: Message,
    when: 'A creator sent a message.',
    shownTo: ['current', 'legacy'],
  },
});
declare module '../../kit/outbox/events.ts' {
  interface Events extends EventsOf<typeof messageEvents> {}
}
