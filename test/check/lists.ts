import type { Selectable } from 'kysely';
import type { z } from 'zod';
import type { CommissionEvent } from '../../src/affiliates/commissions/commissions.shapes.ts';
import type { Import, ImportLine } from '../../src/affiliates/imports/imports.shapes.ts';
import type { Affiliate } from '../../src/affiliates/links/links.shapes.ts';
import type { Payout } from '../../src/affiliates/payouts/payouts.shapes.ts';
import type { AttributionRules } from '../../src/affiliates/rules/attribution-rules.ts';
import type { Dispute } from '../../src/affiliates/statements/disputes.api.ts';
import type { Integration } from '../../src/affiliates/stores/connections/connections.shapes.ts';
import type { StoreDelivery } from '../../src/affiliates/stores/deliveries/deliveries.shapes.ts';
import type { DISPUTE_STATUSES } from '../../src/affiliates/stores/formats/facts.ts';
import type { Alert } from '../../src/analytics/alerts/alerts.shapes.ts';
import type { Cost } from '../../src/analytics/costs/costs.api.ts';
import type { Format } from '../../src/analytics/exports/files.ts';
import type { PerformanceRow } from '../../src/analytics/performance/performance.shapes.ts';
import type { Report } from '../../src/analytics/reports/reports.shapes.ts';
import type { DirectoryImport } from '../../src/directory/imports/imports.api.ts';
import type { SavedSearch } from '../../src/directory/saved-searches/saved-searches.api.ts';
import type { KeyKind } from '../../src/kit/access/keys/callers.ts';
import type { PlanName, SubscriptionStatus } from '../../src/kit/access/keys/limits.ts';
import type { Database } from '../../src/kit/engines/postgres/database.ts';
import type { MailReason, MailState } from '../../src/kit/mail/mails.ts';
import type { Variant } from '../../src/kit/outbox/events.ts';
import type { LedgerKind } from '../../src/kit/outbox/ledger-entry.ts';
import type { Job } from '../../src/platform/jobs/jobs.api.ts';
import type { Person } from '../../src/platform/people/people.api.ts';
import type { MailTopic } from '../../src/platform/people/people.ts';
import type { WebhookDelivery } from '../../src/platform/webhooks/deliveries.api.ts';
import type { Application } from '../../src/workflow/applications/applications.shapes.ts';
import type { Asset } from '../../src/workflow/assets/assets.shapes.ts';
import type { Brief } from '../../src/workflow/briefs/briefs.shapes.ts';
import type { Campaign } from '../../src/workflow/campaigns/campaigns.shapes.ts';
import type { Content } from '../../src/workflow/content/content.shapes.ts';
import type { Contract } from '../../src/workflow/contracts/contracts.shapes.ts';
import type { Deliverable } from '../../src/workflow/deliverables/deliverables.shapes.ts';
import type { Message } from '../../src/workflow/messages/messages.shapes.ts';
import type { RosterEntry } from '../../src/workflow/roster/roster.shapes.ts';
import type { Shipment } from '../../src/workflow/shipments/shipments.shapes.ts';

type Column<Table extends keyof Database, Name extends keyof Selectable<Database[Table]>> = NonNullable<
  Selectable<Database[Table]>[Name]
>;
type Field<Shape extends z.ZodType, Name extends keyof z.output<Shape>> = NonNullable<z.output<Shape>[Name]>;

