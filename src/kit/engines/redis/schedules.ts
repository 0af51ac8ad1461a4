import { Queue, Worker } from 'bullmq';
import { KEPT_FAILED, type QueueOptions, toConnection } from './queue.ts';

/** The queue that all schedules share; its jobs are named after theirs. */
export const SCHEDULES = 'schedules';

/** A schedule whose next run is overdue by this long is lost: its last run ended without scheduling the next. */
const LOST_AFTER_MS = 15_000;
/** A job with at least this interval is retried before its next run. */
const RARE_MS = 60_000;
const AGAIN = { attempts: 5, backoff: { type: 'exponential', delay: 10_000 } } as const;
/** Jobs that run concurrently in one worker. */
const AT_ONCE = 8;

export interface Schedule {
  name: string;
  everyMs: number;
}

export interface SchedulesOptions extends QueueOptions {
  run(name: string): Promise<void>;
  onError(error: Error): void;
}

export interface Schedules {
  /**
   * Creates the schedules that Redis lacks, such as after losing its data, and removes those that are no longer
   * declared.
   */
  keep(): Promise<void>;
  /** Accepts no more jobs and resolves when the running ones have ended. */
  close(): Promise<void>;
}

export function openSchedules(url: string, schedules: readonly Schedule[], options: SchedulesOptions): Schedules {
  const { run, onError, prefix } = options;
  const { close: closeAdding, ...adding } = toConnection(url, prefix, 1);
  const { close: closeRunning, ...connection } = toConnection(url, prefix);
  const queue = new Queue(SCHEDULES, adding);
  // Commands report failures themselves; an unhandled error event would end the process.
  queue.on('error', () => undefined);
  const running = new Set<string>();

  // If a run takes longer than its interval, the next one does not start in parallel.
  async function runOnce(name: string): Promise<void> {
    if (running.has(name)) return;
    running.add(name);
    try {
      await run(name);
    } finally {
      running.delete(name);
    }
  }

  const worker = new Worker(SCHEDULES, ({ name }) => runOnce(name), {
    ...connection,
    concurrency: AT_ONCE,
  });
  worker.on('error', onError);

  async function keep(): Promise<void> {
    const existing = new Map((await queue.getJobSchedulers()).map((one) => [one.key, one]));
    const lostBefore = Date.now() - LOST_AFTER_MS;
    for (const { name, everyMs } of schedules) {
      const scheduler = existing.get(name);
      existing.delete(name);
      if (scheduler?.every === everyMs && scheduler.next !== undefined && scheduler.next > lostBefore) continue;
      await queue.upsertJobScheduler(
        name,
        { every: everyMs },
        { name, opts: { removeOnComplete: true, removeOnFail: KEPT_FAILED, ...(everyMs < RARE_MS ? {} : AGAIN) } },
      );
    }
    for (const name of existing.keys()) await queue.removeJobScheduler(name);
  }

  return {
    keep,
    close: async () => {
      await Promise.all([worker.close(), queue.close()]);
      await Promise.all([closeAdding(), closeRunning()]);
    },
  };
}
