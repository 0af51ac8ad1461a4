import { z } from 'zod';
import { list, read } from '../../../operation/kit.ts';
import { change, noLookUp, nothing } from '../../../operation/operation.ts';
import { patchDispute } from './actions.ts';
import { disputes, getDispute } from './queries.ts';
import { Dispute, DisputeFilter, DisputeParams, DisputePatch, disputeOf } from './schema.ts';

const tag = 'Payouts';
const reading = { readOnly: true, idempotent: true, destructive: false };

const listDisputes = list({
  id: 'list_disputes',
  path: '/v1/disputes',
  tag,
  summary: "List creators' questions about their statements",
  description: 'Newest first. Creators ask on the page of a statement, about one line or the whole.',
  forAgents: { description: 'Newest first. About one line of a statement or the whole.' },
  query: DisputeFilter,
  hints: reading,
  item: Dispute,
  rows: disputes,
  itemOf: disputeOf,
});

const getDisputeById = read({
  id: 'get_dispute',
  path: '/v1/disputes/{id}',
  tag,
  summary: "Get a creator's question",
  description: 'The same fields as in `/v1/disputes`.',
  forAgents: { description: 'The same fields as in list_disputes.' },
  params: DisputeParams,
  response: z.object({ data: Dispute }),
  errors: ['NOT_FOUND'],
  hints: reading,
  handler: async ({ postgres: { db } }, { caller, params }) => ({
    data: disputeOf(await getDispute(db, caller.brandId, params.id)),
  }),
});

const updateDisputeOperation = change({
  id: 'update_dispute',
  method: 'PATCH',
  path: '/v1/disputes/{id}',
  tag,
  summary: 'Answer or close a question',
  description: 'An answer is mailed to the creator and shown on their page. Repeating the call changes nothing.',
  forAgents: { example: { id: 'dsp_…', answer: 'The order was refunded.' } },
  callers: ['brand'],
  params: DisputeParams,
  query: nothing,
  body: DisputePatch,
  response: z.object({ data: Dispute }),
  errors: ['NOT_FOUND', 'INVALID_STATE_TRANSITION'],
  hints: { readOnly: false, idempotent: true, destructive: false, dataOut: 'links' },
  lookUp: noLookUp,
  apply: async (work, { params, body }) => {
    await patchDispute(work, params.id, body);
    return { data: disputeOf(await getDispute(work.db, work.brandId, params.id)) };
  },
});

export const disputeOperations = [listDisputes, getDisputeById, updateDisputeOperation] as const;
