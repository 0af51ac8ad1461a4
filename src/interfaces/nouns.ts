import { clicks } from '../affiliates/clicks.api.ts';
import { commissionsNoun } from '../affiliates/commissions/commissions.api.ts';
import { pastCommissionsNoun } from '../affiliates/commissions/past-commissions.api.ts';
import { customersNoun } from '../affiliates/customers/customers.api.ts';
import { dataRequestsNoun } from '../affiliates/data-requests/data-requests.api.ts';
import { groupsNoun } from '../affiliates/groups/groups.api.ts';
import { importsNoun } from '../affiliates/imports/imports.api.ts';
import { leaks } from '../affiliates/leaks/leaks.api.ts';
import { ledger } from '../affiliates/ledger/ledger.api.ts';
import { linksNoun } from '../affiliates/links/links.api.ts';
import { orderClicks } from '../affiliates/orders/order-clicks.api.ts';
import { ordersNoun } from '../affiliates/orders/orders.api.ts';
import { payoutsNoun } from '../affiliates/payouts/payouts.api.ts';
import { reconciliations } from '../affiliates/reconciliations/reconciliations.api.ts';
import { reviews } from '../affiliates/reviews/reviews.api.ts';
import { attributionRules } from '../affiliates/rules/attribution-rules.api.ts';
import { fraudRules } from '../affiliates/rules/fraud-rules.api.ts';
import { sample } from '../affiliates/sample/sample.api.ts';
import { statementsNoun } from '../affiliates/statements/statements.api.ts';
import { storeAuthorizations } from '../affiliates/stores/authorizations.api.ts';
import { integrationsNoun } from '../affiliates/stores/connections/connections.api.ts';
import { storeDeliveriesNoun } from '../affiliates/stores/deliveries/deliveries.api.ts';
import { storeSweeps } from '../affiliates/stores/sweeps/sweeps.api.ts';
import { storeWebhooks } from '../affiliates/stores/webhooks.jobs.ts';
import { termsNoun } from '../affiliates/terms/terms.api.ts';
import { alertsNoun } from '../analytics/alerts/alerts.api.ts';
import { campaignListNoun } from '../analytics/campaigns.api.ts';
import { costsNoun } from '../analytics/costs/costs.api.ts';
import { creatorsNoun } from '../analytics/creators.api.ts';
import { exportsNoun } from '../analytics/exports/exports.api.ts';
import { reportsNoun } from '../analytics/reports/reports.api.ts';
import { analyticsNoun } from '../analytics/summary/summary.api.ts';
import { directoryImports } from '../directory/imports/imports.api.ts';
import { lists } from '../directory/lists/lists.api.ts';
import { savedSearches } from '../directory/saved-searches/saved-searches.api.ts';
import { listForcedProblems } from '../directory/search/forced-filters.ts';
import { directory } from '../directory/search/search.api.ts';
import type { Context } from '../kit/operation/context.ts';
import { isForSessions, type Noun, type Tag } from '../kit/operation/noun.ts';
import type { Operation } from '../kit/operation/operation.ts';
import type { Consumer } from '../kit/outbox/relay.ts';
import { agentPolicy } from '../platform/agents/agent-policy.api.ts';
import { plansNoun } from '../platform/agents/plans.api.ts';
import { audit } from '../platform/audit.api.ts';
import { brands } from '../platform/brands/brands.api.ts';
import { events } from '../platform/events/events.api.ts';
import { jobsNoun } from '../platform/jobs/jobs.api.ts';
import { declareKeys } from '../platform/keys/keys.api.ts';
import { mailsNoun } from '../platform/mails.api.ts';
import { passkeysNoun } from '../platform/people/passkeys.api.ts';
import { peopleNoun } from '../platform/people/people.api.ts';
import { sessionsNoun } from '../platform/people/sessions.api.ts';
import { requests } from '../platform/requests/requests.api.ts';
import { usage } from '../platform/usage/usage.api.ts';
import { webhooksNoun } from '../platform/webhooks/webhooks.api.ts';
import { applicationsNoun } from '../workflow/applications/applications.api.ts';
import { assetsNoun } from '../workflow/assets/assets.api.ts';
import { briefsNoun } from '../workflow/briefs/briefs.api.ts';
import { campaignsNoun } from '../workflow/campaigns/campaigns.api.ts';
import { contentNoun } from '../workflow/content/content.api.ts';
import { contractsNoun } from '../workflow/contracts/contracts.api.ts';
import { creatorRecordsNoun } from '../workflow/creators/creators.api.ts';
import { deliverablesNoun } from '../workflow/deliverables/deliverables.api.ts';
import { messagesNoun } from '../workflow/messages/messages.api.ts';
import { paymentsNoun } from '../workflow/payments/payments.api.ts';
import { rosterNoun } from '../workflow/roster/roster.api.ts';
import { shipmentsNoun } from '../workflow/shipments/shipments.api.ts';

/** Every noun, in the order of the reference. */
const declared = [
  directory,
  lists,
  creatorsNoun,
  creatorRecordsNoun,
  rosterNoun,
  paymentsNoun,
  usage,
  requests,
  brands,
  sample,
  campaignListNoun,
  campaignsNoun,
  applicationsNoun,
  assetsNoun,
  deliverablesNoun,
  contractsNoun,
  briefsNoun,
  shipmentsNoun,
  contentNoun,
  messagesNoun,
  mailsNoun,
  linksNoun,
  attributionRules,
  termsNoun,
  groupsNoun,
  customersNoun,
  dataRequestsNoun,
  fraudRules,
  leaks,
  clicks,
  commissionsNoun,
  reviews,
  payoutsNoun,
  importsNoun,
  pastCommissionsNoun,
  statementsNoun,
  integrationsNoun,
  storeAuthorizations,
  storeDeliveriesNoun,
  storeWebhooks,
  ordersNoun,
  orderClicks,
  storeSweeps,
  reconciliations,
  ledger,
  costsNoun,
  analyticsNoun,
  jobsNoun,
  exportsNoun,
  reportsNoun,
  alertsNoun,
  events,
  webhooksNoun,
  audit,
  agentPolicy,
  plansNoun,
  sessionsNoun,
  peopleNoun,
  declareKeys(listForcedProblems),
  passkeysNoun,
  savedSearches,
  directoryImports,
] as const;

export const nouns: readonly Noun[] = declared;

const all: readonly Operation[] = nouns.flatMap(({ operations: its }) => its);

/** Every operation of the API. Nothing else answers under /v1. */
export const operations: readonly Operation[] = all.filter((operation) => !isForSessions(operation));

/** Operations of people in the web app that API keys cannot call: absent from the OpenAPI document and from agents' tools. */
export const sessionOperations: readonly Operation[] = all.filter(isForSessions);

/** The sections of the reference. */
export const tags: readonly Tag[] = nouns.flatMap(({ tag }) => tag ?? []);

const consumers = nouns.flatMap((noun) => noun.consumers);

/** Everything that follows the outbox. */
export const CONSUMER_NAMES: readonly string[] = consumers.map(({ name }) => name);

export const openConsumers = (context: Context): readonly Consumer[] =>
  consumers.map(({ name, open }) => ({ name, deliver: open(context) }));

type Declared = (typeof declared)[number]['operations'][number];
export type OperationId = Declared['id'];

/**
 * The input and answer of an operation: `CallOf<'create_campaign'>['body']`, and `params`, `query`, `answer`.
 */
export type CallOf<Id extends OperationId> = NonNullable<Extract<Declared, { id: Id }>['types']>;
