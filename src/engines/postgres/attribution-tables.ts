import type { ColumnType, Generated } from 'kysely';

type CreatedAt = ColumnType<Date, Date, never>;
/** Written as JSON text, read as parsed JSON. */
type Json<T> = ColumnType<T, string, string>;

export type Provider = 'shopify' | 'woocommerce' | 'generic';
export type IntegrationStatus = 'connected' | 'disconnected' | 'error' | 'reauth_required';
export type WebhookState = 'pending' | 'active' | 'manual' | 'disabled';
export type LinkType = 'discount_code' | 'link';
export type CommissionStatus = 'pending' | 'approved' | 'rejected' | 'paid';
export type PayoutMethod = 'wallet' | 'bank_transfer' | 'manual';
export const LEDGER_KINDS = [
  'sale',
  'refund',
  'approval',
  'rejection',
  'payment',
  'adjustment',
  'payout',
  'manual',
] as const;
export type LedgerKind = (typeof LEDGER_KINDS)[number];

export interface IntegrationsTable {
  id: string;
  brandId: string;
  provider: Provider;
  name: string;
  storefrontUrl: string;
  storefrontHost: string;
  baseUrl: string;
  currency: string;
  status: IntegrationStatus;
  secrets: Buffer;
  connectedAt: Date;
  lastSyncAt: Date | null;
  lastReceivedAt: Date | null;
  lastFailedAt: Date | null;
  disconnectedAt: Date | null;
  sweepAt: ColumnType<Date | null, Date | null | undefined, Date | null>;
  sweptAt: ColumnType<Date | null, Date | null | undefined, Date | null>;
  silentSince: ColumnType<Date | null, Date | null | undefined, Date | null>;
  webhookTroubleAt: ColumnType<Date | null, Date | null | undefined, Date | null>;
  createdAt: CreatedAt;
  updatedAt: Date | null;
  renewingUntil: ColumnType<Date | null, Date | null | undefined, Date | null>;
  apiVersion: ColumnType<string | null, string | null | undefined, string | null>;
  webhookState: ColumnType<WebhookState, WebhookState | undefined, WebhookState>;
  missingWebhooks: ColumnType<string[], string[] | undefined, string[]>;
  webhookProblem: ColumnType<string | null, string | null | undefined, string | null>;
  webhooksCheckedAt: ColumnType<Date | null, Date | null | undefined, Date | null>;
  webhooksDueAt: ColumnType<Date | null, Date | null | undefined, Date | null>;
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

export interface IntegrationFailuresTable {
  integrationId: string;
  hour: Date;
  failures: Generated<number>;
  forged: Generated<number>;
}

export type StoreDeliveryState = 'waiting' | 'done' | 'ignored' | 'failed';

export interface StoreDeliveriesTable {
  id: string;
  brandId: string;
  integrationId: string;
  topic: string | null;
  headers: Json<unknown>;
  /** Sealed under the row's id. */
  body: Buffer;
  state: Generated<StoreDeliveryState>;
  attempts: Generated<number>;
  nextAttemptAt: Date | null;
  triedAt: Date | null;
  reason: ColumnType<unknown, string | null, string | null>;
  notes: Generated<Json<unknown>>;
  orderId: string | null;
  receivedAt: Date;
  finishedAt: Date | null;
}

export interface StoreDeliveryClaimsTable {
  brandId: string;
  owner: string;
  claimedUntil: Date;
}

export interface LinksTable {
  id: string;
  brandId: string;
  creatorId: string;
  creatorName: string | null;
  campaignId: string | null;
  integrationId: string | null;
  type: LinkType;
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
  /** Discount of the store's coupon when it was last verified. */
  discountPpm: ColumnType<number | null, number | null | undefined, number | null>;
  expiresAt: ColumnType<Date | null, Date | null | undefined, Date | null>;
  /** Whether renewals of a subscription earn; null: they do not. */
  paysRenewals: ColumnType<boolean | null, boolean | null | undefined, boolean | null>;
  createdAt: CreatedAt;
  updatedAt: Date | null;
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

export interface LinkPastCodesTable {
  brandId: string;
  linkId: string;
  code: string;
  since: Date | null;
  until: Date;
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
  isTest: boolean | null;
  isRenewal: boolean | null;
  /** Null while no dispute over it is lost. */
  disputeLostAt: Date | null;
  attribution: Json<unknown>;
  createdAt: CreatedAt;
  updatedAt: Date | null;
}

export interface OrderHeadsTable {
  integrationId: string;
  orderId: string;
  brandId: string;
  deletedAt: Date | null;
  refundsListedAt: Date | null;
}

export interface OrderClicksTable {
  integrationId: string;
  orderId: string;
  brandId: string;
  click: string;
  receivedAt: Date;
  usedAt: ColumnType<Date | null, null | undefined, Date>;
}

export interface OrderRefundsTable {
  brandId: string;
  integrationId: string;
  orderId: string;
  refundId: string;
  amountMinor: number;
  at: Date;
  proratedMinor: number;
  /** When its store last reported it. */
  toldAt: Date;
  currency: string;
  createdAt: CreatedAt;
}

export interface OrderDisputesTable {
  brandId: string;
  integrationId: string;
  orderId: string;
  disputeId: string;
  status: 'open' | 'won' | 'lost';
  /** When its store last reported it. */
  toldAt: Date;
  /** When it was first reported as lost. */
  lostAt: Date | null;
  createdAt: CreatedAt;
}

export interface OrderJourneysTable {
  /** Our own id of the order. */
  orderId: string;
  brandId: string;
  integrationId: string;
  storeOrderId: string;
  answers: Generated<number>;
  dueAt: Date;
}

export interface CommissionsTable {
  id: string;
  brandId: string;
  /** Null, like the link, if the brand recorded the commission itself. */
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
  status: CommissionStatus;
  statusUpdatedAt: Date | null;
  statusNote: string | null;
  rejectedFrom: 'pending' | 'approved' | null;
  noteBeforeRejection: string | null;
  approvedAt: Date | null;
  paidAt: Date | null;
  holdEndsAt: Date | null;
  fraudFlags: Json<unknown>;
  clickId: string | null;
  discountCode: string | null;
  affiliateCode: string | null;
  occurredAt: Date;
  syncedAt: Date;
  createdAt: CreatedAt;
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

export interface PayoutsTable {
  id: string;
  brandId: string;
  creatorId: string;
  amountMinor: number;
  currency: string;
  method: PayoutMethod;
  walletEmail: string | null;
  status: 'completed' | 'paid';
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
}

export interface PayoutAllocationsTable {
  commissionId: string;
  brandId: string;
  payoutId: string;
  amountMinor: number;
  at: Date;
}

export interface LedgerEntriesTable {
  brandId: string;
  seq: number;
  id: string;
  kind: LedgerKind;
  currency: string;
  creatorId: string;
  linkId: string | null;
  orderId: string | null;
  commissionId: string | null;
  payoutId: string | null;
  postings: Json<unknown>;
  recordedAt: Date;
  hash: Buffer;
}

export interface LedgerBatchesTable {
  id: Generated<number>;
  ranges: Json<unknown>;
  createdAt: CreatedAt;
  sentAt: Date | null;
}

export interface UnfoldedBrandsTable {
  brandId: string;
  triedAt: Date;
}

export interface FiguresHistoryTable {
  onlyOne: Generated<boolean>;
  history: string;
}

export interface AttributionTables {
  figuresHistory: FiguresHistoryTable;
  integrations: IntegrationsTable;
  integrationFailures: IntegrationFailuresTable;
  storeDeliveries: StoreDeliveriesTable;
  storeDeliveryClaims: StoreDeliveryClaimsTable;
  storeAuthorizations: StoreAuthorizationsTable;
  storeSweeps: StoreSweepsTable;
  links: LinksTable;
  linkSlugs: LinkSlugsTable;
  linkStates: LinkStatesTable;
  linkPastCodes: LinkPastCodesTable;
  orders: OrdersTable;
  orderClicks: OrderClicksTable;
  orderHeads: OrderHeadsTable;
  orderRefunds: OrderRefundsTable;
  orderDisputes: OrderDisputesTable;
  orderJourneys: OrderJourneysTable;
  commissions: CommissionsTable;
  commissionAdjustments: CommissionAdjustmentsTable;
  payouts: PayoutsTable;
  payoutAllocations: PayoutAllocationsTable;
  ledgerEntries: LedgerEntriesTable;
  ledgerBatches: LedgerBatchesTable;
  unfoldedBrands: UnfoldedBrandsTable;
}
