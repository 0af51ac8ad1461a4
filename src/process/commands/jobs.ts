import type { Command } from 'commander';
import type { JobStatus } from '../job-status.ts';
import { filled } from './arguments.ts';
import { around } from './around.ts';
import { type CommandEngines, withEngines } from './open.ts';
import { jsonOption, printList } from './table.ts';

const COLUMNS = [
  'name',
  'schedule',
  'last_done_at',
  'next_at',
  'waiting',
  'waiting_seconds',
  'failed',
  'reason',
  'asks_for',
] as const;
const FAILED_COLUMNS = ['id', 'name', 'reason'] as const;

const SECOND_MS = 1_000;

function toItem(
  { name, everyMs, asksFor, lastDoneAt, nextAt, waiting, waitingSince, failed, reason }: JobStatus,
  now: Date,
) {
  return {
    name,
    schedule: everyMs === undefined ? null : `every ${everyMs / SECOND_MS} s`,
    last_done_at: lastDoneAt?.toISOString() ?? null,
    next_at: nextAt?.toISOString() ?? null,
    waiting,
    waiting_seconds: waitingSince ? Math.round((now.getTime() - waitingSince.getTime()) / SECOND_MS) : null,
    failed: failed.length,
    reason: reason ?? failed[0]?.reason ?? null,
    asks_for: asksFor ?? null,
  };
}

/** Loaded only when needed, because it imports every noun: help and wrong arguments do not wait for that. */
async function openQueues({ redis }: CommandEngines) {
  const { openJobQueues } = await import('../job-status.ts');
  return openJobQueues(redis);
}

export function jobCommands(program: Command): void {
  const jobs = program.command('jobs').description('background work: scheduled, waiting and failed jobs, with reasons');
  jobs
    .command('list')
    .description(
      'every job: schedule, last and next run, how many runs wait and for how long, failures that can be retried',
    )
    .option('--failed', 'list each failed job with its id')
    .addOption(jsonOption())
    .action((options: { failed?: true; json?: boolean }) =>
      withEngines(async (engines) => {
        const now = new Date();
        const queuedJobs = await (await openQueues(engines)).list(now);
        if (options.failed) {
          const failedJobs = queuedJobs.flatMap((job) =>
            job.failed.map(({ id, reason }) => ({ id, name: job.name, reason })),
          );
          printList(FAILED_COLUMNS, failedJobs, options.json);
        } else
          printList(
            COLUMNS,
            queuedJobs.map((job) => toItem(job, now)),
            options.json,
          );
      }),
    );
  jobs
    .command('retry')
    .description('retry a failed job or all failed jobs of a queue, or run a scheduled job now')
    .argument('<id or name>', 'as `jobs list` shows them', filled)
    .action((idOrName: string) =>
      withEngines(async (engines) => {
        const retriedCount = await (await openQueues(engines)).retry(idOrName);
        if (retriedCount === 0)
          throw new Error(`No failed job ${JSON.stringify(idOrName)}; see \`jobs list --failed\`.`);
        around().err.write(`${retriedCount} ${retriedCount === 1 ? 'job runs' : 'jobs run'} again.\n`);
      }),
    );
}
