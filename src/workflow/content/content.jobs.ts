import { z } from 'zod';
import type { Db } from '../../kit/engines/postgres/open.ts';
import { type JobWorker, openQueue, openWorker, type RunOptions } from '../../kit/engines/redis/queue.ts';
import type { Context } from '../../kit/operation/context.ts';
import type { QueuedWork } from '../../kit/operation/job.ts';
import type { EventConsumer } from '../../kit/operation/noun.ts';
import { inTransaction, inWork } from '../../kit/operation/work.ts';
import type { OutboxEvent } from '../../kit/outbox/relay.ts';
import { ApiError } from '../../kit/values/errors.ts';
import { findDeliverable } from '../deliverables/deliverables.ts';
import {
  claimDuePosts,
  endInterrupted,
  endRefresh,
  findPost,
  followPosts,
  insertShortLink,
  listRefreshing,
  listRefreshingAt,
  type ResolvedPost,
  resolvePost,
  trackContent,
} from './content.ts';
import { readPostAddress } from './posts.ts';
import { readPost, readVideos, VIDEOS_AT_ONCE } from './readings.ts';

const REFRESHES = 'content-refresh';
const AT_ONCE = 100;
/** A refresh that takes this long has lost its worker. */
const LOST_AFTER_MS = 120_000;
const AGAIN_AFTER_MS = 600_000;

type RefreshingPost = NonNullable<Awaited<ReturnType<typeof findPost>>>;
type RefreshReading = Parameters<typeof endRefresh>[2];

const YOUTUBE = 'youtube.com';
const toVideoId = (canonicalKey: string): string => canonicalKey.slice(YOUTUBE.length + 1);

async function readFromProvider(
  { config, failures }: Context,
  post: { platform: string; url: string },
): Promise<RefreshReading> {
  if (config.contentProviderUrl === undefined) return 'no_provider';
  try {
    return (await readPost(config, config.contentProviderUrl, post)) ?? 'gone';
  } catch (error) {
    failures.failed('reading a post', error, { platform: post.platform });
    return 'unavailable';
  }
}

/** Reads the video together with others that are being refreshed, because YouTube limits the calls per day. */
async function readWithOthers({ config, postgres, failures }: Context, post: RefreshingPost) {
  const videos = [post, ...(await listRefreshingAt(postgres.db, YOUTUBE, post.id, VIDEOS_AT_ONCE - 1))];
  const ids = videos.map(({ canonicalKey }) => toVideoId(canonicalKey));
  const readings = await readVideos(config, ids).catch((error: unknown) => {
    failures.failed('reading videos', error, { videos: ids.length });
  });
  return videos.map((video) => {
    const reading: RefreshReading = readings ? (readings.get(toVideoId(video.canonicalKey)) ?? 'gone') : 'unavailable';
    return { post: video, reading };
  });
}

/** Reads one post that is being refreshed. A second run finds it refreshed, and does nothing. */
async function refreshPost(context: Context, id: string): Promise<void> {
  const { postgres, clock } = context;
  const duePost = await findPost(postgres.db, id);
  if (duePost?.status !== 'refreshing') return;
  const isVideo = context.config.youtubeApiKey !== undefined && duePost.canonicalKey.startsWith(`${YOUTUBE}:`);
  const readings = isVideo
    ? await readWithOthers(context, duePost)
    : [{ post: duePost, reading: await readFromProvider(context, duePost) }];
  for (const { post, reading } of readings) {
    const actor = { brandId: post.brandId, keyId: null, operation: 'refresh_content', requestId: null };
    await inWork(postgres.db, clock, actor, (work) => endRefresh(work, post.id, reading));
  }
}

export interface ContentRefreshes {
  /** Claims due posts, ends lost refreshes, and creates a job for every post that is being refreshed. */
  sweep(): Promise<void>;
  close(): Promise<void>;
}

