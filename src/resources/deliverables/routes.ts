import { z } from 'zod';
import { create, list, patch, read } from '../../operation/kit.ts';
import { toWire } from '../../values/wire.ts';
import { createDeliverable, patchDeliverable } from './actions.ts';
import { deliverables, getDeliverable, listSubmissions } from './queries.ts';
import {
  Deliverable,
  DeliverableCreate,
  DeliverableDetail,
  DeliverableFilter,
  DeliverablePatch,
  DeliverableSaved,
  deliverableDetailOf,
  deliverableOf,
} from './schema.ts';

const tag = 'Deliverables';

const listDeliverables = list({
  id: 'list_deliverables',
  path: '/v1/deliverables',
  tag,
  summary: 'What creators owe and have handed in',
  description: 'Newest first. One for each unit that a contract promises, and those asked for outside of contracts.',
  query: DeliverableFilter,
  item: Deliverable,
  rows: deliverables,
  itemOf: deliverableOf,
});

const getDeliverableById = read({
  id: 'get_deliverable',
  path: '/v1/deliverables/{id}',
  tag,
  summary: 'One deliverable',
  description: 'With every version that was handed in, newest first.',
  response: z.object({ data: DeliverableDetail }),
  errors: ['NOT_FOUND'],
  handler: async ({ postgres }, { caller, params }) => {
    const row = await getDeliverable(postgres.db, caller.brandId, params.id);
    return { data: deliverableDetailOf(row, await listSubmissions(postgres.db, caller.brandId, [row.id])) };
  },
});

const createDeliverableOperation = create({
  id: 'create_deliverable',
  path: '/v1/deliverables',
  tag,
  summary: 'Ask a creator for something outside of a contract',
  description: 'The creator gets a mail with a link to the page where it is handed in.',
  body: DeliverableCreate,
  item: Deliverable,
  apply: async (work, { body }) => deliverableOf(await createDeliverable(work, body)),
});

const updateDeliverableOperation = patch({
  id: 'update_deliverable',
  path: '/v1/deliverables/{id}',
  tag,
  summary: 'Approve a deliverable, ask for a revision, cancel it, or move its due date',
  description:
    'What was submitted can be approved or sent back; anything but what is approved can be cancelled. The same status ' +
    'again changes nothing. A wrong move is 409 with `current_status` and `allowed`.',
  body: DeliverablePatch,
  item: DeliverableSaved,
  errors: ['NOT_FOUND', 'INVALID_STATE_TRANSITION'],
  hints: { readOnly: false, idempotent: true, destructive: false, dataOut: 'links' },
  apply: async (work, { params, body }) => toWire(await patchDeliverable(work, params.id, body)),
});

export const deliverableOperations = [
  listDeliverables,
  getDeliverableById,
  createDeliverableOperation,
  updateDeliverableOperation,
] as const;
