import { z } from 'zod';
import { act, create, get, list, patch, write } from '../../kit/operation/kit.ts';
import { type EventConsumer, noun } from '../../kit/operation/noun.ts';
import { inTransaction } from '../../kit/operation/work.ts';
import { findDeliverable } from '../deliverables/deliverables.ts';
import { briefMails } from './briefs.mails.ts';
import {
  Brief,
  BriefAct,
  BriefCreate,
  BriefDeleted,
  BriefDetail,
  BriefFilter,
  BriefPatch,
  BriefSaved,
  BriefSent,
  toBrief,
  toBriefDetail,
} from './briefs.shapes.ts';
import {
  briefs,
  completeFinished,
  createBrief,
  duplicateBrief,
  getBrief,
  listRecipients,
  patchBrief,
  removeBrief,
  sendBrief,
} from './briefs.ts';

const tag = 'Briefs';

const briefOperations = [
  list({
    id: 'list_briefs',
    path: '/v1/briefs',
    tag,
    summary: 'List briefs',
    description: 'Newest first.',
    query: BriefFilter,
    item: Brief,
    rows: briefs,
    itemOf: toBrief,
  }),
  create({
    id: 'create_brief',
    path: '/v1/briefs',
    tag,
    summary: 'Write a brief, and send it if requested',
    description: 'Creates a draft; with `send_notification` it is sent to `creator_email` right away.',
    forAgents: {
      example: { title: 'Summer launch', creator_email: 'ana@example.com', instructions: 'Show it outdoors.' },
    },
    body: BriefCreate,
    item: BriefSaved,
    apply: async (work, { body }) => toBrief(await createBrief(work, body)),
  }),
  get({
    id: 'get_brief',
    path: '/v1/briefs/{id}',
    tag,
    summary: 'Get a brief',
    description: 'Includes its recipients and when each first opened it.',
    item: BriefDetail,
    find: async ({ postgres: { db } }, { caller: { brandId }, params }) => {
      const row = await getBrief(db, brandId, params.id);
      return toBriefDetail(row, await listRecipients(db, brandId, row.id));
    },
  }),
  act({
    id: 'send_brief',
    path: '/v1/briefs/{id}',
    tag,
    summary: 'Send a brief, or duplicate it',
    description:
      '`send` emails it to `recipients`, or to its creator, and skips those who already have it. `duplicate` returns a new ' +
      'draft with the same content.',
    body: BriefAct,
    item: z.union([BriefSent, Brief]),
    errors: ['NOT_FOUND', 'INVALID_STATE_TRANSITION'],
    apply: async (work, { params, body: { action, recipients } }) => {
      if (action === 'duplicate') return toBrief(await duplicateBrief(work, params.id));
      const emails = recipients?.map(({ email }) => email);
      return await sendBrief(work, params.id, emails);
    },
  }),
  patch({
    id: 'update_brief',
    path: '/v1/briefs/{id}',
    tag,
    summary: 'Change a brief, or complete it',
    description: 'Only the fields that you send change; null clears one. Recipients always see the current text.',
    forAgents: {
      description: 'Recipients always see the current text.',
      example: { id: 'brf_…', due_date: '2030-06-30' },
    },
    body: BriefPatch,
    item: Brief,
    errors: ['NOT_FOUND', 'INVALID_STATE_TRANSITION'],
    apply: async (work, { params, body }) => toBrief(await patchBrief(work, params.id, body)),
  }),
  write({
    id: 'delete_brief',
    method: 'DELETE',
    path: '/v1/briefs/{id}',
    tag,
    summary: 'Delete a draft',
    description: 'A brief that was sent cannot be deleted: 409.',
    forAgents: { description: 'A brief that was sent cannot be deleted.' },
    response: BriefDeleted,
    errors: ['NOT_FOUND', 'INVALID_STATE_TRANSITION'],
    hints: { idempotent: true, destructive: true },
    apply: async (work, { params }) => {
      await removeBrief(work, params.id);
      return { deleted: true as const, id: params.id };
    },
  }),
] as const;

/** Events after which a creator may owe nothing more. */
const ENDINGS: ReadonlySet<string> = new Set(['deliverable.approved', 'deliverable.declined', 'deliverable.cancelled']);
const Ended = z.object({ id: z.string() });

/** Completes briefs when their work is reviewed, by following the events of deliverables. */
const briefConsumer: EventConsumer = {
  name: 'briefs',
  open:
    ({ clock }) =>
    async (events, db) => {
      for (const { event, brandId, data } of events) {
        if (!ENDINGS.has(event)) continue;
        const { campaignId, creatorId } = (await findDeliverable(db, brandId, Ended.parse(data).id)) ?? {};
        if (campaignId === null || campaignId === undefined || creatorId === undefined) continue;
        const actor = { brandId, keyId: null, operation: 'complete_brief', requestId: null };
        await inTransaction(db, clock, actor, (work) => completeFinished(work, { campaignId, creatorId }));
      }
    },
};

export const briefsNoun = noun({
  name: 'briefs',
  tag: {
    name: 'Briefs',
    about: 'Instructions for creators, sent by mail.',
  },
  ids: { briefs: 'brf' },
  operations: briefOperations,
  consumers: [briefConsumer],
  mails: briefMails,
});
