import { CONSUMER_NAMES } from '../interfaces/nouns.ts';
import type { Redis } from '../kit/engines/redis/open.ts';
import { type FailedJob, type QueueView, viewQueue } from '../kit/engines/redis/queue-view.ts';
import { SCHEDULES } from '../kit/engines/redis/schedules.ts';
import { FOLLOWERS, PLANS, relayName, WORK } from './job-list.ts';
import { type JobRun, readJobRuns } from './metrics/jobs.ts';

/** Runs that are due but have not started. */
export interface Backlog {
  name: string;
  waiting: number;
  /** The due time of the oldest of them. */
  waitingSince: Date | undefined;
  /** For a scheduled job only. */
  nextAt: Date | undefined;
}

export interface JobStatus extends Backlog, JobRun {
  /** For a scheduled job only. */
  everyMs: number | undefined;
  asksFor: string | undefined;
  /** Failed jobs that can be retried. */
  failed: readonly FailedJob[];
}

export interface JobQueues {
  /** The backlog of each scheduled job and each queue. */
  listBacklogs(now: Date): Promise<Backlog[]>;
  /** All jobs, including followers. */
  list(now: Date): Promise<JobStatus[]>;
  /** Retries a failed job by its id or all failed jobs of a queue, or runs a scheduled job now; returns how many. */
  retry(idOrName: string): Promise<number>;
}

const FOLLOWING = [...FOLLOWERS.map(({ name }) => name), ...CONSUMER_NAMES.map(relayName)];

export function openJobQueues(redis: Redis): JobQueues {
  const schedules = viewQueue(redis, SCHEDULES);
  const work = new Map<string, QueueView>(WORK.map(({ queue }) => [queue, viewQueue(redis, queue)]));
  const all = [schedules, ...work.values()];

  async function listBacklogs(now: Date): Promise<Backlog[]> {
    const nextRuns = await schedules.nextRuns();
    const scheduledBacklogs = PLANS.map(({ name }) => {
      const nextAt = nextRuns.get(name);
      const waitingSince = nextAt !== undefined && nextAt < now ? nextAt : undefined;
      return { name, nextAt, waiting: waitingSince ? 1 : 0, waitingSince };
    });
    const queuedBacklogs = [...work].map(async ([name, view]) => {
      const { count, since } = await view.waiting();
      return { name, nextAt: undefined, waiting: count, waitingSince: since };
    });
    return [...scheduledBacklogs, ...(await Promise.all(queuedBacklogs))];
  }

  async function retryFailed(view: QueueView): Promise<number> {
    let retriedCount = 0;
    for (const { id } of await view.listFailed()) if (await view.retry(id)) retriedCount += 1;
    return retriedCount;
  }

  return {
    listBacklogs,
    list: async (now) => {
      const [backlogs, runOf, failedJobs] = await Promise.all([
        listBacklogs(now),
        readJobRuns(redis),
        Promise.all(all.map((view) => view.listFailed())),
      ]);
      const followers = FOLLOWING.map((name) => ({ name, nextAt: undefined, waiting: 0, waitingSince: undefined }));
      return [...backlogs, ...followers].map((backlog) => {
        const plan = PLANS.find(({ name }) => name === backlog.name);
        return {
          ...backlog,
          ...runOf(backlog.name),
          everyMs: plan?.everyMs,
          asksFor: plan?.asksFor,
          failed: failedJobs.flat().filter(({ name }) => name === backlog.name),
        };
      });
    },
    retry: async (idOrName) => {
      const namedQueue = work.get(idOrName);
      if (namedQueue) return await retryFailed(namedQueue);
      if (PLANS.some(({ name }) => name === idOrName)) {
        await schedules.runNow(idOrName);
        return 1;
      }
      for (const view of all) if (await view.retry(idOrName)) return 1;
      return 0;
    },
  };
}
