import { directory } from '../directory/noun.ts';
import type { Context } from '../operation/context.ts';
import { isForSessions, type Noun, type Tag } from '../operation/noun.ts';
import type { Operation } from '../operation/operation.ts';
import type { Consumer } from '../outbox/relay.ts';
import { agentPolicy } from './agent-policy/noun.ts';
import { alerts } from './alerts/noun.ts';
import { analytics } from './analytics/noun.ts';
import { applications } from './applications/noun.ts';
import { assets } from './assets/noun.ts';
import { attributionRules } from './attribution-rules/noun.ts';
import { audit } from './audit/noun.ts';
import { brands } from './brands/noun.ts';
import { briefs } from './briefs/noun.ts';
import { campaigns } from './campaigns/noun.ts';
import { clicks } from './clicks/noun.ts';
import { commissions } from './commissions/noun.ts';
import { content } from './content/noun.ts';
import { contracts } from './contracts/noun.ts';
import { costs } from './costs/noun.ts';
import { creators } from './creators/noun.ts';
import { deliverables } from './deliverables/noun.ts';
import { directoryImports } from './directory-imports/noun.ts';
import { events } from './events/noun.ts';
import { exports } from './exports/noun.ts';
import { fraudRules } from './fraud-rules/noun.ts';
import { integrations } from './integrations/noun.ts';
import { jobs } from './jobs/noun.ts';
import { keys } from './keys/noun.ts';
import { leaks } from './leaks/noun.ts';
import { ledger } from './ledger/noun.ts';
import { links } from './links/noun.ts';
import { lists } from './lists/noun.ts';
import { mails } from './mails/noun.ts';
import { messages } from './messages/noun.ts';
import { orderClicks } from './order-clicks/noun.ts';
import { orders } from './orders/noun.ts';
import { passkeys } from './passkeys/noun.ts';
import { pastCommissions } from './past-commissions/noun.ts';
import { payouts } from './payouts/noun.ts';
import { people } from './people/noun.ts';
import { plans } from './plans/noun.ts';
import { reconciliations } from './reconciliations/noun.ts';
import { reports } from './reports/noun.ts';
import { requests } from './requests/noun.ts';
import { reviews } from './reviews/noun.ts';
import { roster } from './roster/noun.ts';
import { sample } from './sample/noun.ts';
import { savedSearches } from './saved-searches/noun.ts';
import { sessions } from './sessions/noun.ts';
import { shipments } from './shipments/noun.ts';
import { statements } from './statements/noun.ts';
import { storeAuthorizations } from './store-authorizations/noun.ts';
import { storeDeliveries } from './store-deliveries/noun.ts';
import { storeSweeps } from './store-sweeps/noun.ts';
import { storeWebhooks } from './store-webhooks/noun.ts';
import { usage } from './usage/noun.ts';
import { webhooks } from './webhooks/noun.ts';

/** Every noun, in the order of the reference. */
const declared = [
  directory,
  lists,
  creators,
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
  keys,
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
