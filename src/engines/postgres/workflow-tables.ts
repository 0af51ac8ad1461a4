import type { ColumnType, Generated } from 'kysely';

type CreatedAt = ColumnType<Date, Date, never>;
/** Written as JSON text, read as parsed JSON. */
type Json<T> = ColumnType<T, string, string>;

export type CampaignStatus = 'active' | 'draft' | 'paused' | 'completed';
export type ApplicationStatus = 'pending' | 'accepted' | 'rejected' | 'shortlisted';
export type RosterStatus = 'active' | 'hired' | 'paused' | 'removed';

export interface CampaignsTable {
  id: string;
  brandId: string;
  title: string;
  status: CampaignStatus;
  campaignType: string | null;
  description: string | null;
  compensationType: string | null;
  compensationAmountMinor: number | null;
  compensationRatePpm: number | null;
  compensationCurrency: string | null;
  platforms: string[] | null;
  minFollowers: number | null;
  contentTypes: string[] | null;
  deliverablesCount: number | null;
  deadline: Date | null;
  createdAt: CreatedAt;
  updatedAt: Date | null;
}

export interface CreatorsTable {
  id: string;
  brandId: string;
  email: string | null;
  name: string | null;
  igHandle: string | null;
  ttHandle: string | null;
  pfpUrl: string | null;
  igFollowers: number | null;
  ttFollowers: number | null;
  engagementRate: number | null;
  tags: Generated<string[]>;
  profiledAt: Date | null;
  profileAttempts: Generated<number>;
  profileRetryAt: Date | null;
  createdAt: CreatedAt;
  updatedAt: Date | null;
}

export interface CreatorMergesTable {
  brandId: string;
  /** The id that clicks and ledger entries have for a creator who was merged into another. */
  goneId: string;
  creatorId: string;
  mergedAt: Date;
}

export interface RosterEntriesTable {
  id: string;
  brandId: string;
  creatorId: string;
  status: RosterStatus;
  note: string | null;
  addedAt: Date;
  updatedAt: Date | null;
}

export interface ApplicationsTable {
  id: string;
  brandId: string;
  campaignId: string;
  /** Null until the application is accepted: its details are unconfirmed. */
  creatorId: string | null;
  creatorEmail: string;
  creatorName: string | null;
  creatorPhotoApp: string | null;
  creatorVideoApp: string | null;
  status: ApplicationStatus;
  message: string | null;
  portfolioUrls: Generated<string[]>;
  note: string | null;
  approvedAt: Date | null;
  appliedAt: Date;
  updatedAt: Date | null;
}

export interface IdempotencyKeysTable {
  brandId: string;
  key: string;
  requestHash: Buffer;
  answer: Buffer | null;
  /** Whether the response is encrypted. */
  isSealed: Generated<boolean>;
  createdAt: CreatedAt;
}

export interface AuditLogTable {
  id: string;
  brandId: string;
  keyId: string | null;
  operation: string;
  resourceId: string;
  oldValues: Json<Record<string, unknown>> | null;
  newValues: Json<Record<string, unknown>> | null;
  requestId: string | null;
  byAgent: Generated<boolean>;
  at: Date;
}

/** One row per brand, inserted with the brand. */
export interface OutboxNumbersTable {
  brandId: string;
  /** Increases with each change. */
  version: number;
  seq: number;
  /** The last number in the brand's ledger. */
  ledgerSeq: number;
  ledgerHash: Buffer | null;
  /** When the ledger's last entry was recorded; null without one. */
  ledgerRecordedAt: Date | null;
  /** The number of the last seal. */
  sealSeq: Generated<number>;
  sealHash: Buffer | null;
  /** When an event or ledger entry was last written. */
  movedAt: Date | null;
}

export interface OutboxTable {
  brandId: string;
  seq: number;
  id: string;
  event: string;
  data: Json<unknown>;
  createdAt: CreatedAt;
}

export interface OutboxPositionsTable {
  consumer: string;
  brandId: string;
  seq: number;
}

/** The last ledger entry that is in a batch for ClickHouse. */
export interface LedgerPositionsTable {
  brandId: string;
  seq: number;
}

export interface WorkflowTables {
  campaigns: CampaignsTable;
  creators: CreatorsTable;
  creatorMerges: CreatorMergesTable;
  rosterEntries: RosterEntriesTable;
  applications: ApplicationsTable;
  idempotencyKeys: IdempotencyKeysTable;
  auditLog: AuditLogTable;
  outboxNumbers: OutboxNumbersTable;
  outbox: OutboxTable;
  outboxPositions: OutboxPositionsTable;
  ledgerPositions: LedgerPositionsTable;
}
