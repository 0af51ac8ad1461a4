import { create, get, list, patch } from '../../kit/operation/kit.ts';
import { getTimeZone } from '../../kit/operation/local-days.ts';
import { noun } from '../../kit/operation/noun.ts';
import { dayIn } from '../../kit/values/time-zone.ts';
import { toWire } from '../../kit/values/wire.ts';
import { deliverableMails } from './deliverables.mails.ts';
import {
  Deliverable,
  DeliverableCreate,
  DeliverableDetail,
  DeliverableFilter,
  DeliverablePatch,
  DeliverableSaved,
  toDeliverable,
  toDeliverableDetail,
} from './deliverables.shapes.ts';
import { createDeliverable, deliverables, getDeliverable, listSubmissions, patchDeliverable } from './deliverables.ts';

const tag = 'Deliverables';

const deliverableOperations = [
  list({
    id: 'list_deliverables',
    path: '/v1/deliverables',
    tag,
    summary: 'List deliverables',
    description:
      'Newest first. Includes one for each unit that a contract promises, and those requested without a contract.',
    forAgents: { example: { creator_email: 'ana@example.com' } },
    query: DeliverableFilter,
    item: Deliverable,
    rows: deliverables,
    whereOf: async ({ clock, postgres }, { caller, query }) => ({
      ...query,
      today: dayIn(await getTimeZone(postgres.db, caller.brandId), clock.now()),
    }),
    itemOf: (row, { clock }) => toDeliverable(row, clock.now()),
  }),
  get({
    id: 'get_deliverable',
    path: '/v1/deliverables/{id}',
    tag,
    summary: 'Get a deliverable',
    description: 'Includes every submitted version, newest first.',
    item: DeliverableDetail,
    find: async ({ postgres, clock }, { caller, params }) => {
      const row = await getDeliverable(postgres.db, caller.brandId, params.id);
      return toDeliverableDetail(row, await listSubmissions(postgres.db, caller.brandId, [row.id]), clock.now());
    },
  }),
  create({
    id: 'create_deliverable',
    path: '/v1/deliverables',
    tag,
    summary: 'Request content from a creator without a contract',
    description: 'The creator gets an email with a link to the page where they submit it.',
    forAgents: {
      example: { creator_email: 'ana@example.com', type: 'reel', due_date: '2030-06-30' },
      omits: ['contract_id'],
    },
    body: DeliverableCreate,
    item: Deliverable,
    apply: async (work, { body }) => toDeliverable(await createDeliverable(work, body), work.now),
  }),
  patch({
    id: 'update_deliverable',
    path: '/v1/deliverables/{id}',
    tag,
    summary: 'Approve a deliverable, request a revision, cancel it, or move its due date',
    description:
      'A submitted deliverable can be approved or sent back; any that is not approved can be cancelled. Setting the same ' +
      'status again changes nothing. A move that is not allowed is 409 with `current_status` and `allowed`.',
    forAgents: {
      description: 'A submitted deliverable can be approved or sent back; any that is not approved can be cancelled.',
      example: { id: 'dlv_…', status: 'approved' },
    },
    body: DeliverablePatch,
    item: DeliverableSaved,
    errors: ['NOT_FOUND', 'INVALID_STATE_TRANSITION'],
    hints: { dataOut: 'links' },
    apply: async (work, { params, body }) => toWire(await patchDeliverable(work, params.id, body)),
  }),
] as const;

export const deliverablesNoun = noun({
  name: 'deliverables',
  tag: {
    name: 'Deliverables',
    about: 'Single pieces of work that a creator owes, with every submitted version.',
  },
  ids: { deliverables: 'dlv' },
  operations: deliverableOperations,
  mails: deliverableMails,
});