export function startContentRefreshes(context: Context, redisUrl: string, options: RunOptions = {}): ContentRefreshes {
  const queue = openQueue(redisUrl, REFRESHES, options);
  const worker: JobWorker = openWorker(redisUrl, REFRESHES, (id) => refreshPost(context, id), {
    ...options,
    lostAfterMs: context.config.workerLostAfterMs,
    onError: (error) => context.failures.failed('refreshing a post', error),
  });
  return {
    sweep: async () => {
      const { postgres, clock } = context;
      const now = clock.now();
      const [lostBefore, again] = [now.getTime() - LOST_AFTER_MS, now.getTime() + AGAIN_AFTER_MS];
      await endInterrupted(postgres.db, new Date(lostBefore), new Date(again));
      while ((await claimDuePosts(postgres.db, now, AT_ONCE)).length === AT_ONCE);
      for (const { id } of await listRefreshing(postgres.db, AT_ONCE)) await queue.add(id);
    },
    close: async () => void (await Promise.all([worker.close(), queue.close()])),
  };
}

/** Reads the metrics of tracked posts again. */
export const refreshWork: QueuedWork = {
  queue: REFRESHES,
  sweep: { name: 'sweep-content', everyMs: 2_000, asksFor: 'posts whose metrics are due to be read again' },
  start: startContentRefreshes,
};

const Approved = z.object({ id: z.string() });
/** Events after which a post may have to be tracked: an approval, or a request to track after the approval. */
const TRACKING_EVENTS: ReadonlySet<string> = new Set(['deliverable.approved', 'deliverable.track_requested']);

type ContentDeliverable = NonNullable<Awaited<ReturnType<typeof findDeliverable>>>;

/** Sets the end of rights for work that was approved after its contract's first post was read. */
async function endRights({ clock }: Pick<Context, 'clock'>, db: Db, { brandId, contractId }: ContentDeliverable) {
  if (!contractId) return;
  const actor = { brandId, keyId: null, operation: 'track_deliverable', requestId: null };
  await inTransaction(db, clock, actor, (inside) => followPosts(inside, contractId));
}

/** Tracks the post. A post that cannot be tracked is skipped, and one that is tracked already does not change. */
async function track(
  { clock, log }: Pick<Context, 'clock' | 'log'>,
  db: Db,
  work: ContentDeliverable,
  post: ResolvedPost,
) {
  const { brandId, creatorEmail: creator_email, campaignId: campaign_id } = work;
  const actor = { brandId, keyId: null, operation: 'track_deliverable', requestId: null };
  try {
    await inTransaction(db, clock, actor, (inside) => trackContent(inside, { post, creator_email, campaign_id }));
  } catch (error) {
    // Thrown before anything was written, so the transaction can continue.
    if (!(error instanceof ApiError) || error.status >= 500) throw error;
    log.info({ deliverableId: work.id, code: error.code }, 'an approved post is not tracked');
  }
}

async function trackDeliverable(context: Context, db: Db, { brandId, event, data }: OutboxEvent): Promise<void> {
  const work = await findDeliverable(db, brandId, Approved.parse(data).id);
  if (!work) return;
  if (work.contentUrl !== null) {
    const post = await resolvePost(context.config, work.contentUrl);
    const address = readPostAddress(work.contentUrl);
    if (typeof post !== 'string' && typeof address !== 'string' && address.isShort)
      await insertShortLink(db, { brandId, shortKey: address.key, canonicalKey: post.key });
    if (work.track) await track(context, db, work, post);
  }
  if (event === 'deliverable.approved') await endRights(context, db, work);
}

/**
 * Tracks the posts of approved deliverables if the brand requested it, and sets the end of rights that count from them.
 */
export const contentConsumer: EventConsumer = {
  name: 'content',
  open: (context) => async (events, db) => {
    for (const event of events) if (TRACKING_EVENTS.has(event.event)) await trackDeliverable(context, db, event);
  },
};
