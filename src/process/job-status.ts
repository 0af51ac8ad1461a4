import { type JobRun, readJobRuns } from '../api/job-metrics.ts';
import type { Redis } from '../engines/redis/open.ts';
import { type FailedJob, type QueueView, viewQueue } from '../engines/redis/queue-view.ts';
import { SCHEDULES } from '../engines/redis/schedules.ts';
import { CONSUMER_NAMES } from '../outbox/consumer-names.ts';
import { FOLLOWERS, PLANS, relayName, WORK } from './job-list.ts';

export interface JobStatus extends JobRun {
  name: string;
  /** Of periodic jobs. */
  everyMs: number | undefined;
  asksFor: string | undefined;
  nextAt: Date | undefined;
  waiting: number;
  /** When the oldest of those that wait should have begun. */
  waitingSince: Date | undefined;
  /** Those that can be retried. */
  failed: readonly FailedJob[];
}

export interface JobQueues {
  list(now: Date): Promise<JobStatus[]>;
  /** Runs a failed job again by its id, a periodic one now, or all failed jobs of a queue; returns how many. */
  retry(idOrName: string): Promise<number>;
}

const WORK_QUEUES = Object.values(WORK);
const FOLLOWING = [...FOLLOWERS.map(({ name }) => name), ...CONSUMER_NAMES.map(relayName)];
const NEVER_WAITING = {
  everyMs: undefined,
  asksFor: undefined,
  nextAt: undefined,
  waiting: 0,
  waitingSince: undefined,
};

export function openJobQueues(redis: Redis): JobQueues {
  const schedules = viewQueue(redis, SCHEDULES);
  const work = new Map<string, QueueView>(WORK_QUEUES.map((name) => [name, viewQueue(redis, name)]));

  async function listPlans(now: Date, runOf: (name: string) => JobRun): Promise<JobStatus[]> {
    const [nextRuns, failed] = await Promise.all([schedules.nextRuns(), schedules.listFailed()]);
    return PLANS.map(({ name, everyMs, asksFor }) => {
      const nextAt = nextRuns.get(name);
      const isLate = nextAt !== undefined && nextAt < now;
      return {
        ...{ name, everyMs, asksFor, nextAt, ...runOf(name) },
        ...{ waiting: isLate ? 1 : 0, waitingSince: isLate ? nextAt : undefined },
        failed: failed.filter((job) => job.name === name),
      };
    });
  }

  async function listWork(runOf: (name: string) => JobRun): Promise<JobStatus[]> {
    return await Promise.all(
      [...work].map(async ([name, view]) => {
        const [{ count, since }, failed] = await Promise.all([view.waiting(), view.listFailed()]);
        return { ...NEVER_WAITING, name, ...runOf(name), waiting: count, waitingSince: since, failed };
      }),
    );
  }

  async function retryFailed(view: QueueView): Promise<number> {
    let retried = 0;
    for (const { id } of await view.listFailed()) if (await view.retry(id)) retried += 1;
    return retried;
  }

  return {
    list: async (now) => {
      const runOf = await readJobRuns(redis);
      const followers = FOLLOWING.map((name) => ({ ...NEVER_WAITING, name, ...runOf(name), failed: [] }));
      return [...(await listPlans(now, runOf)), ...(await listWork(runOf)), ...followers];
    },
    retry: async (idOrName) => {
      const named = work.get(idOrName);
      if (named) return await retryFailed(named);
      if (PLANS.some(({ name }) => name === idOrName)) {
        await schedules.runNow(idOrName);
        return 1;
      }
      for (const view of [schedules, ...work.values()]) if (await view.retry(idOrName)) return 1;
      return 0;
    },
  };
}
