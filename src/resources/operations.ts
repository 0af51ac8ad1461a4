import { autocompleteCreators } from '../directory/autocomplete.ts';
import { dictionaryOperations } from '../directory/dictionary.ts';
import { directoryOperations } from '../directory/routes.ts';
import type { Operation } from '../operation/operation.ts';
import { agentPolicyOperations } from './agent-policy/routes.ts';
import { analyticsOperations } from './analytics/routes.ts';
import { applicationOperations } from './applications/routes.ts';
import { folderOperations } from './assets/folders/routes.ts';
import { assetOperations } from './assets/routes.ts';
import { auditOperations } from './audit/routes.ts';
import { brandOperations } from './brands/routes.ts';
import { briefOperations } from './briefs/routes.ts';
import { campaignOperations } from './campaigns/routes.ts';
import { commissionOperations } from './commissions/routes.ts';
import { contentOperations } from './content/routes.ts';
import { contractOperations } from './contracts/routes.ts';
import { creatorOperations } from './creators/routes.ts';
import { deliverableOperations } from './deliverables/routes.ts';
import { disputeOperations } from './disputes/routes.ts';
import { eventOperations } from './events/routes.ts';
import { integrationOperations } from './integrations/routes.ts';
import { journalOperations } from './ledger/journal-routes.ts';
import { ledgerOperations } from './ledger/routes.ts';
import { bulkCodeOperations } from './links/bulk/routes.ts';
import { linkOperations } from './links/routes.ts';
import { mailOperations } from './mails/routes.ts';
import { messageOperations } from './messages/routes.ts';
import { orderOperations } from './orders/routes.ts';
import { payoutDueOperations } from './payouts/due-routes.ts';
import { payoutOperations } from './payouts/routes.ts';
import { performanceOperations } from './performance/routes.ts';
import { planOperations } from './plans/routes.ts';
import { reviewOperations } from './reviews/routes.ts';
import { rosterOperations } from './roster/routes.ts';
import { shipmentOperations } from './shipments/routes.ts';
import { statementOperations } from './statements/routes.ts';
import { usageOperations } from './usage/routes.ts';
import { webhookDeliveryOperations } from './webhooks/deliveries/routes.ts';
import { webhookOperations } from './webhooks/routes.ts';

/** Every operation of the API, a line a noun. Nothing else answers under /v1. */
const declared = [
  ...directoryOperations,
  autocompleteCreators,
  ...dictionaryOperations,
  ...creatorOperations,
  ...rosterOperations,
  ...usageOperations,
  ...brandOperations,
  ...campaignOperations,
  ...applicationOperations,
  ...folderOperations,
  ...assetOperations,
  ...deliverableOperations,
  ...contractOperations,
  ...briefOperations,
  ...shipmentOperations,
  ...contentOperations,
  ...messageOperations,
  ...mailOperations,
  ...linkOperations,
  ...bulkCodeOperations,
  ...commissionOperations,
  ...reviewOperations,
  ...payoutOperations,
  ...payoutDueOperations,
  ...statementOperations,
  ...disputeOperations,
  ...integrationOperations,
  ...orderOperations,
  ...performanceOperations,
  ...ledgerOperations,
  ...journalOperations,
  ...analyticsOperations,
  ...eventOperations,
  ...webhookOperations,
  ...webhookDeliveryOperations,
  ...auditOperations,
  ...agentPolicyOperations,
  ...planOperations(findOperation),
] as const;

export const operations: readonly Operation[] = declared;

function findOperation(id: string): Operation | undefined {
  return operations.find((operation) => operation.id === id);
}

type Declared = (typeof declared)[number];
export type OperationId = Declared['id'];

/** What a call of an operation sends and is answered: `CallOf<'create_campaign'>['body']`, and `params`, `query`, `answer`. */
export type CallOf<Id extends OperationId> = NonNullable<Extract<Declared, { id: Id }>['types']>;
