import { searchCreatorsPlainly } from '../../directory/search/search.api.ts';
import type { Operation } from '../../kit/operation/operation.ts';
import { createOlderWebhook } from '../../platform/webhooks/webhooks.api.ts';
import { operations } from '../nouns.ts';
import { reviewOrRecord } from './commissions.ts';
import { inOlderShape } from './declare.ts';
import { differences } from './differences.ts';

/** The operations that the older interface has too: those of the specification, without later additions. */
export const SERVED: ReadonlySet<string> = new Set([
  ...['get_brand', 'update_brand'],
  ...['list_campaigns', 'create_campaign', 'get_campaign', 'update_campaign'],
  ...['list_campaign_applications', 'list_applications', 'update_application'],
  ...['list_creators', 'search_creators', 'get_directory_creator'],
  ...['list_roster', 'add_to_roster', 'add_to_roster_by_handle'],
  ...['list_briefs', 'create_brief', 'send_brief'],
  ...['list_contracts', 'create_contract'],
  ...['list_deliverables', 'update_deliverable'],
  ...['list_conversations', 'get_conversation', 'send_message'],
  ...['list_payouts', 'create_payout', 'settle_payout', 'settle_payout_by_body'],
  ...['list_content', 'get_content', 'track_content', 'refresh_content', 'delete_content'],
  ...['list_affiliates', 'list_affiliate_links', 'create_affiliate_link', 'update_affiliate_link'],
  ...['delete_affiliate_link', 'list_affiliate_stores', 'bulk_create_affiliate_codes', 'list_affiliate_performance'],
  ...[
    'list_commissions',
    'review_commissions',
    'list_affiliate_commissions',
    'update_commission',
    'update_commissions',
  ],
  ...['list_shipments', 'create_shipment', 'update_shipment'],
  ...['get_analytics', 'list_assets', 'update_assets', 'list_asset_folders', 'create_asset_folder'],
  ...['list_webhooks', 'create_webhook', 'delete_webhook'],
]);

/** Operations that behave differently in the older interface, beyond their shapes. */
const INSTEAD: Readonly<Record<string, Operation>> = {
  search_creators: searchCreatorsPlainly,
  create_webhook: { ...createOlderWebhook, id: 'create_webhook' },
};

/** Every operation under /api/v1. `now` decides what has expired. */
export function legacyOperations(now: () => Date): readonly Operation[] {
  const markedDifferences = differences(now);
  return operations
    .filter(({ id }) => SERVED.has(id))
    .map((operation) => inOlderShape(INSTEAD[operation.id] ?? operation, markedDifferences[operation.id]))
    .map((operation) => (operation.id === 'review_commissions' ? reviewOrRecord(operation) : operation));
}
