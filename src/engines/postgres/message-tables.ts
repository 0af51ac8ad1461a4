import type { ColumnType, Generated } from 'kysely';

export type Sender = 'creator' | 'brand';

export interface ConversationsTable {
  id: string;
  brandId: string;
  creatorId: string;
  messageCount: number;
  lastMessageAt: Date;
  brandUnread: Generated<number>;
  creatorUnread: Generated<number>;
  linkVersion: Generated<number>;
  createdAt: ColumnType<Date, Date, never>;
}

export interface MessagesTable {
  id: string;
  brandId: string;
  conversationId: string;
  /** Position in the conversation, from 1. */
  number: number;
  sender: Sender;
  subject: string | null;
  body: string;
  sentAt: Date;
  readAt: Date | null;
  emailState: 'none' | 'queued' | 'suppressed';
}

export interface MessageTables {
  conversations: ConversationsTable;
  messages: MessagesTable;
}
