import { CAPACITY } from '../../kit/engines/postgres/semaphore.ts';
import { claimedWork, type Turn } from '../../kit/operation/claimed-work.ts';
import { type Context, later } from '../../kit/operation/context.ts';
import type { Job } from '../../kit/operation/job.ts';
import { inWork } from '../../kit/operation/work.ts';
import { ApiError, ignoreFailure } from '../../kit/values/errors.ts';
import { FILES_KEPT_MS, getRetryDelayMs, toStorageKey } from './job-files.ts';
import {
  beginTurn,
  type ClaimedJob,
  deleteFiles,
  endTurn,
  getKind,
  insertFile,
  type JOB_TURNS,
  JobFailure,
  type JobKind,
  type JobRow,
  listFiles,
  listWithExpiredFiles,
  selectDueJobs,
  type TurnOutcome,
  updateProgress,
} from './jobs.ts';

const AT_ONCE = 50;
const NOTED_EVERY_MS = 3_000;
/** The wait of a turn that found other turns of its brand reading. */
const BUSY_MS = 5_000;

const INTERNAL_FAILURE = 'Something went wrong on our side. Start the job again; if it fails again, tell us its id.';

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
  const isBusy = error instanceof ApiError && error.engine === CAPACITY;
  const failures = job.failures + (isBusy ? 0 : 1);
  const waitMs = error instanceof JobFailure ? undefined : isBusy ? BUSY_MS : getRetryDelayMs(failures);
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

async function runTurn(context: Context, dueJob: JobRow, { id: claim, signal }: Turn): Promise<void> {
  const { postgres, clock, files } = context;
  const job = await beginTurn(postgres.db, dueJob, { claim, now: clock.now() });
  if (!job) return;
  const kind = getKind(job.kind);
  const progress = { seenRows: job.rows };
  const noting = setInterval(() => {
    updateProgress(postgres.db, job, progress.seenRows).catch(ignoreFailure('the next note has more rows'));
  }, NOTED_EVERY_MS);
  let outcome: TurnOutcome | undefined;
  try {
    if (job.lostClaims.length > 0) {
      // Partial files of turns whose worker died while it wrote.
      const nextNumber = (await listFiles(postgres.db, job)).length + 1;
      for (const lostClaim of job.lostClaims) await files.remove(toStorageKey(job.id, nextNumber, lostClaim));
    }
    outcome = await kind.run(context, job, {
      signal,
      note: (rows) => void Object.assign(progress, { seenRows: rows }),
    });
    signal.throwIfAborted();
    if (await saveOutcome(context, job, kind, outcome)) return;
    await removeUnsaved(context, job, outcome);
  } catch (error) {
    if (signal.aborted) {
      // Of a job that was cancelled or taken over nothing is changed: it has no such claim.
      const back = { status: 'running', dueAt: clock.now(), updatedAt: clock.now() } as const;
      await endTurn(postgres.db, job, { ...back, rows: job.rows, failures: job.failures });
    } else await recordFailure(context, job, kind, error);
    await removeUnsaved(context, job, outcome);
  } finally {
    clearInterval(noting);
  }
}

/** Removes the file of a turn whose outcome was not saved; whether it was is unknown if the answer to the commit was lost. */
async function removeUnsaved({ postgres, files }: Context, job: ClaimedJob, outcome?: TurnOutcome): Promise<void> {
  const fileKey = outcome && 'file' in outcome ? outcome.file?.storageKey : undefined;
  if (!fileKey) return;
  const savedFiles = await listFiles(postgres.db, job);
  if (savedFiles.some(({ storageKey }) => storageKey === fileKey)) return;
  await files.remove(fileKey).catch(ignoreFailure('the file ends with its job'));
}

const toTurns = (name: (typeof JOB_TURNS)[number], asksFor: string, due: typeof selectDueJobs) =>
  claimedWork({ name, everyMs: 1_000, asksFor, places: 8, due, doing: 'running a job', run: runTurn });

/** Runs jobs turn by turn. */
export const runTurns = toTurns('sweep-jobs', 'jobs that have a turn', (db, now) =>
  selectDueJobs(db, now).where('job.scheduleId', 'is', null),
);

/** Exports into brands' own buckets have places of their own, so that buckets that hang hold up no other job. */
export const runDeliveries = toTurns('sweep-deliveries', 'exports into brands’ buckets that have a turn', (db, now) =>
  selectDueJobs(db, now).where('job.scheduleId', 'is not', null),
);

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
  leaves: true,
  run: removeEndedFiles,
};
