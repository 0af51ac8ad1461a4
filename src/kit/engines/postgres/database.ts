// Generated from the migrated database by `npm run check -- --write`.
import type { Generated, GeneratedAlways } from 'kysely';
import type { CreatedAt, Day, JsonColumn, JsonWithDefault, Shape } from './columns.ts';

export interface AccessTokensTable {
  hash: Buffer;
  keyId: string;
  expiresAt: Date;
}

export interface AgentGrantsTable {
  id: string;
  brandId: string;
  personId: string;
  clientHash: Buffer;
  clientName: string;
  redirectUri: string;
  scopes: string[];
  codeHash: Buffer;
  codeChallenge: string;
  codeExpiresAt: Date;
  codeUsedAt: Date | null;
  keyId: string | null;
  refreshHash: Buffer | null;
  spentRefreshHash: Buffer | null;
  refreshExpiresAt: Date | null;
  createdAt: CreatedAt;
}

export interface AgentPoliciesTable {
  brandId: string;
  allowedTools: string[] | null;
  highestRatePpm: number | null;
  payoutsPerDayMinor: number | null;
  personAboveMinor: number | null;
  moneyOut: Generated<boolean>;
  dataOut: Generated<boolean>;
  updatedAt: Date | null;
}

export interface AlertFiringsTable {
  alertId: string;
  brandId: string;
  key: string;
  beganAt: Date;
}

export interface AlertsTable {
  id: string;
  brandId: string;
  name: string | null;
  metric: Shape<'alerts.metric'>;
  dimension: Shape<'alerts.dimension'> | null;
  condition: 'above' | 'below' | 'change_percent' | 'unusual';
  threshold: number;
  span: 'hour' | 'day' | 'week';
  currency: string;
  timezone: string;
  recipients: string[];
  untilAt: Date;
  dueAt: Date;
  checkedAt: Date | null;
  error: string | null;
  createdAt: CreatedAt;
  updatedAt: Date | null;
  pausedAt: Date | null;
}

export interface ApiKeysTable {
  id: string;
  brandId: string;
  subscriptionId: string;
  kind: 'brand' | 'data' | 'session';
  name: string;
  hash: Buffer;
  firstCharacters: string;
  lastCharacters: string;
  personId: string | null;
  createdAt: CreatedAt;
  expiresAt: Date | null;
  revokedAt: Date | null;
  lastUsedAt: Date | null;
  replacedBy: string | null;
  limits: JsonColumn<unknown> | null;
}

export interface ApplicationChangesTable {
  id: string;
  brandId: string;
  applicationId: string;
  creatorName: string | null;
  creatorPhotoApp: string | null;
  creatorVideoApp: string | null;
  message: string | null;
  portfolioUrls: string[];
  confirmedAt: Date | null;
  createdAt: CreatedAt;
}

export interface ApplicationsTable {
  id: string;
  brandId: string;
  campaignId: string;
  creatorId: string | null;
  creatorEmail: string;
  creatorName: string | null;
  creatorPhotoApp: string | null;
  creatorVideoApp: string | null;
  status: 'pending' | 'accepted' | 'rejected' | 'shortlisted';
  message: string | null;
  portfolioUrls: Generated<string[]>;
  note: string | null;
  appliedAt: Date;
  approvedAt: Date | null;
  updatedAt: Date | null;
}

export interface ApprovalsToMailTable {
  brandId: string;
  creatorId: string;
  dueAt: Date;
}

export interface AssetFoldersTable {
  id: string;
  brandId: string;
  name: string;
  parentId: string | null;
  createdAt: CreatedAt;
  updatedAt: Date | null;
}

export interface AssetUploadsTable {
  storageKey: string;
  brandId: string;
  begunAt: Date;
  givenUpAt: Date | null;
}

export interface AssetsTable {
  id: string;
  brandId: string;
  name: string;
  type: 'image' | 'video' | 'document' | 'audio' | 'other';
  mimeType: string;
  sizeBytes: number;
  sha256: Buffer;
  storageKey: string;
  width: number | null;
  height: number | null;
  thumbnailKey: string | null;
  thumbnailState: 'none' | 'due' | 'made' | 'failed';
  thumbnailAttempts: Generated<number>;
  thumbnailRetryAt: Date | null;
  folderId: string | null;
  campaignId: string | null;
  creatorId: string | null;
  source: 'upload' | 'deliverable' | 'tracked_content';
  tags: Generated<string[]>;
  usageRights: string | null;
  rights: JsonColumn<Shape<'assets.rights'>> | null;
  rightsExpiresAt: Date | null;
  rightsNoticeDays: number | null;
  createdAt: CreatedAt;
  updatedAt: Date | null;
  deletedAt: Date | null;
  purgedAt: Date | null;
}

export interface AttributionRulesTable {
  brandId: string;
  model: 'last_click' | 'first_click';
  couponPolicy: 'code_wins' | 'click_wins';
  minOrderMinor: number | null;
  minOrderCurrency: string | null;
  updatedAt: Date | null;
  customerPolicy: 'order_wins' | 'customer_wins' | null;
  termsId: string | null;
}

export interface AuditLogTable {
  id: string;
  brandId: string;
  keyId: string | null;
  byAgent: Generated<boolean>;
  operation: string;
  resourceId: string;
  oldValues: JsonColumn<Shape<'auditLog.oldValues'>> | null;
  newValues: JsonColumn<Shape<'auditLog.newValues'>> | null;
  requestId: string | null;
  at: Date;
}

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
  mailTrustedAt: Date | null;
  createdAt: CreatedAt;
  updatedAt: Date | null;
  sample: 'filling' | 'filled' | 'removing' | null;
  timeZone: Generated<string>;
  suspendedAt: Date | null;
  maxStorageBytes: number | null;
  requirePaymentProfile: boolean | null;
  bookkeepingYears: Generated<number>;
}

export interface BriefRecipientsTable {
  brandId: string;
  briefId: string;
  creatorId: string;
  email: string;
  sentAt: Date;
  viewedAt: Date | null;
}

