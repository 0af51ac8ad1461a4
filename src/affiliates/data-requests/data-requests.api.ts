import { z } from 'zod';
import { act, create, get, list, read } from '../../kit/operation/kit.ts';
import { noun } from '../../kit/operation/noun.ts';
import { notFound } from '../../kit/values/errors.ts';
import { getIntegration } from '../stores/connections/connections.ts';
import { refuseRequest } from './asked.ts';
import { openBooks } from './books.ts';
import { carryOutDataRequests, endDataRequests } from './data-requests.jobs.ts';
import { dataRequestMails } from './data-requests.mails.ts';
import {
  Books,
  DataRequest,
  DataRequestCreate,
  DataRequestFile,
  DataRequestFilter,
  DataRequestOpening,
  DataRequestRefusal,
  Forfeit,
  toDataRequest,
} from './data-requests.shapes.ts';
import { carryOut, createRequest, readFile, dataRequests as rows } from './data-requests.ts';

const tag = "People's rights";
const facts = { tag, forAgents: false, ownersOnly: true } as const;

const dataRequestOperations = [
  list({
    ...facts,
    id: 'list_data_requests',
    path: '/v1/data-requests',
    summary: 'List privacy requests',
    description: 'To be erased, or to be told what is kept about them. Newest first.',
    query: DataRequestFilter,
    item: DataRequest,
    rows,
    itemOf: toDataRequest,
  }),
  create({
    ...facts,
    id: 'create_data_request',
    path: '/v1/data-requests',
    summary: 'Erase a person, or list what is kept about them',
    description:
      'Name a creator or a buyer, in one way. An erasure cannot be undone: what stays is a pseudonym with amounts and ' +
      'figures. Repeating it changes nothing, and an unknown person is `done` with nothing removed. If money is due to a creator, ' +
      'it is 409 `MONEY_DUE` with the balances. The first erasure of a brand from before release 1.1.0 is `running` for a while.',
    body: DataRequestCreate,
    item: DataRequest,
    errors: ['MONEY_DUE', 'NOT_FOUND'],
    hints: { destructive: true, idempotent: true },
    lookUp: async ({ postgres, secrets }, { caller, body }) => {
      if (body.integration_id !== undefined) await getIntegration(postgres.db, caller.brandId, body.integration_id);
      return secrets;
    },
    apply: async (work, { body }, secrets) => toDataRequest(await createRequest(work, secrets, body, 'api')),
  }),
  get({
    ...facts,
    id: 'get_data_request',
    path: '/v1/data-requests/{id}',
    summary: 'Get a privacy request',
    description: 'Includes how many rows it erased, what stays and why.',
    item: DataRequest,
    find: async ({ postgres }, { caller, params }) =>
      toDataRequest(await rows.get(postgres.db, caller.brandId, params.id)),
  }),
  read({
    ...facts,
    id: 'get_data_request_file',
    path: '/v1/data-requests/{id}/file',
    summary: 'Download what is kept about a person',
    description:
      'The file of an `access`, for seven days: every row about the person, who else received any, and what is kept.',
    response: DataRequestFile,
    errors: ['NOT_FOUND'],
    handler: async (context, { caller: { brandId }, params }) => {
      const file = await readFile(context, context.postgres.db, brandId, params.id);
      if (file === undefined) throw notFound('file');
      return file;
    },
  }),
  act({
    ...facts,
    id: 'carry_out_data_request',
    path: '/v1/data-requests/{id}/carry-out',
    summary: 'Carry out a request that waits',
    description:
      'A request waits for you if money became due to the creator before it could be carried out. One that is done stays as it is.',
    body: z.object({ forfeit: Forfeit.optional() }).meta({ id: 'DataRequestCarryOut' }),
    item: DataRequest,
    errors: ['NOT_FOUND', 'MONEY_DUE', 'INVALID_STATE_TRANSITION'],
    hints: { destructive: true, idempotent: true },
    lookUp: async ({ secrets }) => secrets,
    apply: async (work, { params, body }, secrets) =>
      toDataRequest(await carryOut(work, secrets, params.id, body.forfeit ?? false)),
  }),
  act({
    ...facts,
    id: 'refuse_data_request',
    path: '/v1/data-requests/{id}/refuse',
    summary: 'Refuse a request that waits',
    description: 'Only one that is `open`. A creator who asked on their own page gets the reason by mail.',
    body: DataRequestRefusal,
    item: DataRequest,
    errors: ['NOT_FOUND', 'INVALID_STATE_TRANSITION'],
    apply: async (work, { params, body }) => toDataRequest(await refuseRequest(work, params.id, body.reason)),
  }),
  act({
    ...facts,
    id: 'open_data_request_books',
    path: '/v1/data-requests/{id}/books',
    callers: ['session'],
    summary: 'What bookkeeping kept of an erased creator',
    description:
      'Name, address, payment address and signed contracts of a creator whom you paid, sealed until `books_until`. The audit log keeps who opened it and why.',
    body: DataRequestOpening,
    item: Books,
    errors: ['NOT_FOUND'],
    lookUp: async ({ secrets }) => secrets,
    apply: async (work, { params, body }, secrets) => await openBooks(work, secrets, params.id, body.reason),
  }),
] as const;

export const dataRequestsNoun = noun({
  name: 'data-requests',
  tag: { name: tag, about: 'Erase what is kept about a person, or tell them what is kept.' },
  ids: { 'data-requests': 'drq' },
  operations: dataRequestOperations,
  jobs: [carryOutDataRequests, endDataRequests],
  mails: dataRequestMails,
});
