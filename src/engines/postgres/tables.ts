import type { ColumnType, Generated } from 'kysely';
import type { AgentTables } from './agent-tables.ts';
import type { ApplicationTables } from './application-tables.ts';
import type { AssetTables } from './asset-tables.ts';
import type { AttributionTables } from './attribution-tables.ts';
import type { ContentTables } from './content-tables.ts';
import type { DisputeTables } from './dispute-tables.ts';
import type { MailTables } from './mail-tables.ts';
import type { MessageTables } from './message-tables.ts';
import type { PeopleTables } from './people-tables.ts';
import type { SandboxClockTable } from './sandbox-clock.ts';
import type { ShipmentTables } from './shipment-tables.ts';
import type { WebhookTables } from './webhook-tables.ts';
import type { WorkTables } from './work-tables.ts';
import type { WorkflowTables } from './workflow-tables.ts';

export type PlanName = 'free' | 'starter' | 'growth' | 'scale' | 'design_partner' | 'enterprise';
export type SubscriptionStatus = 'active' | 'trialing' | 'past_due' | 'canceled';
export type KeyKind = 'brand' | 'data';
/** A session counts as a kind of key: that of a person in the brand's web app. */
export type CallerKind = KeyKind | 'session';

/** Written once, read as a Date. */
type CreatedAt = ColumnType<Date, Date, never>;

export interface BrandsTable {
  id: string;
  name: string;
  logo: string | null;
  contactName: string | null;
  contactEmail: string | null;
  website: string | null;
  industry: string | null;
  description: string | null;
  autoApproveCommissions: Generated<boolean>;
  defaultCommissionRatePpm: Generated<number>;
  currency: Generated<string>;
  /** Since when the operator trusts the brand's name and links in mails. */
  mailTrustedAt: Date | null;
  createdAt: CreatedAt;
  updatedAt: Date | null;
}

export interface SubscriptionsTable {
  id: string;
  brandId: string;
  kind: KeyKind;
  plan: PlanName;
  status: SubscriptionStatus;
  monthlyCredits: number | null;
  anchorAt: Date;
  version: Generated<number>;
  createdAt: CreatedAt;
  updatedAt: Date | null;
  /** Whether Redis holds this version for certain. */
  inRedis: Generated<boolean>;
}

export interface ApiKeysTable {
  id: string;
  brandId: string;
  subscriptionId: string;
  kind: CallerKind;
  name: string;
  hash: Buffer;
  firstCharacters: string;
  lastCharacters: string;
  createdAt: CreatedAt;
  expiresAt: Date | null;
  revokedAt: Date | null;
  lastUsedAt: Date | null;
  personId: string | null;
  replacedBy: string | null;
}

export interface CreditEntriesTable {
  chargeId: string;
  kind: 'grant' | 'charge' | 'refund';
  subscriptionId: string;
  keyId: string | null;
  credits: number;
  periodStart: Date;
  requestId: string | null;
  occurredAt: Date;
}

export type ImportState =
  | 'queued'
  | 'building'
  | 'verified'
  | 'held'
  | 'live'
  | 'superseded'
  | 'rolled_back'
  | 'discarded'
  | 'failed';

export interface DirectoryImportsTable {
  id: string;
  alias: string;
  state: ImportState;
  indexName: string | null;
  identity: string | null;
  files: string[];
  maxRejects: string;
  rejectsFile: string;
  enqueued: boolean;
  position: number;
  progress: number | null;
  accepted: number;
  rejected: number;
  documents: number | null;
  failure: string | null;
  startedAt: Date;
  updatedAt: Date;
  swappedAt: Date | null;
  retiredAt: Date | null;
  /** JSON, which the directory reads with the schemas of the same names. */
  bounds: unknown;
  fill: unknown;
  comparison: unknown;
  reasons: string[] | null;
}

export interface DirectoryWritesTable {
  id: string;
  alias: string;
  indexName: string;
  kind: 'upsert' | 'delete';
  file: string;
  rows: number;
  lastVersion: number;
  startedAt: Date;
  finishedAt: Date | null;
}

export interface DirectoryWritersTable {
  alias: string;
  command: string;
  holder: string;
  since: Date;
  token: string | null;
  process: string | null;
  heldUntil: Date | null;
}

export interface Database
  extends AgentTables,
    WorkflowTables,
    ApplicationTables,
    AssetTables,
    AttributionTables,
    ContentTables,
    DisputeTables,
    MailTables,
    MessageTables,
    PeopleTables,
    ShipmentTables,
    WorkTables,
    WebhookTables {
  brands: BrandsTable;
  sandboxClock: SandboxClockTable;
  subscriptions: SubscriptionsTable;
  apiKeys: ApiKeysTable;
  creditEntries: CreditEntriesTable;
  directoryImports: DirectoryImportsTable;
  directoryWrites: DirectoryWritesTable;
  directoryWriters: DirectoryWritersTable;
}
