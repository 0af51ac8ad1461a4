import { get, list, patch } from '../../../kit/operation/kit.ts';
import { patchDispute } from './actions.ts';
import { disputes, getDispute } from './queries.ts';
import { Dispute, DisputeFilter, DisputePatch, disputeOf } from './schema.ts';

const tag = 'Payouts';

export const disputeOperations = [
  list({
    id: 'list_disputes',
    path: '/v1/disputes',
    tag,
    summary: "List creators' questions about their statements",
    description: 'Newest first. Creators ask on the page of a statement, about one line or all of it.',
    forAgents: { description: 'Newest first. About one line of a statement or the whole.' },
    query: DisputeFilter,
    item: Dispute,
    rows: disputes,
    itemOf: disputeOf,
  }),
  get({
    id: 'get_dispute',
    path: '/v1/disputes/{id}',
    tag,
    summary: "Get a creator's question",
    description: 'The same fields as in `/v1/disputes`.',
    forAgents: { description: 'The same fields as in list_disputes.' },
    item: Dispute,
    find: async ({ postgres: { db } }, { caller, params }) =>
      disputeOf(await getDispute(db, caller.brandId, params.id)),
  }),
  patch({
    id: 'update_dispute',
    path: '/v1/disputes/{id}',
    tag,
    summary: 'Answer or close a question',
    description: 'An answer is mailed to the creator and shown on their page. Repeating the call changes nothing.',
    forAgents: { example: { id: 'dsp_…', answer: 'The order was refunded.' } },
    body: DisputePatch,
    item: Dispute,
    errors: ['NOT_FOUND', 'INVALID_STATE_TRANSITION'],
    hints: { dataOut: 'links' },
    apply: async (work, { params, body }) => {
      await patchDispute(work, params.id, body);
      return disputeOf(await getDispute(work.db, work.brandId, params.id));
    },
  }),
] as const;