export interface BriefsTable {
  id: string;
  brandId: string;
  campaignId: string | null;
  creatorId: string | null;
  title: string;
  status: 'draft' | 'sent' | 'in_progress' | 'completed';
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

export interface CampaignsTable {
  id: string;
  brandId: string;
  title: string;
  status: 'active' | 'draft' | 'paused' | 'completed';
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
  termsId: string | null;
}

export interface ClearSealsTable {
  brandId: string;
}

export interface CodeLeaksTable {
  linkId: string;
  brandId: string;
  score: number;
  foundAt: Date;
}

export interface CommissionAdjustmentsTable {
  brandId: string;
  commissionId: string;
  cause: string;
  creatorId: string;
  currency: string;
  amountMinor: number;
  at: Date;
  createdAt: CreatedAt;
}

export interface CommissionPartsTable {
  brandId: string;
  commissionId: string;
  rule: string;
  name: string | null;
  amountMinor: number;
  refundedMinor: number;
  commissionMinor: number;
}

export interface CommissionsTable {
  id: string;
  brandId: string;
  orderId: string | null;
  linkId: string | null;
  creatorId: string;
  campaignId: string | null;
  source: string;
  currency: string;
  amountMinor: number;
  commissionMinor: number;
  refundedMinor: Generated<number>;
  commissionRatePpm: number;
  holdDays: number;
  status: 'pending' | 'approved' | 'rejected' | 'paid';
  statusUpdatedAt: Date | null;
  statusNote: string | null;
  rejectedFrom: 'pending' | 'approved' | null;
  noteBeforeRejection: string | null;
  approvedAt: Date | null;
  paidAt: Date | null;
  holdEndsAt: Date | null;
  fraudFlags: JsonColumn<unknown>;
  clickId: string | null;
  discountCode: string | null;
  affiliateCode: string | null;
  occurredAt: Date;
  syncedAt: Date;
  createdAt: CreatedAt;
  clawedBackAt: Date | null;
  clawBackReason: string | null;
  termsId: string | null;
  decidedFacts: JsonColumn<unknown> | null;
  room: JsonColumn<unknown> | null;
}

export interface ContentTable {
  id: string;
  brandId: string;
  url: string;
  canonicalKey: string;
  platform: string;
  type: string | null;
  creatorId: string | null;
  campaignId: string | null;
  views: number | null;
  likes: number | null;
  comments: number | null;
  shares: number | null;
  saves: number | null;
  followers: number | null;
  caption: string | null;
  postedAt: Date | null;
  paidPartnership: boolean | null;
  status: 'tracking' | 'refreshing';
  trackedAt: Date;
  lastRefreshed: Date | null;
  refreshRequestedAt: Date | null;
  refreshBeganAt: Date | null;
  refreshError: string | null;
  nextRefreshAt: Date | null;
  deletedAt: Date | null;
}

export interface ContentMetricsTable {
  contentId: string;
  date: Day;
  views: number | null;
  likes: number | null;
  comments: number | null;
  shares: number | null;
  saves: number | null;
}

export interface ContentShortLinksTable {
  brandId: string;
  shortKey: string;
  canonicalKey: string;
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

export interface ContractsTable {
  id: string;
  brandId: string;
  creatorId: string;
  campaignId: string | null;
  title: string;
  status: 'draft' | 'sent' | 'signed' | 'expired';
  compensationType: string | null;
  compensationAmountMinor: number | null;
  compensationRatePpm: number | null;
  compensationCurrency: string | null;
  usageRights: string | null;
  terms: JsonColumn<unknown> | null;
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

export interface ConversationsTable {
  id: string;
  brandId: string;
  creatorId: string;
  messageCount: number;
  lastMessageAt: Date;
  brandUnread: Generated<number>;
  creatorUnread: Generated<number>;
  linkVersion: Generated<number>;
  createdAt: CreatedAt;
}

export interface CostsTable {
  id: string;
  brandId: string;
  scope: 'brand' | 'campaign' | 'product';
  campaignId: string | null;
  sku: string | null;
  kind: 'cogs_percent' | 'fixed' | 'per_order' | 'per_item';
  ratePpm: number | null;
  amountMinor: number | null;
  currency: string | null;
  fromDay: Day | null;
  toDay: Day | null;
  note: string | null;
  createdAt: CreatedAt;
  updatedAt: Date | null;
}

export interface CreatorAddressesTable {
  brandId: string;
  creatorId: string;
  email: string;
}

export interface CreatorGroupsTable {
  id: string;
  brandId: string;
  name: string;
  isDefault: boolean;
  holdDays: number | null;
  attributionDays: number | null;
  termsId: string | null;
  createdAt: CreatedAt;
  updatedAt: Date | null;
  deletedAt: Date | null;
}

export interface CreatorListsTable {
  id: string;
  brandId: string;
  name: string;
  note: string | null;
  creators: Generated<number>;
  version: Generated<number>;
  createdAt: CreatedAt;
  updatedAt: Date | null;
}

export interface CreatorMergesTable {
  brandId: string;
  goneId: string;
  creatorId: string;
  mergedAt: Date;
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
  linkVersion: Generated<number>;
  erasedBy: string | null;
  renamedAt: Date | null;
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

export interface CreditMonthsTable {
  month: string;
  entries: number;
  charged: number;
  refunded: number;
  sha256: Buffer;
  summedAt: Date;
  emptiedAt: Date | null;
}

export interface CreditSumsTable {
  month: string;
  brandId: string;
  subscriptionId: string;
  periodStart: Date;
  entries: number;
  charged: number;
  refunded: number;
  sha256: Buffer;
}

export interface CustomerKeysTable {
  brandId: string;
  customerId: string;
  kind: 'subscription' | 'customer_id' | 'email';
  key: string;
}

export interface CustomerPositionsTable {
  brandId: string;
  seq: number;
}

export interface CustomerSaltTable {
  onlyOne: Generated<boolean>;
  salt: Buffer;
}

export interface CustomersTable {
  id: string;
  brandId: string;
  linkId: string;
  creatorId: string;
  terms: JsonColumn<unknown>;
  origin: 'order' | 'lead' | 'hand' | 'import';
  firstOrderId: string | null;
  products: string[];
  customerEmail: string | null;
  since: Date;
  endedAt: Date | null;
  reason: string | null;
  createdAt: CreatedAt;
  updatedAt: Date | null;
  termsId: string | null;
}

export interface DataRequestsTable {
  id: string;
  brandId: string;
  kind: 'erasure' | 'access';
  subject: 'creator' | 'customer';
  source: 'api' | 'page' | 'cli' | 'shopify' | 'woocommerce';
  state: 'open' | 'running' | 'done' | 'refused';
  creatorId: string | null;
  selector: Buffer | null;
  reason: string | null;
  removed: JsonWithDefault<unknown>;
  leftovers: JsonColumn<unknown> | null;
  dueAt: Date;
  createdAt: CreatedAt;
  finishedAt: Date | null;
  refusal: string | null;
  books: Buffer | null;
  booksUntil: Date | null;
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
  status: 'pending' | 'in_progress' | 'submitted' | 'approved' | 'revision_requested' | 'declined' | 'cancelled';
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

export interface DirectoryChangesTable {
  id: GeneratedAlways<number>;
  alias: string;
  kind: 'import' | 'rollback' | 'upsert' | 'patch' | 'delete' | 'forget';
  version: string;
  seq: number | null;
  at: Date | null;
  lines: string | null;
}

export interface DirectoryForgetRequestsTable {
  id: string;
  email: Buffer;
  addressHash: Buffer;
  createdAt: CreatedAt;
  expiresAt: Date;
  attempts: Generated<number>;
  nextAttemptAt: Date | null;
}

export interface DirectoryForgottenTable {
  id: string;
  named: 'pk' | 'username' | 'email';
  reason: string;
  requestedBy: 'operator' | 'page';
  createdAt: CreatedAt;
  finishedAt: Date | null;
  rememberedAt: Date | null;
  pks: Buffer | null;
  removed: JsonWithDefault<unknown>;
  kept: JsonWithDefault<unknown>;
}

export interface DirectoryForgottenHashesTable {
  forgottenId: string;
  kind: 'pk' | 'username' | 'email';
  hash: Buffer;
  tag: number;
  isNamed: boolean;
}

export interface DirectoryForgottenKeyTable {
  onlyOne: Generated<boolean>;
  key: Buffer;
}

export interface DirectoryImportsTable {
  id: string;
  alias: string;
  state: 'queued' | 'building' | 'verified' | 'held' | 'live' | 'superseded' | 'rolled_back' | 'discarded' | 'failed';
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
  forgotten: Generated<number>;
  bounds: JsonColumn<unknown> | null;
  fill: JsonColumn<unknown> | null;
  comparison: JsonColumn<unknown> | null;
  reasons: string[] | null;
  source: string | null;
  mapping: JsonColumn<Shape<'directoryImports.mapping'>> | null;
}

export interface DirectoryMappingsTable {
  alias: string;
  source: string;
  headerHash: string;
  mapping: JsonColumn<Shape<'directoryMappings.mapping'>>;
  updatedAt: Date;
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

export interface DirectoryWritesTable {
  id: string;
  alias: string;
  indexName: string;
  kind: 'upsert' | 'patch' | 'delete';
  file: string;
  rows: number;
  lastVersion: number;
  startedAt: Date;
  finishedAt: Date | null;
}

export interface DisputesTable {
  id: string;
  brandId: string;
  creatorId: string;
  statementId: string | null;
  payoutId: string | null;
  lineId: string | null;
  message: string;
  status: 'open' | 'answered' | 'closed';
  answer: string | null;
  answeredAt: Date | null;
  createdAt: CreatedAt;
  updatedAt: Date | null;
}

export interface ExportSchedulesTable {
  id: string;
  brandId: string;
  of: Shape<'exportSchedules.of'>;
  format: 'parquet' | 'ndjson' | 'csv';
  columns: string[] | null;
  bucket: string;
  prefix: string;
  endpoint: string;
  region: string;
  credentials: Buffer;
  untilAt: Date | null;
  nextAt: Date;
  failingSince: Date | null;
  error: string | null;
  createdAt: CreatedAt;
  updatedAt: Date | null;
  deletedAt: Date | null;
  pausedAt: Date | null;
  timeZone: Generated<string>;
}

export interface FiguresHistoryTable {
  onlyOne: Generated<boolean>;
  history: string;
}

export interface FraudRulesTable {
  brandId: string;
  rules: JsonColumn<unknown>;
  searchedAt: Date | null;
  updatedAt: Date | null;
}

export interface GroupMembershipsTable {
  id: string;
  brandId: string;
  groupId: string;
  creatorId: string;
  since: Date;
  until: Date | null;
}

export interface IdempotencyKeysTable {
  brandId: string;
  key: string;
  requestHash: Buffer;
  answer: Buffer | null;
  isSealed: Generated<boolean>;
  createdAt: CreatedAt;
}

export interface ImportLinesTable {
  importId: string;
  brandId: string;
  revision: number;
  number: number;
  outcome: 'new' | 'known' | 'differs' | 'repeated' | 'left_out' | 'refused';
  kind: string | null;
  content: JsonColumn<unknown>;
}

export interface ImportMappingsTable {
  id: string;
  brandId: string;
  of: 'orders' | 'commissions' | 'roster' | 'payouts' | 'payment_details' | 'reconciliation';
  source: string;
  headers: string[];
  headerHash: string;
  mapping: JsonColumn<Shape<'importMappings.mapping'>>;
  createdAt: CreatedAt;
  updatedAt: Date | null;
}

export interface ImportWritesTable {
  importId: string;
  brandId: string;
  noun: 'order' | 'past_commission' | 'creator' | 'roster_entry' | 'link' | 'payout' | 'payment_profile';
  rowId: string;
  before: JsonColumn<Shape<'importWrites.before'>> | null;
}

export interface ImportsTable {
  id: string;
  brandId: string;
  of: 'orders' | 'commissions' | 'roster' | 'payouts' | 'payment_details' | 'reconciliation';
  status:
    | 'reading'
    | 'needs_answers'
    | 'ready'
    | 'refused'
    | 'running'
    | 'done'
    | 'failed'
    | 'stopped'
    | 'undoing'
    | 'undone'
    | 'expired';
  source: string;
  fileName: string;
  sizeBytes: number;
  sha256: Buffer;
  storageKey: string | null;
  mapping: JsonColumn<Shape<'imports.mapping'>>;
  options: JsonColumn<Shape<'imports.options'>>;
  revision: number;
  reading: JsonColumn<Shape<'imports.reading'>> | null;
  plan: JsonColumn<Shape<'imports.plan'>> | null;
  stored: JsonColumn<Shape<'imports.stored'>> | null;
  readingId: string | null;
  jobId: string | null;
  handled: Generated<number>;
  result: JsonColumn<Shape<'imports.result'>> | null;
  error: string | null;
  keyId: string | null;
  createdAt: CreatedAt;
  updatedAt: Date | null;
  confirmedAt: Date | null;
  endedAt: Date | null;
  undoneAt: Date | null;
  dueAt: Date | null;
  integrationId: string | null;
  erasedHashes: Generated<string[]>;
  namesErased: Generated<boolean>;
}

export interface InstallationTable {
  isOnly: Generated<boolean>;
  home: string;
  heldSince: Date | null;
}

export interface IntegrationFailuresTable {
  integrationId: string;
  hour: Date;
  failures: Generated<number>;
  forged: Generated<number>;
}

export interface IntegrationsTable {
  id: string;
  brandId: string;
  provider: 'shopify' | 'woocommerce' | 'generic';
  name: string;
  storefrontUrl: string;
  storefrontHost: string;
  baseUrl: string;
  currency: string;
  status: 'connected' | 'disconnected' | 'error' | 'reauth_required';
  secrets: Buffer;
  connectedAt: Date;
  lastSyncAt: Date | null;
  lastReceivedAt: Date | null;
  lastFailedAt: Date | null;
  disconnectedAt: Date | null;
  createdAt: CreatedAt;
  updatedAt: Date | null;
  renewingUntil: Date | null;
  apiVersion: string | null;
  webhookState: Generated<'pending' | 'active' | 'manual' | 'disabled'>;
  missingWebhooks: Generated<string[]>;
  webhookProblem: string | null;
  webhooksCheckedAt: Date | null;
  webhooksDueAt: Date | null;
  sweepAt: Date | null;
  sweptAt: Date | null;
  silentSince: Date | null;
  webhookTroubleAt: Date | null;
  sourceName: string | null;
  renewalTags: string[] | null;
  firstTags: string[] | null;
  timeZone: string | null;
  partingSecrets: Buffer | null;
  partingUntil: Date | null;
}

export interface JobFilesTable {
  jobId: string;
  brandId: string;
  number: number;
  name: string;
  mimeType: string;
  storageKey: string | null;
  rows: number;
  sizeBytes: number;
  sha256: Buffer;
  createdAt: CreatedAt;
}

export interface JobLinesTable {
  brandId: string;
  jobId: string;
  creatorId: string;
  currency: string;
  planned: JsonColumn<unknown> | null;
  outcome: JsonColumn<unknown> | null;
  isDone: Generated<boolean>;
}

export interface JobTurnsTable {
  brandId: string;
  at: Date;
}

export interface JobsTable {
  id: string;
  brandId: string;
  kind: Shape<'jobs.kind'>;
  request: JsonColumn<unknown>;
  status: 'queued' | 'running' | 'done' | 'failed' | 'cancelled';
  cursor: JsonColumn<unknown> | null;
  rows: Generated<number>;
  totalRows: number | null;
  error: string | null;
  failures: Generated<number>;
  scheduleId: string | null;
  claim: string | null;
  lostClaims: Generated<string[]>;
  dueAt: Date;
  startedAt: Date | null;
  endedAt: Date | null;
  filesEndAt: Date | null;
  createdAt: CreatedAt;
  updatedAt: Date | null;
  result: JsonColumn<unknown> | null;
  seenRows: number | null;
  keyId: string | null;
}

export interface LedgerBatchesTable {
  id: GeneratedAlways<number>;
  ranges: JsonColumn<unknown>;
  createdAt: CreatedAt;
  sentAt: Date | null;
  ordersSentAt: Date | null;
}

export interface LedgerEntriesTable {
  brandId: string;
  seq: number;
  id: string;
  kind:
    | 'sale'
    | 'refund'
    | 'approval'
    | 'rejection'
    | 'payment'
    | 'adjustment'
    | 'payout'
    | 'manual'
    | 'void'
    | 'return'
    | 'claw_back'
    | 'test';
  currency: string;
  creatorId: string;
  linkId: string | null;
  orderId: string | null;
  commissionId: string | null;
  payoutId: string | null;
  postings: JsonColumn<unknown>;
  recordedAt: Date;
  hash: Buffer;
}

export interface LedgerPositionsTable {
  brandId: string;
  seq: number;
}

export interface LedgerVerificationsTable {
  brandId: string;
  ledgerSeq: number;
  ledgerHash: Buffer | null;
  sealSeq: number;
  sealHash: Buffer | null;
  verifiedAt: Date;
}

export interface LinkPastCodesTable {
  brandId: string;
  linkId: string;
  code: string;
  since: Date | null;
  until: Date;
  replacedAt: Date | null;
}

export interface LinkSlugsTable {
  slug: string;
  brandId: string;
  linkId: string;
  createdAt: CreatedAt;
}

export interface LinkStatesTable {
  brandId: string;
  linkId: string;
  at: Date;
  active: boolean;
}

export interface LinksTable {
  id: string;
  brandId: string;
  creatorId: string;
  creatorName: string | null;
  campaignId: string | null;
  integrationId: string | null;
  type: 'discount_code' | 'link';
  value: string;
  slug: string | null;
  destinationUrl: string | null;
  commissionRatePpm: number;
  holdDays: number;
  attributionDays: number;
  currency: string;
  platform: string | null;
  active: boolean;
  lastSyncAt: Date | null;
  discountPpm: number | null;
  expiresAt: Date | null;
  createdAt: CreatedAt;
  updatedAt: Date | null;
  paysRenewals: boolean | null;
  termsId: string | null;
  forwardParameters: boolean | null;
  inheritsTerms: boolean | null;
}

export interface ListedCreatorsTable {
  listId: string;
  pk: number;
  addedAt: Date;
  addedBy: string | null;
}

export interface MailStopsTable {
  id: string;
  brandId: string;
  address: string;
  forgottenAt: Date;
}

export interface MailSuppressionsTable {
  brandId: string;
  email: string;
  createdAt: CreatedAt;
}

export interface MailsTable {
  id: string;
  brandId: string;
  kind: string;
  toEmail: string;
  creatorId: string | null;
  subjectRow: string;
  params: JsonColumn<unknown>;
  state: 'queued' | 'sent' | 'failed' | 'suppressed' | 'held';
  admittedAt: Date | null;
  reason:
    | 'imitation'
    | 'foreign_link'
    | 'stranger_limit'
    | 'invitation_limit'
    | 'recipient_limit'
    | 'brand_limit'
    | null;
  toStranger: Generated<boolean>;
  attempts: Generated<number>;
  nextAttemptAt: Date | null;
  claimedUntil: Date | null;
  messageId: string | null;
  error: string | null;
  createdAt: CreatedAt;
  sentAt: Date | null;
}

export interface MessagesTable {
  id: string;
  brandId: string;
  conversationId: string;
  number: number;
  sender: 'creator' | 'brand';
  subject: string | null;
  body: string;
  sentAt: Date;
  readAt: Date | null;
  emailState: 'none' | 'queued' | 'suppressed';
}

export interface OrderClicksTable {
  integrationId: string;
  orderId: string;
  brandId: string;
  click: string;
  receivedAt: Date;
  usedAt: Date | null;
}

export interface OrderDisputesTable {
  brandId: string;
  integrationId: string;
  orderId: string;
  disputeId: string;
  status: 'open' | 'won' | 'lost';
  toldAt: Date;
  lostAt: Date | null;
  createdAt: CreatedAt;
}

export interface OrderHeadsTable {
  integrationId: string;
  orderId: string;
  brandId: string;
  deletedAt: Date | null;
  refundsListedAt: Date | null;
}

export interface OrderItemsTable {
  brandId: string;
  integrationId: string;
  orderId: string;
  refundId: string;
  items: JsonColumn<unknown>;
  reportedAt: Date;
}

export interface OrderJourneysTable {
  orderId: string;
  brandId: string;
  integrationId: string;
  storeOrderId: string;
  answers: Generated<number>;
  dueAt: Date;
}

export interface OrderRefundsTable {
  brandId: string;
  integrationId: string;
  orderId: string;
  refundId: string;
  amountMinor: number;
  at: Date;
  currency: string;
  proratedMinor: number;
  toldAt: Date;
  createdAt: CreatedAt;
}

export interface OrdersTable {
  id: string;
  brandId: string;
  integrationId: string;
  orderId: string;
  currency: string;
  baseMinor: number;
  occurredAt: Date;
  paidAt: Date | null;
  cancelledAt: Date | null;
  firstCancelledAt: Date | null;
  storeUpdatedAt: Date;
  customerEmail: string | null;
  customerHash: Buffer | null;
  attribution: JsonColumn<unknown>;
  createdAt: CreatedAt;
  updatedAt: Date | null;
  isTest: boolean | null;
  isRenewal: boolean | null;
  disputeLostAt: Date | null;
  orderNumber: string | null;
  kind: 'first' | 'renewal' | 'upgrade' | 'resubscribe' | null;
  subscriptionId: string | null;
  previousSubscriptionId: string | null;
  customerIdHash: Buffer | null;
  country: string | null;
  customerId: string | null;
  erasedBy: string | null;
  unpaidLines: JsonColumn<unknown> | null;
}

export interface OutboxTable {
  brandId: string;
  seq: number;
  id: string;
  event: string;
  data: JsonColumn<unknown>;
  createdAt: CreatedAt;
}

export interface OutboxNumbersTable {
  brandId: string;
  version: Generated<number>;
  seq: Generated<number>;
  ledgerSeq: Generated<number>;
  ledgerHash: Buffer | null;
  ledgerRecordedAt: Date | null;
  sealSeq: Generated<number>;
  sealHash: Buffer | null;
  movedAt: Date | null;
}

export interface OutboxPositionsTable {
  consumer: string;
  brandId: string;
  seq: number;
}

export interface PasskeyChallengesTable {
  id: string;
  challenge: string;
  personId: string | null;
  expiresAt: Date;
}

export interface PasskeysTable {
  id: string;
  brandId: string;
  personId: string;
  credentialId: string;
  publicKey: Buffer;
  counter: number;
  transports: Generated<string[]>;
  rpId: string;
  origin: string;
  name: string;
  createdAt: CreatedAt;
  lastUsedAt: Date | null;
}

export interface PastCommissionsTable {
  id: string;
  brandId: string;
  creatorId: string;
  source: string;
  reference: string;
  amountMinor: number;
  currency: string;
  paidAt: Date;
  createdAt: CreatedAt;
  knownBy: string | null;
}

export interface PastCustomersTable {
  id: Generated<boolean>;
  until: Generated<Date>;
  afterId: Generated<string>;
  doneAt: Date | null;
}

export interface PaymentProfilesTable {
  brandId: string;
  creatorId: string;
  method: 'wallet' | 'bank_transfer' | 'manual' | null;
  walletEmail: string | null;
  legalName: string | null;
  country: string | null;
  currency: string | null;
  source: 'brand' | 'creator' | null;
  waiting: JsonColumn<Shape<'paymentProfiles.waiting'>> | null;
  effectiveAt: Date | null;
  version: Generated<number>;
  createdAt: CreatedAt;
  updatedAt: Date | null;
  requested: string | null;
}

export interface PayoutAllocationsTable {
  commissionId: string;
  brandId: string;
  payoutId: string;
  amountMinor: number;
  at: Date;
}

export interface PayoutsTable {
  id: string;
  brandId: string;
  creatorId: string;
  amountMinor: number;
  currency: string;
  method: 'wallet' | 'bank_transfer' | 'manual';
  walletEmail: string | null;
  status: 'completed' | 'paid' | 'voided' | 'returned';
  note: string | null;
  reference: string | null;
  paidAt: Date | null;
  allocatedMinor: Generated<number>;
  nettedMinor: Generated<number>;
  unallocatedMinor: Generated<number>;
  isFee: Generated<boolean>;
  settledIds: string[] | null;
  createdAt: CreatedAt;
  updatedAt: Date | null;
  correctedAt: Date | null;
  correctionReason: string | null;
  undone: JsonColumn<Shape<'payouts.undone'>> | null;
}

export interface PeopleTable {
  id: string;
  brandId: string;
  email: string;
  name: string | null;
  role: 'owner' | 'manager' | 'viewer';
  createdAt: CreatedAt;
  updatedAt: Date | null;
  removedAt: Date | null;
  mailsOff: Generated<('applications' | 'replies' | 'contracts')[]>;
}

export interface PlansTable {
  id: string;
  brandId: string;
  keyId: string | null;
  byAgent: boolean;
  operation: string;
  request: Buffer;
  changes: JsonColumn<Shape<'plans.changes'>>;
  events: string[];
  createdAt: CreatedAt;
  expiresAt: Date;
  appliedAt: Date | null;
  appliedBy: string | null;
}

export interface ReadinessWritesTable {
  id: Generated<boolean>;
  writtenAt: Date;
}

export interface ReconciledOrdersTable {
  jobId: string;
  brandId: string;
  orderId: string;
  currency: string;
  leastMinor: number | null;
  mostMinor: number | null;
  refundedMinor: number;
  isRefundExact: boolean;
  isRefunded: boolean;
  isCancelled: boolean;
  orderNumber: string | null;
}

export interface ReconciliationsTable {
  jobId: string;
  brandId: string;
  plan: JsonColumn<Shape<'reconciliations.plan'>> | null;
}

export interface ReferrerChecksTable {
  commissionId: string;
  brandId: string;
  createdAt: CreatedAt;
  dueAt: Date;
}

export interface RelayPartsTable {
  part: number;
  holder: string | null;
  heldUntil: Date | null;
}

export interface RelayWorkersTable {
  id: string;
  aliveUntil: Date;
}

export interface ReportsTable {
  id: string;
  brandId: string;
  name: string | null;
  operation: Shape<'reports.operation'>;
  parameters: JsonColumn<Shape<'reports.parameters'>>;
  every: 'day' | 'week' | 'month';
  at: string;
  timezone: string;
  recipients: string[];
  endsOn: Day;
  dueAt: Date;
  sentAt: Date | null;
  error: string | null;
  createdAt: CreatedAt;
  updatedAt: Date | null;
  pausedAt: Date | null;
}

export interface RosterEntriesTable {
  id: string;
  brandId: string;
  creatorId: string;
  status: 'active' | 'hired' | 'paused' | 'removed';
  note: string | null;
  addedAt: Date;
  updatedAt: Date | null;
}

export interface RowCountsTable {
  brandId: string;
  tableName: string;
  difference: number;
}

export interface SandboxClockTable {
  onlyOne: Generated<boolean>;
  offsetMs: number;
}

export interface SavedSearchKnownTable {
  searchId: string;
  first: number;
  last: number;
  pks: string[];
}

export interface SavedSearchLooksTable {
  searchId: string;
  personId: string;
  number: number;
}

export interface SavedSearchMatchesTable {
  searchId: string;
  pk: number;
  number: number;
  firstMatchedAt: Date;
}

export interface SavedSearchesTable {
  id: string;
  brandId: string;
  personId: string | null;
  name: string;
  filters: JsonColumn<Shape<'savedSearches.filters'>>;
  createdAt: CreatedAt;
  updatedAt: Date | null;
  shared: Generated<boolean>;
  version: Generated<number>;
  tracked: Generated<boolean>;
  seq: number | null;
  seqAt: Date | null;
  problem: string | null;
  found: Generated<number>;
  alertEvery: 'import' | 'day' | 'week' | null;
  alertMail: Generated<string[]>;
  alerted: Generated<number>;
  alertedAt: Date | null;
}

export interface SealConversionsTable {
  brandId: string;
  sealSeq: number;
  oldHash: Buffer | null;
  newHash: Buffer | null;
  convertedAt: Date;
}

export interface SealedRowsTable {
  sealId: number;
  id: GeneratedAlways<number>;
  brandId: string;
  tableName: string;
  key: string[];
  foundHash: string | null;
  facts: JsonColumn<unknown> | null;
  salt: string | null;
}

export interface SealsTable {
  brandId: string;
  seq: number;
  sealId: number;
  ledgerSeq: number;
  ledgerHash: Buffer | null;
  sealedAt: Date;
  hash: Buffer;
}

export interface ShipmentSharesTable {
  shareId: string;
  brandId: string;
  campaignId: string | null;
  title: string | null;
  campaignName: string | null;
  logoUrl: string | null;
  createdAt: CreatedAt;
  revokedAt: Date | null;
}

export interface ShipmentsTable {
  id: string;
  brandId: string;
  creatorId: string;
  campaignId: string | null;
  carrier: string | null;
  trackingNumber: string | null;
  estimatedArrival: Day | null;
  productDescription: string | null;
  products: JsonColumn<Shape<'shipments.products'>> | null;
  shippingAddress: JsonColumn<Shape<'shipments.shippingAddress'>> | null;
  notes: string | null;
  status: 'created' | 'pending' | 'shipped' | 'delivered' | 'returned';
  trackingStatus: string | null;
  trackingEvents: JsonWithDefault<Shape<'shipments.trackingEvents'>>;
  trackingRef: string | null;
  trackAt: Date | null;
  creatorConfirmedReceipt: Generated<boolean>;
  confirmedAt: Date | null;
  reportedMissingAt: Date | null;
  shippedAt: Date | null;
  deliveredAt: Date | null;
  linkVersion: Generated<number>;
  createdAt: CreatedAt;
  updatedAt: Date | null;
  trackingError: string | null;
}

export interface SignInLinksTable {
  id: string;
  brandId: string;
  personId: string;
  hash: Buffer;
  createdAt: CreatedAt;
  expiresAt: Date;
  usedAt: Date | null;
}

export interface SpentRefreshTokensTable {
  hash: Buffer;
  grantId: string;
  spentAt: Date;
  sealedNext: Buffer;
}

export interface StatementsTable {
  id: string;
  brandId: string;
  creatorId: string;
  fromAt: Date;
  untilAt: Date;
  fromText: string;
  toText: string;
  ledgerSeq: number;
  ledgerHash: Buffer | null;
  linkVersion: Generated<number>;
  createdAt: CreatedAt;
  totals: JsonColumn<Shape<'statements.totals'>> | null;
  timeZone: string | null;
}

export interface StoreAuthorizationsTable {
  id: string;
  brandId: string;
  baseUrl: string;
  tokenHash: Buffer;
  expiresAt: Date;
  keys: Buffer | null;
  createdAt: CreatedAt;
}

export interface StoreBackfillsTable {
  integrationId: string;
  brandId: string;
  before: Date;
  since: Date;
  cursor: string | null;
  reachedAt: Date | null;
  failures: Generated<number>;
  dueAt: Date | null;
  problem: string | null;
  ordersRead: Generated<number>;
  ordersRecorded: Generated<number>;
  ordersUnread: Generated<number>;
  startedAt: Date;
  finishedAt: Date | null;
}

export interface StoreDeliveriesTable {
  id: string;
  brandId: string;
  integrationId: string;
  topic: string | null;
  headers: JsonColumn<unknown>;
  body: Buffer;
  state: Generated<'waiting' | 'done' | 'ignored' | 'failed'>;
  attempts: Generated<number>;
  nextAttemptAt: Date | null;
  triedAt: Date | null;
  reason: JsonColumn<unknown> | null;
  notes: JsonWithDefault<unknown>;
  orderId: string | null;
  receivedAt: Date;
  finishedAt: Date | null;
}

export interface StoreDeliveryClaimsTable {
  brandId: string;
  owner: string;
  claimedUntil: Date;
}

export interface StoreSubscriptionsTable {
  brandId: string;
  integrationId: string;
  subscriptionId: string;
  orderId: string;
  createdAt: CreatedAt;
}

export interface StoreSweepsTable {
  integrationId: string;
  brandId: string;
  since: Date;
  startedAt: Date | null;
  cursor: string | null;
  reachedAt: Date | null;
  missed: Generated<number>;
  againAt: Date | null;
  failures: Generated<number>;
  sweeps: Generated<number>;
  failed: Generated<number>;
  ordersRead: Generated<number>;
  ordersMissed: Generated<number>;
  ordersUnread: Generated<number>;
}

export interface SubscriptionsTable {
  id: string;
  brandId: string;
  kind: 'brand' | 'data';
  plan: 'free' | 'starter' | 'growth' | 'scale' | 'design_partner' | 'enterprise';
  status: 'active' | 'trialing' | 'past_due' | 'canceled';
  monthlyCredits: number | null;
  anchorAt: Date;
  version: Generated<number>;
  inRedis: Generated<boolean>;
  createdAt: CreatedAt;
  updatedAt: Date | null;
}

export interface TermsTable {
  id: string;
  brandId: string;
  place: 'link' | 'group' | 'campaign' | 'brand';
  placeId: string;
  terms: JsonColumn<unknown>;
  hash: string;
  createdAt: CreatedAt;
  replacedAt: Date | null;
}

export interface UnfoldedBrandsTable {
  brandId: string;
  triedAt: Date;
}

export interface UntoldCodesTable {
  linkId: string;
  brandId: string;
  createdAt: CreatedAt;
}

export interface WebhookAttemptsTable {
  deliveryId: string;
  n: number;
  startedAt: Date;
  durationMs: number;
  outcome: 'answered' | 'timeout' | 'network' | 'tls' | 'refused' | 'unknown';
  statusCode: number | null;
  error: string | null;
  responseExcerpt: string | null;
}

export interface WebhookDeliveriesTable {
  id: string;
  brandId: string;
  subscriptionId: string;
  eventId: string;
  seq: number | null;
  event: string;
  resend: Generated<number>;
  ownData: JsonColumn<unknown> | null;
  state: 'pending' | 'delivered' | 'failed' | 'cancelled';
  attempts: Generated<number>;
  lostAttempts: Generated<number>;
  nextAttemptAt: Date | null;
  claimedUntil: Date | null;
  lastStatusCode: number | null;
  lastError: string | null;
  createdAt: CreatedAt;
  finishedAt: Date | null;
}

export interface WebhookSubscriptionsTable {
  id: string;
  brandId: string;
  variant: 'current' | 'legacy';
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

export interface WebhookTurnsTable {
  subscriptionId: string;
  isSlow: boolean;
  dueAt: Date | null;
}

export interface WorkClaimsTable {
  work: string;
  rowId: string;
  brandId: string | null;
  turn: string | null;
  until: Date;
  failures: Generated<number>;
}

export interface Database {
  accessTokens: AccessTokensTable;
  agentGrants: AgentGrantsTable;
  agentPolicies: AgentPoliciesTable;
  alertFirings: AlertFiringsTable;
  alerts: AlertsTable;
  apiKeys: ApiKeysTable;
  applicationChanges: ApplicationChangesTable;
  applications: ApplicationsTable;
  approvalsToMail: ApprovalsToMailTable;
  assetFolders: AssetFoldersTable;
  assetUploads: AssetUploadsTable;
  assets: AssetsTable;
  attributionRules: AttributionRulesTable;
  auditLog: AuditLogTable;
  brands: BrandsTable;
  briefRecipients: BriefRecipientsTable;
  briefs: BriefsTable;
  campaigns: CampaignsTable;
  clearSeals: ClearSealsTable;
  codeLeaks: CodeLeaksTable;
  commissionAdjustments: CommissionAdjustmentsTable;
  commissionParts: CommissionPartsTable;
  commissions: CommissionsTable;
  content: ContentTable;
  contentMetrics: ContentMetricsTable;
  contentShortLinks: ContentShortLinksTable;
  contractItems: ContractItemsTable;
  contracts: ContractsTable;
  conversations: ConversationsTable;
  costs: CostsTable;
  creatorAddresses: CreatorAddressesTable;
  creatorGroups: CreatorGroupsTable;
  creatorLists: CreatorListsTable;
  creatorMerges: CreatorMergesTable;
  creators: CreatorsTable;
  creditEntries: CreditEntriesTable;
  creditMonths: CreditMonthsTable;
  creditSums: CreditSumsTable;
  customerKeys: CustomerKeysTable;
  customerPositions: CustomerPositionsTable;
  customerSalt: CustomerSaltTable;
  customers: CustomersTable;
  dataRequests: DataRequestsTable;
  deliverableSubmissions: DeliverableSubmissionsTable;
  deliverables: DeliverablesTable;
  directoryChanges: DirectoryChangesTable;
  directoryForgetRequests: DirectoryForgetRequestsTable;
  directoryForgotten: DirectoryForgottenTable;
  directoryForgottenHashes: DirectoryForgottenHashesTable;
  directoryForgottenKey: DirectoryForgottenKeyTable;
  directoryImports: DirectoryImportsTable;
  directoryMappings: DirectoryMappingsTable;
  directoryWriters: DirectoryWritersTable;
  directoryWrites: DirectoryWritesTable;
  disputes: DisputesTable;
  exportSchedules: ExportSchedulesTable;
  figuresHistory: FiguresHistoryTable;
  fraudRules: FraudRulesTable;
  groupMemberships: GroupMembershipsTable;
  idempotencyKeys: IdempotencyKeysTable;
  importLines: ImportLinesTable;
  importMappings: ImportMappingsTable;
  importWrites: ImportWritesTable;
  imports: ImportsTable;
  installation: InstallationTable;
  integrationFailures: IntegrationFailuresTable;
  integrations: IntegrationsTable;
  jobFiles: JobFilesTable;
  jobLines: JobLinesTable;
  jobTurns: JobTurnsTable;
  jobs: JobsTable;
  ledgerBatches: LedgerBatchesTable;
  ledgerEntries: LedgerEntriesTable;
  ledgerPositions: LedgerPositionsTable;
  ledgerVerifications: LedgerVerificationsTable;
  linkPastCodes: LinkPastCodesTable;
  linkSlugs: LinkSlugsTable;
  linkStates: LinkStatesTable;
  links: LinksTable;
  listedCreators: ListedCreatorsTable;
  mailStops: MailStopsTable;
  mailSuppressions: MailSuppressionsTable;
  mails: MailsTable;
  messages: MessagesTable;
  orderClicks: OrderClicksTable;
  orderDisputes: OrderDisputesTable;
  orderHeads: OrderHeadsTable;
  orderItems: OrderItemsTable;
  orderJourneys: OrderJourneysTable;
  orderRefunds: OrderRefundsTable;
  orders: OrdersTable;
  outbox: OutboxTable;
  outboxNumbers: OutboxNumbersTable;
  outboxPositions: OutboxPositionsTable;
  passkeyChallenges: PasskeyChallengesTable;
  passkeys: PasskeysTable;
  pastCommissions: PastCommissionsTable;
  pastCustomers: PastCustomersTable;
  paymentProfiles: PaymentProfilesTable;
  payoutAllocations: PayoutAllocationsTable;
  payouts: PayoutsTable;
  people: PeopleTable;
  plans: PlansTable;
  readinessWrites: ReadinessWritesTable;
  reconciledOrders: ReconciledOrdersTable;
  reconciliations: ReconciliationsTable;
  referrerChecks: ReferrerChecksTable;
  relayParts: RelayPartsTable;
  relayWorkers: RelayWorkersTable;
  reports: ReportsTable;
  rosterEntries: RosterEntriesTable;
  rowCounts: RowCountsTable;
  sandboxClock: SandboxClockTable;
  savedSearchKnown: SavedSearchKnownTable;
  savedSearchLooks: SavedSearchLooksTable;
  savedSearchMatches: SavedSearchMatchesTable;
  savedSearches: SavedSearchesTable;
  sealConversions: SealConversionsTable;
  sealedRows: SealedRowsTable;
  seals: SealsTable;
  shipmentShares: ShipmentSharesTable;
  shipments: ShipmentsTable;
  signInLinks: SignInLinksTable;
  spentRefreshTokens: SpentRefreshTokensTable;
  statements: StatementsTable;
  storeAuthorizations: StoreAuthorizationsTable;
  storeBackfills: StoreBackfillsTable;
  storeDeliveries: StoreDeliveriesTable;
  storeDeliveryClaims: StoreDeliveryClaimsTable;
  storeSubscriptions: StoreSubscriptionsTable;
  storeSweeps: StoreSweepsTable;
  subscriptions: SubscriptionsTable;
  terms: TermsTable;
  unfoldedBrands: UnfoldedBrandsTable;
  untoldCodes: UntoldCodesTable;
  webhookAttempts: WebhookAttemptsTable;
  webhookDeliveries: WebhookDeliveriesTable;
  webhookSubscriptions: WebhookSubscriptionsTable;
  webhookTurns: WebhookTurnsTable;
  workClaims: WorkClaimsTable;
}
