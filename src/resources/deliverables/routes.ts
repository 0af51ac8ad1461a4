import { z } from 'zod';
import { answersOf } from '../../operation/list.ts';
import { change, noLookUp, nothing, operation } from '../../operation/operation.ts';
import { toWire } from '../../values/wire.ts';
import { createDeliverable, patchDeliverable } from './actions.ts';
import { deliverables, getDeliverable, listSubmissions } from './queries.ts';
import {
  Deliverable,
  DeliverableCreate,
  DeliverableDetail,
  DeliverableFilter,
  DeliverableList,
  DeliverablePatch,
  DeliverableSaved,
  deliverableDetailOf,
  deliverableOf,
} from './schema.ts';

const tag = 'Deliverables';
const byId = z.object({ id: z.string().max(100) });

const listDeliverables = operation({
  id: 'list_deliverables',
  method: 'GET',
  path: '/v1/deliverables',
  tag,
  summary: 'What creators owe and have handed in',
  description: 'Newest first. One for each unit that a contract promises, and those asked for outside of contracts.',
  callers: ['brand'],
  params: nothing,
  query: DeliverableFilter,
  body: nothing,
  response: DeliverableList,
  hints: { readOnly: true, idempotent: true, destructive: false },
  ...answersOf(deliverables, Deliverable, deliverableOf),
});

const getDeliverableById = operation({
  id: 'get_deliverable',
  method: 'GET',
  path: '/v1/deliverables/{id}',
  tag,
  summary: 'One deliverable',
  description: 'With every version that was handed in, newest first.',
  callers: ['brand'],
  params: byId,
  query: nothing,
  body: nothing,
  response: z.object({ data: DeliverableDetail }),
  errors: ['NOT_FOUND'],
  hints: { readOnly: true, idempotent: true, destructive: false },
  handler: async ({ postgres }, { caller, params }) => {
    const row = await getDeliverable(postgres.db, caller.brandId, params.id);
    return { data: deliverableDetailOf(row, await listSubmissions(postgres.db, caller.brandId, [row.id])) };
  },
});

const createDeliverableOperation = change({
  id: 'create_deliverable',
  method: 'POST',
  path: '/v1/deliverables',
  tag,
  summary: 'Ask a creator for something outside of a contract',
  description: 'The creator gets a mail with a link to the page where it is handed in.',
  callers: ['brand'],
  params: nothing,
  query: nothing,
  body: DeliverableCreate,
  response: z.object({ data: Deliverable }),
  status: 201,
  hints: { readOnly: false, idempotent: false, destructive: false },
  lookUp: noLookUp,
  apply: async (work, { body }) => ({ data: deliverableOf(await createDeliverable(work, body)) }),
});

const updateDeliverableOperation = change({
  id: 'update_deliverable',
  method: 'PATCH',
  path: '/v1/deliverables/{id}',
  tag,
  summary: 'Approve a deliverable, ask for a revision, cancel it, or move its due date',
  description:
    'What was submitted can be approved or sent back; anything but what is approved can be cancelled. The same status ' +
    'again changes nothing. A wrong move is 409 with `current_status` and `allowed`.',
  callers: ['brand'],
  params: byId,
  query: nothing,
  body: DeliverablePatch,
  response: z.object({ data: DeliverableSaved }),
  errors: ['NOT_FOUND', 'INVALID_STATE_TRANSITION'],
  hints: { readOnly: false, idempotent: true, destructive: false, dataOut: 'links' },
  lookUp: noLookUp,
  apply: async (work, { params, body }) => ({
    data: toWire(await patchDeliverable(work, params.id, body)),
  }),
});

export const deliverableOperations = [
  listDeliverables,
  getDeliverableById,
  createDeliverableOperation,
  updateDeliverableOperation,
] as const;
