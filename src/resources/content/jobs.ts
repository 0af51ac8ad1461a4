import { type JobQueue, type JobWorker, openQueue, openWorker, type RunOptions } from '../../engines/redis/queue.ts';
import type { Context } from '../../operation/context.ts';
import type { QueuedWork } from '../../operation/job.ts';
import { inWork } from '../../operation/work.ts';
import { endRefresh } from './actions.ts';
import { claimDuePosts, endInterrupted, findPost, listRefreshing } from './due-queries.ts';
import { readPost } from './provider.ts';

const REFRESHES = 'content-refresh';
const AT_ONCE = 100;
/** A refresh that takes this long has lost its worker. */
const LOST_AFTER_MS = 120_000;
const AGAIN_AFTER_MS = 600_000;

async function read(context: Context, post: { platform: string; url: string }) {
  const { config, failures } = context;
  if (config.contentProviderUrl === undefined) return 'no_provider';
  try {
    return (await readPost(config, config.contentProviderUrl, post)) ?? 'gone';
  } catch (error) {
    failures.failed('reading a post', error, { platform: post.platform });
    return 'unavailable';
  }
}

/** Reads one post that is being refreshed. A second run finds it refreshed, and does nothing. */
async function refreshPost(context: Context, id: string): Promise<void> {
  const { postgres, clock } = context;
  const post = await findPost(postgres.db, id);
  if (post?.status !== 'refreshing') return;
  const reading = await read(context, post);
  const actor = { brandId: post.brandId, keyId: null, operation: 'refresh_content', requestId: null };
  await inWork(postgres.db, clock, actor, (work) => endRefresh(work, id, reading));
}

/** Claims due posts, ends lost refreshes, and creates a job for every post that is being refreshed. */
async function sweepRefreshes({ postgres, clock }: Context, queue: JobQueue): Promise<void> {
  const now = clock.now();
  const [lostBefore, again] = [now.getTime() - LOST_AFTER_MS, now.getTime() + AGAIN_AFTER_MS];
  await endInterrupted(postgres.db, new Date(lostBefore), new Date(again));
  while ((await claimDuePosts(postgres.db, now, AT_ONCE)).length === AT_ONCE);
  for (const { id } of await listRefreshing(postgres.db, AT_ONCE)) await queue.add(id);
}

export interface ContentRefreshes {
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
    sweep: () => sweepRefreshes(context, queue),
    close: async () => void (await Promise.all([worker.close(), queue.close()])),
  };
}

/** Reads the metrics of tracked posts again. */
export const refreshWork: QueuedWork = {
  queue: REFRESHES,
  sweep: { name: 'sweep-content', everyMs: 2_000, asksFor: 'posts whose metrics are due to be read again' },
  start: startContentRefreshes,
};
