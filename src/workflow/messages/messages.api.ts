import { z } from 'zod';
import type { Db } from '../../kit/engines/postgres/open.ts';
import { listMailStates } from '../../kit/mail/mails.ts';
import { act, create, get, list } from '../../kit/operation/kit.ts';
import { noun } from '../../kit/operation/noun.ts';
import { idField } from '../../kit/values/fields.ts';
import { assertNoContacts } from './contact-guard.ts';
import { messageMails } from './messages.mails.ts';
import { Conversation, ConversationFilter, Message, MessageCreate, Thread, ThreadQuery } from './messages.shapes.ts';
import {
  conversations,
  getConversation,
  getMessageNumber,
  type ListedConversation,
  listMessages,
  readConversation,
  sendMessage,
  toMessage,
} from './messages.ts';

const tag = 'Messages';
const byConversation = z.object({ conversationId: idField('cnv', 'Conversation id.').max(100) });

/** `email_sent` is false when the message's mail failed, and while it is held back or delayed. */
async function readThread(db: Db, brandId: string, id: string, { limit, before, before_number }: ThreadQuery) {
  const conversation = await getConversation(db, brandId, id);
  const older = before === undefined ? [] : [await getMessageNumber(db, brandId, id, before)];
  if (before_number !== undefined) older.push(before_number);
  const rows = await listMessages(db, conversation, { limit: limit + 1, before: Math.min(...older) });
  const visibleRows = rows.slice(0, limit).reverse();
  const mailedIds = visibleRows.filter(({ emailState }) => emailState === 'queued').map((row) => row.id);
  const states = await listMailStates(db, brandId, 'message_sent', mailedIds);
  const unsent = states.filter(({ state, reason }) => state === 'failed' || state === 'held' || reason !== null);
  const unsentIds = new Set(unsent.map(({ subjectRow }) => subjectRow));
  const person = { email: conversation.creatorEmail, name: conversation.creatorName };
  return {
    conversation_id: id,
    creator_email: person.email,
    creator_name: person.name,
    unread_count: conversation.brandUnread,
    message_count: conversation.messageCount,
    has_more: rows.length > limit,
    messages: visibleRows.map((row) => {
      const message = toMessage(row, person);
      return { ...message, number: row.number, email_sent: message.email_sent && !unsentIds.has(row.id) };
    }),
  };
}

const ConversationRead = Thread.pick({ conversation_id: true, unread_count: true, message_count: true });

const messageOperations = [
  list({
    id: 'list_conversations',
    path: '/v1/messages',
    tag,
    summary: 'List conversations',
    description:
      'The conversation with the newest message first. `created_after` and `created_before` mean the time of its last message.',
    forAgents: { description: 'The conversation with the newest message first.' },
    query: ConversationFilter,
    item: Conversation,
    rows: conversations,
    itemOf: ({ id, creatorEmail, creatorName, preview, sender, sentAt, ...row }: ListedConversation) => ({
      conversation_id: id,
      creator_email: creatorEmail,
      creator_name: creatorName,
      last_message: { body: preview, sender, sent_at: sentAt.toISOString() },
      unread_count: row.brandUnread,
      message_count: row.messageCount,
    }),
  }),
  create({
    id: 'send_message',
    path: '/v1/messages',
    tag,
    summary: 'Write to a creator',
    description:
      'To a creator on the roster or one who applied to a campaign. A message with an email address or phone number ' +
      'is 403 CONTACT_INFO_BLOCKED; `matched` says which was found.',
    forAgents: {
      description:
        'To a creator on the roster or one who applied to a campaign. A text with an email address or phone number is refused.',
      example: { creator_email: 'ana@example.com', body: 'Your parcel is on its way.' },
    },
    body: MessageCreate,
    item: Message,
    errors: ['CONTACT_INFO_BLOCKED'],
    hints: { dataOut: 'links' },
    lookUp: async (_context, { body }) => assertNoContacts(body),
    apply: async (work, { body }) => await sendMessage(work, body),
  }),
  get({
    id: 'get_conversation',
    path: '/v1/messages/{conversationId}',
    tag,
    summary: 'Get a conversation with its messages',
    description:
      'The newest 500, oldest first; `before` and `before_number` return older ones. This call marks nothing as read.',
    forAgents: {
      description:
        'The newest 500 messages, oldest first; `before` and `before_number` lead to older ones. Marks nothing as read.',
      example: { conversationId: 'cnv_…' },
    },
    params: byConversation,
    query: ThreadQuery,
    item: Thread,
    find: async ({ postgres }, { caller, params, query }) =>
      await readThread(postgres.db, caller.brandId, params.conversationId, query),
  }),
  act({
    id: 'read_conversation',
    path: '/v1/messages/{conversationId}/read',
    tag,
    summary: 'Mark a conversation as read',
    description: 'Marks all messages from the creator as read.',
    forAgents: { example: { conversationId: 'cnv_…' } },
    params: byConversation,
    item: ConversationRead,
    errors: ['NOT_FOUND'],
    hints: { idempotent: true },
    apply: async (work, { params }) => {
      const { id, brandUnread, messageCount } = await readConversation(work, params.conversationId);
      return { conversation_id: id, unread_count: brandUnread, message_count: messageCount };
    },
  }),
] as const;

export const messagesNoun = noun({
  name: 'messages',
  tag: {
    name: 'Messages',
    about: 'One conversation between the brand and each creator.',
  },
  ids: { messages: 'msg' },
  operations: messageOperations,
  mails: messageMails,
});
