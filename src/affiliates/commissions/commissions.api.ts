import type { Context } from '../../kit/operation/context.ts';
import { get, list } from '../../kit/operation/kit.ts';
import type { ListCall } from '../../kit/operation/list.ts';
import { noun } from '../../kit/operation/noun.ts';
import {
  AffiliateCommission,
  COMMISSION_SUMS,
  CommissionEvent,
  CommissionFilter,
  toCommission,
} from './commissions.shapes.ts';
import { commissions, getCommission } from './commissions.ts';
import { mailApprovedCommissions, weeklyMails } from './weekly-mail.ts';

const tag = 'Commissions';
/** The filter `approvable` depends on the time. */
const withTime = ({ clock }: Context, { query }: ListCall<CommissionFilter>) => ({ ...query, now: clock.now() });

const commissionOperations = [
  list({
    id: 'list_commissions',
    path: '/v1/commissions',
    tag,
    summary: 'List commissions',
    description: 'Sales attributed to creators, and manual commissions. Newest first.',
    forAgents: { isListed: false },
    query: CommissionFilter,
    item: CommissionEvent,
    rows: commissions,
    sums: COMMISSION_SUMS,
    itemOf: toCommission,
    whereOf: withTime,
  }),
  get({
    id: 'get_commission',
    path: '/v1/commissions/{id}',
    tag,
    summary: 'Get a commission',
    description: 'The same fields as in `/v1/commissions`.',
    forAgents: { isListed: false },
    item: CommissionEvent,
    find: async ({ postgres }, { caller, params }) =>
      toCommission(await getCommission(postgres.db, caller.brandId, params.id)),
  }),
  list({
    id: 'list_affiliate_commissions',
    path: '/v1/affiliates/commissions',
    tag,
    summary: 'List commissions, with their clicks',
    description: 'The same as `/v1/commissions`, with `click_id` and `created_at`. Newest first.',
    forAgents: {
      description:
        'What creators earned: sales attributed to them, and manual commissions, with order and click. Newest first.',
      example: { creator_email: 'ana@example.com', status: 'pending' },
      omits: ['currency', 'flagged', 'source', 'kind', 'customer_id', 'group_id', 'click_id'],
    },
    query: CommissionFilter,
    item: AffiliateCommission,
    rows: commissions,
    sums: COMMISSION_SUMS,
    itemOf: toCommission,
    whereOf: withTime,
  }),
  get({
    id: 'get_affiliate_commission',
    path: '/v1/affiliates/commissions/{id}',
    tag,
    summary: 'Get a commission, with its click',
    description: 'The same fields as in `/v1/affiliates/commissions`.',
    forAgents: { description: 'The same fields as in list_affiliate_commissions.' },
    item: AffiliateCommission,
    find: async ({ postgres }, { caller, params }) =>
      toCommission(await getCommission(postgres.db, caller.brandId, params.id)),
  }),
] as const;

export const commissionsNoun = noun({
  name: 'commissions',
  tag: {
    name: 'Commissions',
    about: 'What orders earned for creators: review them here.',
  },
  ids: { commission: 'com', commissions: 'com' },
  operations: commissionOperations,
  jobs: [mailApprovedCommissions],
  mails: weeklyMails,
});
