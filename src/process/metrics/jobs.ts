import { z } from 'zod';
import type { Redis } from '../../kit/engines/redis/open.ts';
import type { Clock } from '../../kit/values/clock.ts';
import type { Metrics } from '../../kit/values/metrics.ts';
import { openScraped } from './scraped.ts';

/**
 * Workers have no port, so their jobs' metrics are summed here, for any API process to expose. If a job is renamed,
 * change these keys: otherwise the old name would look like a job that no longer runs.
 */
const FIGURES = '{jobs}:runs';
/** Why the last run of a job failed; absent if it succeeded. */
const FAILURES = '{jobs}:failures';
const ADD = `
for i = 1, #ARGV, 6 do
  local job = ARGV[i]
  redis.call('HINCRBY', KEYS[1], job .. '|done', ARGV[i + 1])
  redis.call('HINCRBY', KEYS[1], job .. '|failed', ARGV[i + 2])
  redis.call('HINCRBYFLOAT', KEYS[1], job .. '|seconds', ARGV[i + 3])
  if ARGV[i + 4] ~= '' then redis.call('HSET', KEYS[1], job .. '|last', ARGV[i + 4]) end
  if ARGV[i + 5] ~= '' then redis.call('HSET', KEYS[2], job, ARGV[i + 5])
  elseif ARGV[i + 4] ~= '' then redis.call('HDEL', KEYS[2], job) end
end`;
const MAX_REASON = 500;

interface JobFigures {
  done: number;
  failed: number;
  seconds: number;
  lastDoneAtMs: number | undefined;
  /** The reason of the last run. */
  reason: string;
}

/** `error` is absent if the run succeeded. */
export interface Outcome {
  error?: unknown;
}

const toReason = (error: unknown): string =>
  (error instanceof Error ? error.message : String(error)).slice(0, MAX_REASON) || 'failed without a reason';

export interface JobRecorder {
  /** Records one pass of a job. */
  ran(job: string, outcome: Outcome, seconds: number): void;
  /** Adds what was recorded since the last report to the shared totals, in one command. */
  report(): Promise<void>;
}

export function openJobRecorder(redis: Redis, clock: Clock): JobRecorder {
  const add = redis.script(ADD);
  let unreportedFigures = new Map<string, JobFigures>();
  return {
    ran: (job, outcome, seconds) => {
      const isDone = !('error' in outcome);
      const figures = unreportedFigures.get(job) ?? {
        done: 0,
        failed: 0,
        seconds: 0,
        lastDoneAtMs: undefined,
        reason: '',
      };
      unreportedFigures.set(job, figures);
      figures[isDone ? 'done' : 'failed'] += 1;
      figures.seconds += seconds;
      figures.reason = isDone ? '' : toReason(outcome.error);
      if (isDone) figures.lastDoneAtMs = clock.now().getTime();
    },
    report: async () => {
      if (unreportedFigures.size === 0) return;
      const reportedFigures = unreportedFigures;
      unreportedFigures = new Map();
      const lines = [...reportedFigures].flatMap(([job, { done, failed, seconds, lastDoneAtMs, reason }]) => [
        ...[job, done, failed, seconds.toFixed(6), lastDoneAtMs === undefined ? '' : lastDoneAtMs / 1_000],
        reason,
      ]);
      await add([FIGURES, FAILURES], lines);
    },
  };
}

const Figures = z.record(z.string(), z.coerce.number());

export interface JobRun {
  lastDoneAt: Date | undefined;
  /** Why the last run failed; undefined if it succeeded. */
  reason: string | undefined;
}

/** Reads the runs of each job, by its name. */
export async function readJobRuns(redis: Redis): Promise<(name: string) => JobRun> {
  const [runs, reasons] = await redis.use((client) => Promise.all([client.hgetall(FIGURES), client.hgetall(FAILURES)]));
  return (name) => {
    const last = runs[`${name}|last`];
    return {
      lastDoneAt: last === undefined ? undefined : new Date(Number(last) * 1_000),
      reason: reasons[name],
    };
  };
}

/** Metrics of the jobs of all workers. */
export function meterJobs(metrics: Metrics, redis: Redis): void {
  const gauge = openScraped(metrics, async () => {
    const all = Figures.parse(await redis.use((client) => client.hgetall(FIGURES)));
    return Object.entries(all).map(([name, value]) => {
      const [job = '', what = ''] = name.split('|');
      return { job, what, value };
    });
  });
  gauge('rollcall_job_runs_total', 'Runs of a job in all workers.', ['job', 'outcome'], (one, figures) => {
    for (const { job, what, value } of figures) {
      if (what === 'done' || what === 'failed') one.set({ job, outcome: what }, value);
    }
  });
  gauge('rollcall_job_seconds_total', 'Duration of these runs.', ['job'], (one, figures) => {
    for (const { job, what, value } of figures) if (what === 'seconds') one.set({ job }, value);
  });
  gauge('rollcall_job_last_done_timestamp_seconds', 'When a run last succeeded.', ['job'], (one, figures) => {
    for (const { job, what, value } of figures) if (what === 'last') one.set({ job }, value);
  });
}
