import { type Selectable, sql } from 'kysely';
import type { ConversationsTable, MessagesTable } from '../../kit/engines/postgres/database.ts';
import { listing } from '../../kit/engines/postgres/listing.ts';
import type { Db } from '../../kit/engines/postgres/open.ts';
import { lockOwn } from '../../kit/engines/postgres/own.ts';
import { queueMail } from '../../kit/mail/queue.ts';
import type { Work } from '../../kit/operation/work.ts';
import { HOUR_MS } from '../../kit/values/duration.ts';
import { notFound } from '../../kit/values/errors.ts';
import { newId } from '../../kit/values/ids.ts';
import type { Page } from '../../kit/values/page.ts';
import { toWire } from '../../kit/values/wire.ts';
import { mailPeople } from '../../platform/people/people.ts';
import { type Addressee, getAddressee } from '../applications/applications.ts';
import { matchesCreator } from '../creators/creators.ts';
import { showCreator } from '../creators/renamed.ts';
import { REPLIES_PER_HOUR } from './contact-guard.ts';
import { type ConversationFilter, Message, type MessageCreate, PREVIEW_CHARACTERS } from './messages.shapes.ts';

export type Sender = MessagesTable['sender'];

export type ConversationRow = Selectable<ConversationsTable>;
export type MessageRow = Selectable<MessagesTable>;

const withCreator = (db: Db) =>
  db
    .selectFrom('conversations')
    .innerJoin('creators', 'creators.id', 'conversations.creatorId')
    .selectAll('conversations')
    .select(['creators.email as creatorEmail', 'creators.name as creatorName']);

/** PostgreSQL counts code points, so no emoji is cut in two. */
const preview = sql<string>`left(messages.body, ${PREVIEW_CHARACTERS})`;

const withLastMessage = (db: Db) =>
  withCreator(db)
    .innerJoin('messages', (join) =>
      join
        .onRef('messages.conversationId', '=', 'conversations.id')
        .onRef('messages.number', '=', 'conversations.messageCount'),
    )
    .select(['messages.sender', 'messages.sentAt', preview.as('preview')]);

export const conversations = listing({
  noun: 'conversation',
  table: 'conversations',
  time: 'lastMessageAt',
  changed: ['createdAt', 'lastMessageAt'],
  shown: [showCreator('conversations')],
  matching: (db, brandId, { creator_email, unread, answered }: Omit<ConversationFilter, keyof Page>) =>
    db
      .selectFrom('conversations')
      .$if(unread !== undefined, (query) => query.where('brandUnread', unread ? '>' : '=', 0))
      .$if(answered !== undefined, (query) =>
        query.where(({ exists, selectFrom }) =>
          exists(
            selectFrom('messages as newest')
              .select('newest.id')
              .whereRef('newest.conversationId', '=', 'conversations.id')
              .whereRef('newest.number', '=', 'conversations.messageCount')
              .where('newest.sender', '=', answered ? 'brand' : 'creator'),
          ),
        ),
      )
      .where(matchesCreator('conversations.creatorId', brandId, creator_email)),
  rows: withLastMessage,
});
export const { get: getConversation } = conversations;
export type ListedConversation = Awaited<ReturnType<typeof getConversation>>;

/** Found by id alone, because a visitor with the page's link has no brand. */
export async function findConversationPage(db: Db, id: string) {
  return await withCreator(db).where('conversations.id', '=', id).executeTakeFirst();
}

/** A creator's conversation with the brand, if they have one. */
export async function findCreatorConversation(db: Db, brandId: string, creatorId: string) {
  return await db
    .selectFrom('conversations')
    .selectAll()
    .where('brandId', '=', brandId)
    .where('creatorId', '=', creatorId)
    .executeTakeFirst();
}

/** The number of a message in this conversation. */
export async function getMessageNumber(db: Db, brandId: string, conversationId: string, id: string): Promise<number> {
  const row = await db
    .selectFrom('messages')
    .select('number')
    .where('brandId', '=', brandId)
    .where('conversationId', '=', conversationId)
    .where('id', '=', id)
    .executeTakeFirst();
  if (!row) throw notFound('message in this conversation');
  return row.number;
}

