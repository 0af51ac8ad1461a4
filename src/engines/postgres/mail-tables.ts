import type { ColumnType, Generated } from 'kysely';

export type MailState = 'queued' | 'sent' | 'failed' | 'suppressed';

export interface MailsTable {
  id: string;
  brandId: string;
  kind: string;
  toEmail: string;
  creatorId: string | null;
  subjectRow: string;
  params: ColumnType<unknown, string, never>;
  state: MailState;
  attempts: Generated<number>;
  nextAttemptAt: Date | null;
  claimedUntil: Date | null;
  messageId: string | null;
  error: string | null;
  createdAt: ColumnType<Date, Date, never>;
  sentAt: Date | null;
}

export interface MailSuppressionsTable {
  brandId: string;
  /** In lower case. */
  email: string;
  createdAt: ColumnType<Date, Date, never>;
}

export interface MailTables {
  mails: MailsTable;
  mailSuppressions: MailSuppressionsTable;
}
