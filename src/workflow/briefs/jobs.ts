import { z } from 'zod';
import type { EventConsumer } from '../../kit/operation/noun.ts';
import { inTransaction } from '../../kit/operation/work.ts';
import { findDeliverable } from '../deliverables/queries.ts';
import { completeFinished } from './actions.ts';

/** Events after which a creator may owe nothing more. */
const ENDINGS: ReadonlySet<string> = new Set(['deliverable.approved', 'deliverable.declined', 'deliverable.cancelled']);
const Ended = z.object({ id: z.string() });

/** Completes briefs when their work is reviewed, by following the events of deliverables. */
export const briefConsumer: EventConsumer = {
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
