import type { ColumnType, Generated } from 'kysely';

type CreatedAt = ColumnType<Date, Date, never>;

export type WebhookVariant = 'current' | 'legacy';
export type DeliveryState = 'pending' | 'delivered' | 'failed' | 'cancelled';
export type AttemptOutcome = 'answered' | 'timeout' | 'network' | 'tls' | 'refused' | 'unknown';

export interface WebhookSubscriptionsTable {
  id: string;
  brandId: string;
  variant: WebhookVariant;
  url: string;
  events: string[];
  secret: Buffer;
  secretHint: string;
  previousSecret: Buffer | null;
  previousSecretExpiresAt: Date | null;
  description: string | null;
  active: Generated<boolean>;
  disabledReason: 'brand' | 'failures' | null;
  failingSince: Date | null;
  failuresInRow: Generated<number>;
  firstFailedAt: Date | null;
  isSlow: Generated<boolean>;
  fromSeq: number;
  lastTriggeredAt: Date | null;
  lastStatusCode: number | null;
  createdAt: CreatedAt;
  updatedAt: Date | null;
  deletedAt: Date | null;
}

export interface WebhookDeliveriesTable {
  id: string;
  brandId: string;
  subscriptionId: string;
  eventId: string;
  seq: number | null;
  event: string;
  resend: Generated<number>;
  ownData: ColumnType<unknown, string | null, never>;
  state: DeliveryState;
  attempts: Generated<number>;
  lostAttempts: Generated<number>;
  nextAttemptAt: Date | null;
  claimedUntil: Date | null;
  lastStatusCode: number | null;
  lastError: string | null;
  createdAt: CreatedAt;
  finishedAt: Date | null;
}

export interface WebhookAttemptsTable {
  deliveryId: string;
  n: number;
  startedAt: Date;
  durationMs: number;
  outcome: AttemptOutcome;
  statusCode: number | null;
  error: string | null;
  responseExcerpt: string | null;
}

export interface WebhookTables {
  webhookSubscriptions: WebhookSubscriptionsTable;
  webhookDeliveries: WebhookDeliveriesTable;
  webhookAttempts: WebhookAttemptsTable;
}
