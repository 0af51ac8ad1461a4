import { openQueue, openWorker, type RunOptions } from '../../kit/engines/redis/queue.ts';
import type { Context } from '../../kit/operation/context.ts';
import type { Job, QueuedWork } from '../../kit/operation/job.ts';
import { inWork } from '../../kit/operation/work.ts';
import { ApiError, ignoreFailure } from '../../kit/values/errors.ts';
import { randomBase62 } from '../../kit/values/ids.ts';
import { FILES_KEPT_MS, getRetryDelayMs, toStorageKey } from './job-files.ts';
import {
  type ClaimedJob,
  claimTurn,
  deleteFiles,
  endTurn,
  getKind,
  insertFile,
  JobFailure,
  type JobKind,
  listDueIds,
  listFiles,
  listWithExpiredFiles,
  renewTurn,
  type TurnOutcome,
} from './jobs.ts';

const TURNS = 'job-turns';
const AT_ONCE = 50;
/** Renewals of a turn within the time after which it counts as lost. */
const RENEWALS = 3;

const INTERNAL_FAILURE = 'Something went wrong on our side. Start the job again; if it fails again, tell us its id.';

const later = ({ clock }: Context, ms: number) => new Date(clock.now().getTime() + ms);
const toActor = ({ brandId }: ClaimedJob) => ({ brandId, keyId: null, operation: 'run_job', requestId: null });

/** Stores the outcome of a turn; false if the job was cancelled, or another worker took it over. */
async function saveOutcome(context: Context, job: ClaimedJob, kind: JobKind, outcome: TurnOutcome): Promise<boolean> {
  const { postgres, clock } = context;
  return await inWork(postgres.db, clock, toActor(job), async (work) => {
    const { now } = work;
    if ('waitMs' in outcome) {
      const dueAt = later(context, outcome.waitMs);
      const wait = { status: 'running', dueAt, updatedAt: now, rows: job.rows, failures: job.failures } as const;
      const cursor = outcome.cursor === undefined ? {} : { cursor: JSON.stringify(outcome.cursor) };
      return (await endTurn(work.db, job, { ...wait, ...cursor })) !== undefined;
    }
    const { cursor, rows, totalRows, result, file, isDone } = outcome;
    const row = await endTurn(work.db, job, {
      rows,
      failures: 0,
      cursor: JSON.stringify(cursor),
      dueAt: now,
      updatedAt: now,
      ...(totalRows === undefined ? {} : { totalRows }),
      ...(result === undefined ? {} : { result: JSON.stringify(result) }),
      ...(isDone
        ? { status: 'done' as const, endedAt: now, filesEndAt: new Date(now.getTime() + FILES_KEPT_MS) }
        : { status: 'running' as const }),
    });
    if (!row) return false;
    if (file) await insertFile(work.db, { ...file, jobId: job.id, brandId: job.brandId, createdAt: now });
    if (isDone) await kind.ended?.(work, row);
    return true;
  });
}

/** Schedules another attempt, because the failure may be an outage; after the last one the job has failed. */
async function recordFailure(context: Context, job: ClaimedJob, kind: JobKind, error: unknown): Promise<void> {
  const { postgres, clock, failures: repeated } = context;
  const failures = job.failures + 1;
  const waitMs = error instanceof JobFailure ? undefined : getRetryDelayMs(failures);
  if (!(error instanceof JobFailure)) repeated.failed('running a job', error, { job: job.id, brandId: job.brandId });
  await inWork(postgres.db, clock, toActor(job), async (work) => {
    const { now } = work;
    const counters = { rows: job.rows, failures, updatedAt: now };
    if (waitMs !== undefined) {
      await endTurn(work.db, job, { ...counters, status: 'running', dueAt: later(context, waitMs) });
      return;
    }
    const message = error instanceof JobFailure || error instanceof ApiError ? error.message : INTERNAL_FAILURE;
    const failure = { status: 'failed', error: message, dueAt: now, endedAt: now, filesEndAt: now } as const;
    const row = await endTurn(work.db, job, { ...counters, ...failure });
    if (row) await kind.failed?.(work, row);
  });
}

