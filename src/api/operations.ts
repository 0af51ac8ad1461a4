import { autocompleteCreators } from '../directory/autocomplete.ts';
import { dictionaryOperations } from '../directory/dictionary.ts';
import { directoryOperations } from '../directory/routes.ts';
import { journalOperations } from '../ledger/journal-routes.ts';
import { ledgerOperations } from '../ledger/routes.ts';
import { agentPolicyOperations } from '../resources/agent-policy/routes.ts';
import { analyticsOperations } from '../resources/analytics/routes.ts';
import { applicationOperations } from '../resources/applications/routes.ts';
import { folderOperations } from '../resources/assets/folders/routes.ts';
import { assetOperations } from '../resources/assets/routes.ts';
import { auditOperations } from '../resources/audit/routes.ts';
import { brandOperations } from '../resources/brands/routes.ts';
import { briefOperations } from '../resources/briefs/routes.ts';
import { campaignOperations } from '../resources/campaigns/routes.ts';
import { commissionOperations } from '../resources/commissions/routes.ts';
import { contentOperations } from '../resources/content/routes.ts';
import { contractOperations } from '../resources/contracts/routes.ts';
import { creatorOperations } from '../resources/creators/routes.ts';
import { deliverableOperations } from '../resources/deliverables/routes.ts';
import { disputeOperations } from '../resources/disputes/routes.ts';
import { eventOperations } from '../resources/events/routes.ts';
import { integrationOperations } from '../resources/integrations/routes.ts';
import { bulkCodeOperations } from '../resources/links/bulk/routes.ts';
import { linkOperations } from '../resources/links/routes.ts';
import { mailOperations } from '../resources/mails/routes.ts';
import { messageOperations } from '../resources/messages/routes.ts';
import { orderOperations } from '../resources/orders/routes.ts';
import { payoutDueOperations } from '../resources/payouts/due-routes.ts';
import { payoutOperations } from '../resources/payouts/routes.ts';
import { performanceOperations } from '../resources/performance/routes.ts';
import { planOperations } from '../resources/plans/routes.ts';
import { reviewOperations } from '../resources/reviews/routes.ts';
import { rosterOperations } from '../resources/roster/routes.ts';
import { shipmentOperations } from '../resources/shipments/routes.ts';
import { statementOperations } from '../resources/statements/routes.ts';
import { usageOperations } from '../resources/usage/routes.ts';
import { webhookDeliveryOperations } from '../resources/webhooks/deliveries/routes.ts';
import { webhookOperations } from '../resources/webhooks/routes.ts';
import type { Operation } from './operation.ts';

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