/** The newest messages before a number, newest first. */
export async function listMessages(
  db: Db,
  { brandId, id: conversationId }: Pick<ConversationRow, 'brandId' | 'id'>,
  { limit, before = Number.POSITIVE_INFINITY }: { limit: number; before?: number },
): Promise<MessageRow[]> {
  return await db
    .selectFrom('messages')
    .selectAll()
    .where('brandId', '=', brandId)
    .where('conversationId', '=', conversationId)
    .$if(before < Number.POSITIVE_INFINITY, (query) => query.where('number', '<', before))
    .orderBy('number', 'desc')
    .limit(limit)
    .execute();
}

/** Locked until the transaction ends, so that messages get consecutive numbers. */
const lockConversation = (db: Db, brandId: string, id: string): Promise<ConversationRow> =>
  lockOwn(db.selectFrom('conversations').selectAll(), 'conversation', brandId, id);

/** The conversation with a creator, created if needed, with one more message of the brand counted. */
async function openConversation(
  db: Db,
  { id, brandId, creatorId, now }: { id: string; brandId: string; creatorId: string; now: Date },
): Promise<ConversationRow> {
  const row = { id, brandId, creatorId, messageCount: 1, lastMessageAt: now, creatorUnread: 1, createdAt: now };
  return await db
    .insertInto('conversations')
    .values(row)
    .onConflict((conflict) =>
      conflict.columns(['brandId', 'creatorId']).doUpdateSet((eb) => ({
        messageCount: eb('conversations.messageCount', '+', 1),
        creatorUnread: eb('conversations.creatorUnread', '+', 1),
        brandUnread: 0,
        lastMessageAt: sql<Date>`greatest(conversations.last_message_at, ${now})`,
      })),
    )
    .returningAll()
    .executeTakeFirstOrThrow();
}

/** Marks the other side's messages as read. */
async function markRead(
  db: Db,
  { brandId, id }: Pick<ConversationRow, 'brandId' | 'id'>,
  sender: Sender,
  now: Date,
): Promise<void> {
  await db
    .updateTable('messages')
    .set({ readAt: now })
    .where('brandId', '=', brandId)
    .where('conversationId', '=', id)
    .where('sender', '=', sender)
    .where('readAt', 'is', null)
    .execute();
}

async function clearUnread(
  db: Db,
  { brandId, id }: Pick<ConversationRow, 'brandId' | 'id'>,
  side: 'brandUnread' | 'creatorUnread',
): Promise<void> {
  await db
    .updateTable('conversations')
    .set({ [side]: 0 })
    .where('brandId', '=', brandId)
    .where('id', '=', id)
    .execute();
}

/** The same text within this time counts as a form that was submitted twice. */
const TWICE_MS = 60_000;

type Person = { email: string | null; name: string | null };

export const toMessage = (row: MessageRow, { email, name }: Person): Message =>
  Message.parse({ ...toWire(row), creator_email: email, creator_name: name, email_sent: row.emailState === 'queued' });

/** The audit log never contains the text of messages. */
function auditMessage(work: Work, { subject: _subject, body: _body, ...row }: MessageRow): void {
  const generated = ['id', 'messageId'];
  work.audit({ resourceId: row.conversationId, old: null, new: { ...row, messageId: row.id }, generated });
}

interface NewMessage {
  id: string;
  sender: Sender;
  subject: string | null;
  body: string;
  emailState: MessageRow['emailState'];
}

/** Inserts the message, which the conversation has already counted. */
async function write({ db }: Work, { id, brandId, messageCount, lastMessageAt }: ConversationRow, message: NewMessage) {
  const place = { brandId, conversationId: id, number: messageCount, sentAt: lastMessageAt };
  return await db
    .insertInto('messages')
    .values({ ...message, ...place, readAt: null })
    .returningAll()
    .executeTakeFirstOrThrow();
}

