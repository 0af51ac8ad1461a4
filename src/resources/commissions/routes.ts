import { z } from 'zod';
import type { Context } from '../../api/context.ts';
import { answersWhere, type ListCall } from '../../api/list.ts';
import { nothing, operation } from '../../api/operation.ts';
import { commissions, getCommission } from './queries.ts';
import {
  AffiliateCommission,
  AffiliateCommissionList,
  CommissionEvent,
  CommissionFilter,
  CommissionList,
  commissionOf,
} from './schema.ts';

const tag = 'Commissions';
const byId = z.object({ id: z.string().max(100) });
const reading = { readOnly: true, idempotent: true, destructive: false };
/** What may be approved depends on the time. */
const whereOf = ({ clock }: Context, { query }: ListCall<CommissionFilter>) => ({ ...query, now: clock.now() });

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
  ...answersWhere(commissions, whereOf, CommissionEvent, commissionOf),
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
  ...answersWhere(commissions, whereOf, AffiliateCommission, commissionOf),
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

export const commissionOperations = [
  listCommissions,
  getCommissionById,
  listAffiliateCommissions,
  getAffiliateCommission,
] as const;
