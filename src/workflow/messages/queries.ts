import { type Insertable, type Selectable, sql } from 'kysely';
import type { ConversationsTable, MessagesTable } from '../../kit/engines/postgres/database.ts';
import { listing } from '../../kit/engines/postgres/listing.ts';
import type { Db } from '../../kit/engines/postgres/open.ts';
import { lockOwn } from '../../kit/engines/postgres/own.ts';
import { notFound } from '../../kit/values/errors.ts';
import { isOfCreator } from '../creators/queries.ts';
import { type ConversationFilter, PREVIEW_CHARACTERS } from './schema.ts';

export type Sender = MessagesTable['sender'];

export type ConversationRow = Selectable<ConversationsTable>;
export type MessageRow = Selectable<MessagesTable>;

type ConversationWhere = Pick<
  ConversationFilter,
  'creator_email' | 'unread' | 'created_after' | 'created_before' | 'updated_after' | 'sort'
>;

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
  matching: (db, brandId, { creator_email, unread }: ConversationWhere) =>
    db
      .selectFrom('conversations')
      .$if(unread !== undefined, (query) => query.where('brandUnread', unread ? '>' : '=', 0))
      .where(isOfCreator('conversations.creatorId', brandId, creator_email)),
  rows: withLastMessage,
});
export const { get: getConversation } = conversations;
export type ListedConversation = Awaited<ReturnType<typeof getConversation>>;

/** Found by id alone, because a visitor with the page's link has no brand. */
export async function findConversationPage(db: Db, id: string) {
  return await withCreator(db).where('conversations.id', '=', id).executeTakeFirst();
}

/** A creator's conversation with the brand, if they have one. */
export async function findConversationOf(db: Db, brandId: string, creatorId: string) {
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
export const lockConversation = (db: Db, brandId: string, id: string): Promise<ConversationRow> =>
  lockOwn(db.selectFrom('conversations').selectAll(), 'conversation', brandId, id);

/** The conversation with a creator, created if needed, with one more message of the brand counted. */
export async function openConversation(
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

/** Counts one more message of the creator in a locked conversation. */
export async function countReply(db: Db, { brandId, id }: ConversationRow, now: Date): Promise<ConversationRow> {
  return await db
    .updateTable('conversations')
    .set((eb) => ({
      messageCount: eb('messageCount', '+', 1),
      brandUnread: eb('brandUnread', '+', 1),
      creatorUnread: 0,
      lastMessageAt: sql<Date>`greatest(last_message_at, ${now})`,
    }))
    .where('brandId', '=', brandId)
    .where('id', '=', id)
    .returningAll()
    .executeTakeFirstOrThrow();
}

export async function insertMessage(db: Db, row: Insertable<MessagesTable>): Promise<MessageRow> {
  return await db.insertInto('messages').values(row).returningAll().executeTakeFirstOrThrow();
}

/** Records what the other side has read. */
export async function markRead(
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

export async function clearUnread(
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

/** The creator's messages since a time, newest first. */
export async function listRecentReplies(db: Db, { brandId, id }: ConversationRow, since: Date, limit: number) {
  return await db
    .selectFrom('messages')
    .select(['body', 'sentAt'])
    .where('brandId', '=', brandId)
    .where('conversationId', '=', id)
    .where('sender', '=', 'creator')
    .where('sentAt', '>', since)
    .orderBy('number', 'desc')
    .limit(limit)
    .execute();
}