async function runTurn(context: Context, job: ClaimedJob, closing: AbortSignal): Promise<void> {
  const { postgres, clock, config, files } = context;
  const kind = getKind(job.kind);
  const takenOver = new AbortController();
  const signal = AbortSignal.any([takenOver.signal, closing]);
  const progress = { seenRows: job.rows };
  const renewing = setInterval(() => {
    renewTurn(postgres.db, job, { dueAt: later(context, config.workerLostAfterMs), ...progress }).then(
      (isOurs) => isOurs || takenOver.abort(),
      ignoreFailure('another worker takes the turn if it cannot be renewed in time'),
    );
  }, config.workerLostAfterMs / RENEWALS);
  let outcome: TurnOutcome | undefined;
  try {
    if (job.lostClaims.length > 0) {
      // Partial files of turns whose worker died while it wrote.
      const nextNumber = (await listFiles(postgres.db, job)).length + 1;
      for (const claim of job.lostClaims) await files.remove(toStorageKey(job.id, nextNumber, claim));
    }
    outcome = await kind.run(context, job, {
      signal,
      note: (rows) => void Object.assign(progress, { seenRows: rows }),
    });
    signal.throwIfAborted();
    const isKept = await saveOutcome(context, job, kind, outcome);
    if (isKept) return;
    takenOver.abort();
    signal.throwIfAborted();
  } catch (error) {
    if (!takenOver.signal.aborted) {
      if (closing.aborted) {
        const back = { status: 'running', dueAt: clock.now(), updatedAt: clock.now() } as const;
        await endTurn(postgres.db, job, { ...back, rows: job.rows, failures: job.failures });
      } else await recordFailure(context, job, kind, error);
    }
    const fileKey = outcome && 'file' in outcome ? outcome.file?.storageKey : undefined;
    if (fileKey) {
      // Keeps the file if its row was committed, which is unknown if the answer to the commit was lost.
      const savedFiles = await listFiles(postgres.db, job);
      if (savedFiles.some(({ storageKey }) => storageKey === fileKey)) return;
      await files.remove(fileKey).catch(ignoreFailure('the file ends with its job'));
    }
  } finally {
    clearInterval(renewing);
  }
}

/** Runs the next turn of any job; false if none is due. */
export async function takeTurn(context: Context, closing: AbortSignal = context.stopping.signal): Promise<boolean> {
  const until = later(context, context.config.workerLostAfterMs);
  const job = await claimTurn(context.postgres.db, context.clock.now(), until, randomBase62(12));
  if (!job) return false;
  await runTurn(context, job, closing);
  return true;
}

function startTurns(context: Context, redisUrl: string, options: RunOptions) {
  const { postgres, clock, config, failures, stopping } = context;
  const closing = new AbortController();
  const signal = AbortSignal.any([closing.signal, stopping.signal]);
  const queue = openQueue(redisUrl, TURNS, options);
  const run = async () => {
    while (!signal.aborted && (await takeTurn(context, signal)));
  };
  const worker = openWorker(redisUrl, TURNS, run, {
    ...options,
    lostAfterMs: config.workerLostAfterMs,
    onError: (error) => failures.failed('waiting for jobs', error),
  });
  return {
    sweep: async () => {
      for (const id of await listDueIds(postgres.db, clock.now(), AT_ONCE)) await queue.add(id);
    },
    close: async () => {
      closing.abort();
      await Promise.all([worker.close(), queue.close()]);
    },
  };
}

/** Runs jobs turn by turn. Whichever row woke the worker, the next turn is of the brand that has waited longest. */
export const turnWork: QueuedWork = {
  queue: TURNS,
  sweep: { name: 'sweep-jobs', everyMs: 1_000, asksFor: 'jobs that have a turn' },
  start: startTurns,
};

/** Removes the files of jobs that ended 7 days ago, failed or were cancelled. */
export async function removeEndedFiles({ postgres, files, clock }: Context): Promise<void> {
  for (let count = AT_ONCE; count === AT_ONCE; ) {
    const jobs = await listWithExpiredFiles(postgres.db, clock.now(), AT_ONCE);
    count = jobs.length;
    for (const job of jobs) {
      const rows = await listFiles(postgres.db, job);
      const lostKeys = job.lostClaims.map((claim) => toStorageKey(job.id, rows.length + 1, claim));
      for (const key of [...rows.flatMap(({ storageKey }) => storageKey ?? []), ...lostKeys]) await files.remove(key);
      await deleteFiles(postgres.db, job);
    }
  }
}

export const expireJobFiles: Job = {
  name: 'end-job-files',
  everyMs: 10_000,
  asksFor: 'files of jobs that ended 7 days ago, failed or were cancelled',
  run: removeEndedFiles,
};
