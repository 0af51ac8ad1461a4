import { z } from 'zod';
import { change, noLookUp, nothing, operation } from '../../api/operation.ts';
import { pageOf, paginationOf } from '../../api/page.ts';
import { eachAs, toWire } from '../../values/wire.ts';
import { CommissionEvent, commissionOf } from '../orders/schema.ts';
import { reviewAll, reviewOne } from './actions.ts';
import { eachCommission, listCommissions as findCommissions, getCommission } from './queries.ts';
import {
  AffiliateCommission,
  AffiliateCommissionList,
  CommissionBulk,
  CommissionFilter,
  CommissionList,
  CommissionPatch,
  CommissionPatched,
  CommissionReview,
  CommissionsBulkReviewed,
  CommissionsReviewed,
} from './schema.ts';

const tag = 'Commissions';
const byId = z.object({ id: z.string().max(100) });
const reading = { readOnly: true, idempotent: true, destructive: false };
const reviewing = { readOnly: false, idempotent: true, destructive: false };
const RULES =
  'Approval needs a verified paid order past its review period. Approved and rejected can be exchanged until the ' +
  'commission is paid. A repeated review changes nothing, but that a rejection of what a refund or cancellation rejected ' +
  'becomes your own, with its note, and stays when the store takes that back.';

const listCommissions = operation({
  id: 'list_commissions',
  method: 'GET',
  path: '/v1/commissions',
  tag,
  summary: 'Sales attributed to creators',
  description: 'Newest first.',
  callers: ['brand'],
  params: nothing,
  query: CommissionFilter,
  body: nothing,
  response: CommissionList,
  hints: reading,
  handler: async ({ postgres }, { caller, query }) => {
    const page = pageOf(query);
    const { rows, total } = await findCommissions(postgres.db, caller.brandId, query, page);
    return {
      data: rows.map((row) => commissionOf(row)),
      pagination: paginationOf(page, total),
    };
  },
  csv: {
    item: CommissionEvent,
    rows: ({ postgres }, { caller, query }) =>
      eachAs(eachCommission(postgres.exports, caller.brandId, query), commissionOf),
  },
});

const getCommissionById = operation({
  id: 'get_commission',
  method: 'GET',
  path: '/v1/commissions/{id}',
  tag,
  summary: 'One commission event',
  description: 'As in the list.',
  callers: ['brand'],
  params: byId,
  query: nothing,
  body: nothing,
  response: z.object({ data: CommissionEvent }),
  errors: ['NOT_FOUND'],
  hints: reading,
  handler: async ({ postgres }, { caller, params }) => ({
    data: commissionOf(await getCommission(postgres.db, caller.brandId, params.id)),
  }),
});

const reviewCommissionsOperation = change({
  id: 'review_commissions',
  method: 'POST',
  path: '/v1/commissions',
  tag,
  summary: 'Approve or reject commissions',
  description: `One (\`event_id\`) or up to 100 (\`event_ids\`): all of them or none. ${RULES}`,
  callers: ['brand'],
  params: nothing,
  query: nothing,
  body: CommissionReview,
  response: z.object({ data: CommissionsReviewed }),
  errors: ['NOT_FOUND', 'REVIEW_PERIOD_ACTIVE', 'ORDER_NOT_PAID', 'COMMISSION_PAID', 'INVALID_SELECTION'],
  hints: reviewing,
  lookUp: noLookUp,
  apply: async (work, { body: { status, note = null, event_id, event_ids = [] } }) => {
    const review = { status, note };
    const isOne = event_id !== undefined;
    const updated = isOne ? await reviewOne(work, event_id, review) : await reviewAll(work, event_ids, review);
    return { data: { updated } };
  },
});

const listAffiliateCommissions = operation({
  id: 'list_affiliate_commissions',
  method: 'GET',
  path: '/v1/affiliates/commissions',
  tag,
  summary: 'Sales attributed to creators, with the click',
  description: 'As `/v1/commissions`, with `click_id` and `created_at`.',
  callers: ['brand'],
  params: nothing,
  query: CommissionFilter,
  body: nothing,
  response: AffiliateCommissionList,
  hints: reading,
  handler: async ({ postgres }, { caller, query }) => {
    const page = pageOf(query);
    const { rows, total } = await findCommissions(postgres.db, caller.brandId, query, page);
    return {
      data: rows.map((row) => commissionOf(row)),
      pagination: paginationOf(page, total),
    };
  },
  csv: {
    item: AffiliateCommission,
    rows: ({ postgres }, { caller, query }) =>
      eachAs(eachCommission(postgres.exports, caller.brandId, query), commissionOf),
  },
});

const getAffiliateCommission = operation({
  id: 'get_affiliate_commission',
  method: 'GET',
  path: '/v1/affiliates/commissions/{id}',
  tag,
  summary: 'One commission event, with the click',
  description: 'As in the list.',
  callers: ['brand'],
  params: byId,
  query: nothing,
  body: nothing,
  response: z.object({ data: AffiliateCommission }),
  errors: ['NOT_FOUND'],
  hints: reading,
  handler: async ({ postgres }, { caller, params }) => ({
    data: commissionOf(await getCommission(postgres.db, caller.brandId, params.id)),
  }),
});

const updateCommissionOperation = change({
  id: 'update_commission',
  method: 'PATCH',
  path: '/v1/affiliates/commissions/{id}',
  tag,
  summary: 'Approve or reject one commission',
  description: RULES,
  callers: ['brand'],
  params: byId,
  query: nothing,
  body: CommissionPatch,
  response: z.object({ data: CommissionPatched }),
  errors: ['NOT_FOUND', 'REVIEW_PERIOD_ACTIVE', 'ORDER_NOT_PAID', 'COMMISSION_PAID'],
  hints: reviewing,
  lookUp: noLookUp,
  apply: async (work, { params, body: { status, note = null } }) => {
    await reviewOne(work, params.id, { status, note });
    return { data: toWire(await getCommission(work.db, work.brandId, params.id)) };
  },
});

const updateCommissionsOperation = change({
  id: 'update_commissions',
  method: 'PATCH',
  path: '/v1/affiliates/commissions/bulk',
  tag,
  summary: 'Approve or reject up to 100 commissions',
  description: `All of them or none. ${RULES}`,
  callers: ['brand'],
  params: nothing,
  query: nothing,
  body: CommissionBulk,
  response: z.object({ data: CommissionsBulkReviewed }),
  errors: ['INVALID_SELECTION'],
  hints: reviewing,
  lookUp: noLookUp,
  apply: async (work, { body: { status, note = null, event_ids } }) => {
    const updated_count = await reviewAll(work, event_ids, { status, note });
    const total_requested = event_ids.length;
    return { data: { status, updated_count, skipped_count: total_requested - updated_count, total_requested } };
  },
});

export const commissionOperations = [
  listCommissions,
  getCommissionById,
  reviewCommissionsOperation,
  listAffiliateCommissions,
  getAffiliateCommission,
  updateCommissionOperation,
  updateCommissionsOperation,
] as const;