async function mailMessage(
  work: Work,
  conversation: ConversationRow,
  to: Addressee,
  message: Omit<NewMessage, 'emailState'>,
) {
  const { id, subject, body } = message;
  const params = { conversation_id: conversation.id, link_version: conversation.linkVersion, subject, body };
  const state = await queueMail(work, {
    kind: 'message_sent',
    to: to.email,
    subjectRow: id,
    creatorId: to.id,
    params,
  });
  return state === 'suppressed' ? 'suppressed' : 'queued';
}

/** Sends a brand's message. It answers the creator's earlier ones, so those are marked as read. */
export async function sendMessage(work: Work, input: MessageCreate): Promise<Message> {
  const { db, now, brandId } = work;
  const to = await getAddressee(db, brandId, input.creator_email);
  const newConversation = { id: newId('cnv', now.getTime()), brandId, creatorId: to.id, now };
  const conversation = await openConversation(db, newConversation);
  await markRead(db, conversation, 'creator', now);
  const message = {
    id: newId('msg', now.getTime()),
    sender: 'brand' as const,
    subject: input.subject ?? null,
    body: input.body,
  };
  const emailState = input.send_email ? await mailMessage(work, conversation, to, message) : 'none';
  const row = await write(work, conversation, { ...message, emailState });
  auditMessage(work, row);
  return toMessage(row, to);
}

/** Marks the creator's messages as read by the brand. */
export async function readConversation(work: Work, id: string) {
  const { db, now, brandId } = work;
  const old = await lockConversation(db, brandId, id);
  if (old.brandUnread > 0) {
    await markRead(db, old, 'creator', now);
    await clearUnread(db, old, 'brandUnread');
    work.audit({ resourceId: id, old: { brandUnread: old.brandUnread }, new: { brandUnread: 0 } });
  }
  return await getConversation(db, brandId, id);
}

/** Marks the brand's messages as read by the creator, who is viewing the page. */
export async function seeConversation({ db, now }: Work, conversation: ConversationRow): Promise<void> {
  await markRead(db, conversation, 'brand', now);
  await clearUnread(db, conversation, 'creatorUnread');
}

export type ReplyResult = 'sent' | 'sent_before' | 'too_many';

/** Stores a creator's message from the page. */
export async function receiveReply(
  work: Work,
  conversation: { id: string } & Person,
  body: string,
): Promise<ReplyResult> {
  const { db, now, brandId } = work;
  const lockedConversation = await lockConversation(db, brandId, conversation.id);
  const since = new Date(now.getTime() - HOUR_MS);
  const recent = await db
    .selectFrom('messages')
    .select(['body', 'sentAt'])
    .where('brandId', '=', lockedConversation.brandId)
    .where('conversationId', '=', lockedConversation.id)
    .where('sender', '=', 'creator')
    .where('sentAt', '>', since)
    .orderBy('number', 'desc')
    .limit(REPLIES_PER_HOUR)
    .execute();
  const [last] = recent;
  if (last?.body === body && now.getTime() - last.sentAt.getTime() < TWICE_MS) return 'sent_before';
  if (recent.length >= REPLIES_PER_HOUR) return 'too_many';
  await markRead(db, lockedConversation, 'brand', now);
  const updatedConversation = await db
    .updateTable('conversations')
    .set((eb) => ({
      messageCount: eb('messageCount', '+', 1),
      brandUnread: eb('brandUnread', '+', 1),
      creatorUnread: 0,
      lastMessageAt: sql<Date>`greatest(last_message_at, ${now})`,
    }))
    .where('brandId', '=', lockedConversation.brandId)
    .where('id', '=', lockedConversation.id)
    .returningAll()
    .executeTakeFirstOrThrow();
  const message = { id: newId('msg', now.getTime()), sender: 'creator' as const, subject: null, body };
  const row = await write(work, updatedConversation, { ...message, emailState: 'none' });
  auditMessage(work, row);
  work.emit('message.received', toMessage(row, conversation));
  await mailPeople(work, 'replies', {
    kind: 'message_received',
    subjectRow: row.id,
    params: {
      conversation_id: lockedConversation.id,
      creator: conversation.name ?? conversation.email ?? 'A creator',
      body,
    },
  });
  return 'sent';
}
