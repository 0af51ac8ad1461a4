import { act, patch } from '../../kit/operation/kit.ts';
import { getCommission } from '../commissions/queries.ts';
import { commissionOf } from '../commissions/schema.ts';
import { reviewAll, reviewOne } from './actions.ts';
import {
  CommissionBulk,
  CommissionPatch,
  CommissionPatched,
  CommissionReview,
  CommissionsBulkReviewed,
  CommissionsReviewed,
} from './schema.ts';

const tag = 'Commissions';
const reviewing = { readOnly: false, idempotent: true, destructive: false };
const RULES =
  'Approval requires a paid order past its review period. You can approve and reject again until the commission is ' +
  'paid. Repeating a review, or approving a commission that was paid in the meantime, changes nothing. Rejecting a ' +
  'commission that a refund or cancellation has already rejected makes the rejection yours: it stays when the store ' +
  'reverts the refund.';

export const reviewOperations = [
  act({
    id: 'review_commissions',
    path: '/v1/commissions',
    tag,
    summary: 'Approve or reject commissions',
    description: `Reviews one commission (\`event_id\`) or up to 100 (\`event_ids\`), all or none. ${RULES}`,
    forAgents: {
      description:
        'One commission or up to 100, all or none. Approval requires a paid order past its review period; list_affiliate_commissions with `approvable: true` finds those. You can approve and reject again until the commission is paid.',
      example: { status: 'approved', event_ids: ['com_…'] },
    },
    body: CommissionReview,
    item: CommissionsReviewed,
    errors: ['NOT_FOUND', 'REVIEW_PERIOD_ACTIVE', 'ORDER_NOT_PAID', 'COMMISSION_PAID', 'INVALID_SELECTION'],
    hints: reviewing,
    apply: async (work, { body: { status, note = null, event_id, event_ids = [] } }) => {
      const review = { status, note };
      const isOne = event_id !== undefined;
      const updated = isOne ? await reviewOne(work, event_id, review) : await reviewAll(work, event_ids, review);
      return { updated };
    },
  }),
  patch({
    id: 'update_commission',
    path: '/v1/affiliates/commissions/{id}',
    tag,
    summary: 'Approve or reject one commission',
    description: RULES,
    forAgents: false,
    body: CommissionPatch,
    item: CommissionPatched,
    errors: ['NOT_FOUND', 'REVIEW_PERIOD_ACTIVE', 'ORDER_NOT_PAID', 'COMMISSION_PAID'],
    apply: async (work, { params, body: { status, note = null } }) => {
      await reviewOne(work, params.id, { status, note });
      return commissionOf(await getCommission(work.db, work.brandId, params.id));
    },
  }),
  patch({
    id: 'update_commissions',
    path: '/v1/affiliates/commissions/bulk',
    tag,
    summary: 'Approve or reject up to 100 commissions',
    description: `Reviews all of them or none. ${RULES}`,
    forAgents: false,
    body: CommissionBulk,
    item: CommissionsBulkReviewed,
    errors: ['INVALID_SELECTION'],
    apply: async (work, { body: { status, note = null, event_ids } }) => {
      const updated_count = await reviewAll(work, event_ids, { status, note });
      const total_requested = event_ids.length;
      return { status, updated_count, skipped_count: total_requested - updated_count, total_requested };
    },
  }),
] as const;
