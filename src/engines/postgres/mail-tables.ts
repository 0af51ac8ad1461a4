import type { ColumnType, Generated } from 'kysely';

export const MAIL_STATES = ['queued', 'sent', 'failed', 'suppressed', 'held'] as const;
export type MailState = (typeof MAIL_STATES)[number];

/** Why a mail is queued or held. */
export const MAIL_REASONS = [
  ...(['imitation', 'foreign_link', 'stranger_limit', 'invitation_limit', 'recipient_limit', 'brand_limit'] as const),
] as const;
export type MailReason = (typeof MAIL_REASONS)[number];

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
  admittedAt: Date | null;
  reason: MailReason | null;
  /** Whether the recipient had never answered the brand. */
  toStranger: Generated<boolean>;
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
