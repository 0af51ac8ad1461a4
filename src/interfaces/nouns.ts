import { clicks } from '../affiliates/clicks/noun.ts';
import { commissions } from '../affiliates/commissions/noun.ts';
import { pastCommissions } from '../affiliates/commissions/past/noun.ts';
import { ledger } from '../affiliates/ledger/noun.ts';
import { leaks } from '../affiliates/links/leaks/noun.ts';
import { links } from '../affiliates/links/noun.ts';
import { orderClicks } from '../affiliates/orders/clicks/noun.ts';
import { orders } from '../affiliates/orders/noun.ts';
import { payouts } from '../affiliates/payouts/noun.ts';
import { reconciliations } from '../affiliates/reconciliations/noun.ts';
import { reviews } from '../affiliates/reviews/noun.ts';
import { attributionRules } from '../affiliates/rules/attribution/noun.ts';
import { fraudRules } from '../affiliates/rules/fraud/noun.ts';
import { sample } from '../affiliates/sample/noun.ts';
import { statements } from '../affiliates/statements/noun.ts';
import { storeAuthorizations } from '../affiliates/stores/authorizations/noun.ts';
import { integrations } from '../affiliates/stores/connections/noun.ts';
import { storeDeliveries } from '../affiliates/stores/deliveries/noun.ts';
import { storeSweeps } from '../affiliates/stores/sweeps/noun.ts';
import { storeWebhooks } from '../affiliates/stores/webhooks/noun.ts';
import { alerts } from '../analytics/alerts/noun.ts';
import { analytics } from '../analytics/analytics/noun.ts';
import { costs } from '../analytics/costs/noun.ts';
import { creators } from '../analytics/creators/noun.ts';
import { exports } from '../analytics/exports/noun.ts';
import { reports } from '../analytics/reports/noun.ts';
import { directoryImports } from '../directory/imports/noun.ts';
import { lists } from '../directory/lists/noun.ts';
import { savedSearches } from '../directory/saved-searches/noun.ts';
import { forcedProblems } from '../directory/search/forced.ts';
import { directory } from '../directory/search/noun.ts';
import type { Context } from '../kit/operation/context.ts';
import { isForSessions, type Noun, type Tag } from '../kit/operation/noun.ts';
import type { Operation } from '../kit/operation/operation.ts';
import type { Consumer } from '../kit/outbox/relay.ts';
import { plans } from '../platform/agents/plans/noun.ts';
import { agentPolicy } from '../platform/agents/policy/noun.ts';
import { audit } from '../platform/audit/noun.ts';
import { brands } from '../platform/brands/noun.ts';
import { events } from '../platform/events/noun.ts';
import { jobs } from '../platform/jobs/noun.ts';
import { declareKeys } from '../platform/keys/noun.ts';
import { mails } from '../platform/mails/noun.ts';
import { people } from '../platform/people/noun.ts';
import { requests } from '../platform/requests/noun.ts';
import { sessions } from '../platform/sessions/noun.ts';
import { passkeys } from '../platform/sessions/passkeys/noun.ts';
import { usage } from '../platform/usage/noun.ts';
import { webhooks } from '../platform/webhooks/noun.ts';
import { applications } from '../workflow/applications/noun.ts';
import { assets } from '../workflow/assets/noun.ts';
import { briefs } from '../workflow/briefs/noun.ts';
import { campaigns } from '../workflow/campaigns/noun.ts';
import { content } from '../workflow/content/noun.ts';
import { contracts } from '../workflow/contracts/noun.ts';
import { creatorRecords } from '../workflow/creators/noun.ts';
import { deliverables } from '../workflow/deliverables/noun.ts';
import { messages } from '../workflow/messages/noun.ts';
import { roster } from '../workflow/roster/noun.ts';
import { shipments } from '../workflow/shipments/noun.ts';

/** Every noun, in the order of the reference. */
const declared = [
  directory,
  lists,
  creators,
  creatorRecords,
  roster,
  usage,
  requests,
  brands,
  sample,
  campaigns,
  applications,
  assets,
  deliverables,
  contracts,
  briefs,
  shipments,
  content,
  messages,
  mails,
  links,
  attributionRules,
  fraudRules,
  leaks,
  clicks,
  commissions,
  reviews,
  payouts,
  pastCommissions,
  statements,
  integrations,
  storeAuthorizations,
  storeDeliveries,
  storeWebhooks,
  orders,
  orderClicks,
  storeSweeps,
  reconciliations,
  ledger,
  costs,
  analytics,
  jobs,
  exports,
  reports,
  alerts,
  events,
  webhooks,
  audit,
  agentPolicy,
  plans,
  sessions,
  people,
  declareKeys(forcedProblems),
  passkeys,
  savedSearches,
  directoryImports,
] as const;

export const nouns: readonly Noun[] = declared;

const all: readonly Operation[] = nouns.flatMap(({ operations: its }) => its);

/** Every operation of the API. Nothing else answers under /v1. */
export const operations: readonly Operation[] = all.filter((operation) => !isForSessions(operation));

/** What people can do in the web app but API keys cannot: absent from the OpenAPI document and from agents' tools. */
export const sessionOperations: readonly Operation[] = all.filter(isForSessions);

/** The sections of the reference. */
export const tags: readonly Tag[] = nouns.flatMap(({ tag }) => tag ?? []);

const consumers = nouns.flatMap((noun) => noun.consumers);

/** Everything that follows the outbox. */
export const CONSUMER_NAMES: readonly string[] = consumers.map(({ name }) => name);

export const consumersOf = (context: Context): readonly Consumer[] =>
  consumers.map(({ name, open }) => ({ name, deliver: open(context) }));

type Declared = (typeof declared)[number]['operations'][number];
export type OperationId = Declared['id'];

/**
 * What a call of an operation sends and receives: `CallOf<'create_campaign'>['body']`, and `params`, `query`, `answer`.
 */
export type CallOf<Id extends OperationId> = NonNullable<Extract<Declared, { id: Id }>['types']>;
