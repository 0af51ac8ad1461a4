import type { ColumnType, Generated } from 'kysely';

type CreatedAt = ColumnType<Date, Date, never>;
/** `YYYY-MM-DD`: a day has no time zone. */
type Day = string;

export type ContractStatus = 'draft' | 'sent' | 'signed' | 'expired';
export type DeliverableStatus =
  | 'pending'
  | 'in_progress'
  | 'submitted'
  | 'approved'
  | 'revision_requested'
  | 'declined'
  | 'cancelled';
export type BriefStatus = 'draft' | 'sent' | 'in_progress' | 'completed';

export interface ContractsTable {
  id: string;
  brandId: string;
  creatorId: string;
  campaignId: string | null;
  title: string;
  status: ContractStatus;
  compensationType: string | null;
  compensationAmountMinor: number | null;
  compensationRatePpm: number | null;
  compensationCurrency: string | null;
  usageRights: string | null;
  terms: ColumnType<unknown, string | null, string | null>;
  expiresAt: Date | null;
  sentAt: Date | null;
  document: string | null;
  contentHash: Buffer | null;
  signedAt: Date | null;
  signerName: string | null;
  signerIpSealed: Buffer | null;
  signerAgentSealed: Buffer | null;
  expiredAt: Date | null;
  expiredReason: 'expired' | 'voided' | null;
  linkVersion: Generated<number>;
  createdAt: CreatedAt;
  updatedAt: Date | null;
}

export interface ContractItemsTable {
  brandId: string;
  contractId: string;
  position: number;
  type: string;
  platform: string | null;
  quantity: number;
  dueDate: Day | null;
}

export interface DeliverablesTable {
  id: string;
  brandId: string;
  contractId: string | null;
  position: Generated<number>;
  campaignId: string | null;
  creatorId: string;
  type: string;
  platform: string | null;
  instructions: string | null;
  status: DeliverableStatus;
  contentUrl: string | null;
  caption: string | null;
  assetIds: Generated<string[]>;
  dueDate: Day | null;
  submittedAt: Date | null;
  approvedAt: Date | null;
  declinedReason: string | null;
  feedback: string | null;
  version: Generated<number>;
  track: Generated<boolean>;
  linkVersion: Generated<number>;
  createdAt: CreatedAt;
  updatedAt: Date | null;
}

export interface DeliverableSubmissionsTable {
  id: string;
  brandId: string;
  deliverableId: string;
  n: number;
  contentUrl: string | null;
  caption: string | null;
  assetIds: Generated<string[]>;
  isLate: boolean;
  at: Date;
  feedback: string | null;
}

export interface BriefsTable {
  id: string;
  brandId: string;
  campaignId: string | null;
  creatorId: string | null;
  title: string;
  status: BriefStatus;
  contentType: string | null;
  platform: string | null;
  instructions: string | null;
  talkingPoints: Generated<string[]>;
  doNot: Generated<string[]>;
  moodBoardUrls: Generated<string[]>;
  dueDate: Day | null;
  sentAt: Date | null;
  firstViewedAt: Date | null;
  completedAt: Date | null;
  linkVersion: Generated<number>;
  createdAt: CreatedAt;
  updatedAt: Date | null;
}

export interface BriefRecipientsTable {
  brandId: string;
  briefId: string;
  creatorId: string;
  email: string;
  sentAt: Date;
  viewedAt: Date | null;
}

/** Briefs, contracts and deliverables. */
export interface WorkTables {
  contracts: ContractsTable;
  contractItems: ContractItemsTable;
  deliverables: DeliverablesTable;
  deliverableSubmissions: DeliverableSubmissionsTable;
  briefs: BriefsTable;
  briefRecipients: BriefRecipientsTable;
}
