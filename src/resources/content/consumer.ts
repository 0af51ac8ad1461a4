import { z } from 'zod';
import type { Db } from '../../engines/postgres/open.ts';
import type { Context } from '../../operation/context.ts';
import type { EventConsumer } from '../../operation/noun.ts';
import { inTransaction } from '../../operation/work.ts';
import type { OutboxEvent } from '../../outbox/relay.ts';
import { ApiError } from '../../values/errors.ts';
import { findDeliverable } from '../deliverables/queries.ts';
import { type FoundPost, trackContent } from './actions.ts';
import { readPostAddress } from './post-address.ts';
import { followPosts } from './rights-actions.ts';
import { insertShortLink } from './rights-queries.ts';
import { resolvePost } from './short-links.ts';

const Approved = z.object({ id: z.string() });
/** An approval, and the wish to follow what was approved before. */
const ASKING: ReadonlySet<string> = new Set(['deliverable.approved', 'deliverable.track_requested']);

type Deliverable = NonNullable<Awaited<ReturnType<typeof findDeliverable>>>;

/** Of work that is approved after its contract's first post was read. */
async function endRights({ clock }: Pick<Context, 'clock'>, db: Db, { brandId, contractId }: Deliverable) {
  if (!contractId) return;
  const actor = { brandId, keyId: null, operation: 'track_deliverable', requestId: null };
  await inTransaction(db, clock, actor, (inside) => followPosts(inside, contractId));
}

/** Tracks the post. A post that cannot be tracked is skipped, and one that is tracked already does not change. */
async function track({ clock, log }: Pick<Context, 'clock' | 'log'>, db: Db, work: Deliverable, post: FoundPost) {
  const { brandId, creatorEmail: creator_email, campaignId: campaign_id } = work;
  const actor = { brandId, keyId: null, operation: 'track_deliverable', requestId: null };
  try {
    await inTransaction(db, clock, actor, (inside) => trackContent(inside, { post, creator_email, campaign_id }));
  } catch (error) {
    // Refused before anything was written, so the transaction goes on.
    if (!(error instanceof ApiError) || error.status >= 500) throw error;
    log.info({ deliverableId: work.id, code: error.code }, 'an approved post is not followed');
  }
}

async function follow(context: Context, db: Db, { brandId, event, data }: OutboxEvent): Promise<void> {
  const work = await findDeliverable(db, brandId, Approved.parse(data).id);
  if (!work) return;
  if (work.contentUrl !== null) {
    const post = await resolvePost(context.config, work.contentUrl);
    const given = readPostAddress(work.contentUrl);
    if (typeof post !== 'string' && typeof given !== 'string' && given.isShort)
      await insertShortLink(db, { brandId, shortKey: given.key, canonicalKey: post.key });
    if (work.track) await track(context, db, work, post);
  }
  if (event === 'deliverable.approved') await endRights(context, db, work);
}

/** Follows the posts of approved deliverables, where the brand requested it, and ends rights that count from them. */
export const contentConsumer: EventConsumer = {
  name: 'content',
  open: (context) => async (events, db) => {
    for (const event of events) if (ASKING.has(event.event)) await follow(context, db, event);
  },
};
