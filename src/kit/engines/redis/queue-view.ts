import { type Job, Queue } from 'bullmq';
import type { Redis } from './open.ts';
import { type QueueOptions, toPrefix } from './queue.ts';

export interface FailedJob {
  id: string;
  name: string;
  reason: string;
}

export interface QueueView {
  /** Jobs that no worker has started, and how long the oldest has been waiting. */
  waiting(): Promise<{ count: number; since: Date | undefined }>;
  /** Failed jobs, newest first. */
  listFailed(): Promise<FailedJob[]>;
  /** The next run of each schedule, by its name. */
  nextRuns(): Promise<Map<string, Date>>;
  /** Retries a failed job; false if no failed job has this id. */
  retry(id: string): Promise<boolean>;
  /** Runs a schedule once now, in addition to its regular runs. */
  runNow(name: string): Promise<void>;
}

/** A queue as operators see it, over a shared connection. */
export function viewQueue({ client, use }: Redis, name: string, options: QueueOptions = {}): QueueView {
  const prefix = toPrefix(client.isCluster, options.prefix);
  const queue = new Queue(name, { connection: client, skipVersionCheck: true, prefix });
  queue.on('error', () => undefined);
  return {
    waiting: () =>
      use(async () => {
        const [count, [oldest]] = await Promise.all([queue.getWaitingCount(), queue.getWaiting(0, 0)]);
        return { count, since: oldest && new Date(oldest.timestamp) };
      }),
    listFailed: () =>
      use(async () =>
        (await queue.getFailed()).map(
          ({ id = '', name, failedReason }: Job): FailedJob => ({ id, name, reason: failedReason ?? '' }),
        ),
      ),
    nextRuns: () =>
      use(async () => {
        const schedules = await queue.getJobSchedulers();
        return new Map(schedules.flatMap(({ key, next }) => (next === undefined ? [] : [[key, new Date(next)]])));
      }),
    retry: (id) =>
      use(async () => {
        const job = await queue.getJob(id);
        if (!job || !(await job.isFailed())) return false;
        await job.retry();
        return true;
      }),
    runNow: (job) => use(async () => void (await queue.add(job, {}, { removeOnComplete: true, removeOnFail: true }))),
  };
}
