import { z } from 'zod';
import { type EventsOf, events } from '../../outbox/events.ts';
import { booleanParameter, integerParameter, ListQuery, timestamp } from '../../values/page.ts';
import { fromOutside } from '../../values/untrusted.ts';

export const PREVIEW_CHARACTERS = 200;
export const MAX_BODY = 10_000;
const MAX_THREAD = 500;

const sender = z.enum(['creator', 'brand']);
const email = z.string().nullable();

export const Conversation = z
  .object({
    conversation_id: z.string(),
    creator_email: email,
    creator_name: fromOutside(z.string().nullable()),
    last_message: z.object({
      body: fromOutside(z.string().describe('Its first 200 characters.')),
      sender,
      sent_at: timestamp,
    }),
    unread_count: z.number().int().describe("The creator's messages that the brand has not read."),
    message_count: z.number().int(),
  })
  .meta({ id: 'Conversation' });
export type Conversation = z.infer<typeof Conversation>;

/** A message as it is answered when it is sent, and as `message.received` carries it. */
export const Message = z
  .object({
    id: z.string(),
    conversation_id: z.string(),
    creator_email: email,
    creator_name: fromOutside(z.string().nullable()),
    subject: fromOutside(z.string().nullable()),
    body: fromOutside(z.string()),
    sender,
    sent_at: timestamp,
    read_at: timestamp.nullable(),
    email_sent: z.boolean().describe('Whether it goes out by mail too: false also to an address that wants no mail.'),
  })
  .meta({ id: 'Message' });
export type Message = z.infer<typeof Message>;

export const Thread = z
  .object({
    conversation_id: z.string(),
    creator_email: email,
    creator_name: fromOutside(z.string().nullable()),
    unread_count: z.number().int(),
    message_count: z.number().int(),
    has_more: z.boolean().describe('Whether there are older messages than these.'),
    messages: z
      .array(
        Message.omit({ conversation_id: true, creator_email: true, creator_name: true }).extend({
          number: z.number().int().describe('Its place in the conversation; the first is 1.'),
        }),
      )
      .describe('Oldest first.'),
  })
  .meta({ id: 'Thread' });

export const MessageCreate = z
  .object({
    creator_email: z.email().max(254).meta({ example: 'ann@mail.example' }),
    subject: z.string().trim().min(1).max(200).nullable().optional(),
    body: z.string().trim().min(1).max(MAX_BODY).meta({ example: 'We love your last reel. Shall we plan another?' }),
    send_email: z.boolean().default(false).describe('Sends it by mail too, with a link to a page for the reply.'),
  })
  .meta({ id: 'MessageCreate' });
export type MessageCreate = z.output<typeof MessageCreate>;

export const ConversationFilter = z.object({
  creator_email: z.email().max(254).optional().describe('In any case.'),
  unread: booleanParameter().optional().describe('`true`: with unread messages of the creator; `false`: without.'),
  ...ListQuery,
});
export type ConversationFilter = z.output<typeof ConversationFilter>;

export const ThreadQuery = z.object({
  limit: integerParameter({ min: 1 })
    .transform((limit) => Math.min(limit, MAX_THREAD))
    .pipe(z.number().int().min(1).max(MAX_THREAD))
    .default(MAX_THREAD)
    .describe('The newest so many; larger values are clamped to 500.'),
  before: z.string().max(100).optional().describe('A message of this conversation: only older ones.'),
  before_number: integerParameter({ min: 1 })
    .optional()
    .describe('Only messages with a smaller `number`: how any place of a long conversation is read at once.'),
});
export type ThreadQuery = z.output<typeof ThreadQuery>;

const messageEvents = events({
  'message.received': {
    data: Message,
    when: 'A creator sent a message.',
    shownTo: ['current', 'legacy'],
  },
});
declare module '../../outbox/events.ts' {
  interface Events extends EventsOf<typeof messageEvents> {}
}