/** Each closed list of the API beside the CHECK of its column. */
interface ClosedLists {
  alertCondition: [Field<typeof Alert, 'condition'>, Column<'alerts', 'condition'>];
  alertWindow: [Field<typeof Alert, 'window'>, Column<'alerts', 'span'>];
  applicationStatus: [Field<typeof Application, 'status'>, Column<'applications', 'status'>];
  assetSource: [Field<typeof Asset, 'source'>, Column<'assets', 'source'>];
  assetType: [Field<typeof Asset, 'type'>, Column<'assets', 'type'>];
  attributionModel: [Field<typeof AttributionRules, 'model'>, Column<'attributionRules', 'model'>];
  couponPolicy: [Field<typeof AttributionRules, 'coupon_policy'>, Column<'attributionRules', 'couponPolicy'>];
  briefStatus: [Field<typeof Brief, 'status'>, Column<'briefs', 'status'>];
  campaignStatus: [Field<typeof Campaign, 'status'>, Column<'campaigns', 'status'>];
  commissionStatus: [Field<typeof CommissionEvent, 'status'>, Column<'commissions', 'status'>];
  contentStatus: [Field<typeof Content, 'status'>, Column<'content', 'status'>];
  contractStatus: [Field<typeof Contract, 'status'>, Column<'contracts', 'status'>];
  contractExpiredReason: [Field<typeof Contract, 'expired_reason'>, Column<'contracts', 'expiredReason'>];
  costKind: [Field<typeof Cost, 'kind'>, Column<'costs', 'kind'>];
  costScope: [Field<typeof Cost, 'scope'>, Column<'costs', 'scope'>];
  deliverableStatus: [Field<typeof Deliverable, 'status'>, Column<'deliverables', 'status'>];
  directoryImportState: [Field<typeof DirectoryImport, 'state'>, Column<'directoryImports', 'state'>];
  disputeStatus: [Field<typeof Dispute, 'status'>, Column<'disputes', 'status'>];
  exportFormat: [Format, Column<'exportSchedules', 'format'>];
  integrationProvider: [Field<typeof Integration, 'provider'>, Column<'integrations', 'provider'>];
  integrationStatus: [Field<typeof Integration, 'status'>, Column<'integrations', 'status'>];
  integrationWebhookState: [
    Field<typeof Integration, 'webhook_setup'>['status'],
    Column<'integrations', 'webhookState'>,
  ];
  importKind: [Field<typeof Import, 'of'>, Column<'imports', 'of'>];
  importOutcome: [Field<typeof ImportLine, 'outcome'>, Column<'importLines', 'outcome'>];
  importStatus: [Field<typeof Import, 'status'>, Column<'imports', 'status'>];
  jobStatus: [Field<typeof Job, 'status'>, Column<'jobs', 'status'>];
  ledgerKind: [LedgerKind, Column<'ledgerEntries', 'kind'>];
  linkType: [Field<typeof Affiliate, 'type'>, Column<'links', 'type'>];
  performanceLinkType: [Field<typeof PerformanceRow, 'type'>, Column<'links', 'type'>];
  mailReason: [MailReason, Column<'mails', 'reason'>];
  mailState: [MailState, Column<'mails', 'state'>];
  mailTopic: [MailTopic, Column<'people', 'mailsOff'>[number]];
  messageSender: [Field<typeof Message, 'sender'>, Column<'messages', 'sender'>];
  orderDisputeStatus: [(typeof DISPUTE_STATUSES)[number], Column<'orderDisputes', 'status'>];
  payoutMethod: [Field<typeof Payout, 'method'>, Column<'payouts', 'method'>];
  payoutStatus: [Field<typeof Payout, 'status'>, Column<'payouts', 'status'>];
  planName: [PlanName, Column<'subscriptions', 'plan'>];
  reportInterval: [Field<typeof Report, 'every'>, Column<'reports', 'every'>];
  role: [Field<typeof Person, 'role'>, Column<'people', 'role'>];
  rosterStatus: [Field<typeof RosterEntry, 'status'>, Column<'rosterEntries', 'status'>];
  savedSearchAlert: [Field<typeof SavedSearch, 'alert'>['every'], Column<'savedSearches', 'alertEvery'>];
  shipmentStatus: [Field<typeof Shipment, 'status'>, Column<'shipments', 'status'>];
  storeDeliveryState: [Field<typeof StoreDelivery, 'state'>, Column<'storeDeliveries', 'state'>];
  subscriptionKind: [KeyKind, Column<'subscriptions', 'kind'>];
  subscriptionStatus: [SubscriptionStatus, Column<'subscriptions', 'status'>];
  webhookDeliveryState: [Field<typeof WebhookDelivery, 'state'>, Column<'webhookDeliveries', 'state'>];
  webhookVariant: [Variant, Column<'webhookSubscriptions', 'variant'>];
}

type Same<A, B> = [A] extends [B] ? ([B] extends [A] ? true : false) : false;
type Differing = {
  [Name in keyof ClosedLists]: Same<ClosedLists[Name][0], ClosedLists[Name][1]> extends true ? never : Name;
}[keyof ClosedLists];
type ExpectNone<Name extends never> = Name;

/** Does not compile while a list has a value that its CHECK lacks, or the other way around; the error names the list. */
export type Compared = ExpectNone<Differing>;
