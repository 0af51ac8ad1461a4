import { createHash } from 'node:crypto';
import { type Insertable, type Selectable, sql } from 'kysely';
import type { z } from 'zod';
import type { FileStore } from '../../kit/engines/files/store.ts';
import { COUNT, countRows } from '../../kit/engines/postgres/count.ts';
import type { JobFilesTable, JobsTable } from '../../kit/engines/postgres/database.ts';
import { listing } from '../../kit/engines/postgres/listing.ts';
import type { Db } from '../../kit/engines/postgres/open.ts';
import { endClaim } from '../../kit/engines/postgres/work-claims.ts';
import type { Context } from '../../kit/operation/context.ts';
import type { Work } from '../../kit/operation/work.ts';
import { ApiError } from '../../kit/values/errors.ts';
import { newId } from '../../kit/values/ids.ts';
import { omitUndefined } from '../../kit/values/patch.ts';
import { isRecord, toWire } from '../../kit/values/wire.ts';
import { lockBrand } from '../brands/brands.ts';
import { signFileUrl } from './job-files.ts';
import type { Job, JobFilter, KindName } from './jobs.api.ts';

export type JobStatus = JobsTable['status'];

declare module '../../kit/engines/postgres/columns.ts' {
  interface ColumnShapes {
    'jobs.kind': KindName;
  }
}

export type JobRow = Selectable<JobsTable>;
export type JobFileRow = Selectable<JobFilesTable>;

/** A file in the list of jobs. */
interface ListedFile extends Pick<JobFileRow, 'number' | 'name' | 'storageKey' | 'rows' | 'sizeBytes'> {
  /** In hex digits. */
  sha256: string;
}

export const jobs = listing({
  noun: 'job',
  table: 'jobs',
  time: 'createdAt',
  changed: ['createdAt', 'updatedAt'],
  matching: (db, _brandId, { status, kind, schedule_id: scheduleId }: z.output<typeof JobFilter>) =>
    db.selectFrom('jobs').where((eb) => eb.and(omitUndefined({ status, kind, scheduleId }))),
  rows: (db) =>
    db
      .selectFrom('jobs')
      .selectAll('jobs')
      .select(
        sql<ListedFile[]>`(select coalesce(json_agg(json_build_object('number', number, 'name', name,
          'storageKey', storage_key, 'rows', rows, 'sizeBytes', size_bytes, 'sha256', encode(sha256, 'hex'))
          order by number), '[]') from job_files where job_id = jobs.id)`.as('files'),
      ),
});

/** True if a job of the schedule has not ended. */
export async function hasOpenJob(db: Db, brandId: string, scheduleId: string): Promise<boolean> {
  const job = await db
    .selectFrom('jobs')
    .select('id')
    .where('brandId', '=', brandId)
    .where('scheduleId', '=', scheduleId)
    .where('status', 'in', ['queued', 'running'])
    .executeTakeFirst();
  return job !== undefined;
}

/** The names of the work on jobs: on most, and on exports into brands' own buckets. */
export const JOB_TURNS = ['sweep-jobs', 'sweep-deliveries'] as const;

/** A job whose turn this process has claimed. */
export type ClaimedJob = JobRow & { claim: string };

/** Jobs with a due turn: first those of the brand that has waited longest, its oldest job first. */
export const selectDueJobs = (db: Db, now: Date) =>
  db
    .selectFrom('jobs as job')
    .leftJoin('jobTurns as turn', 'turn.brandId', 'job.brandId')
    .selectAll('job')
    .where('job.status', 'in', ['queued', 'running'])
    .where('job.dueAt', '<=', now)
    .orderBy('turn.at', (order) => order.asc().nullsFirst())
    .orderBy('job.createdAt')
    .orderBy('job.id');

/** Begins a turn; undefined if the job has ended. A claim that it finds is of a turn that was lost. */
export async function beginTurn(
  db: Db,
  { id, brandId }: Pick<JobRow, 'id' | 'brandId'>,
  { claim, now }: { claim: string; now: Date },
): Promise<ClaimedJob | undefined> {
  const { rows } = await sql<ClaimedJob>`
    with turn as (
      insert into job_turns (brand_id, at) values (${brandId}, clock_timestamp())
      on conflict (brand_id) do update set at = excluded.at
    )
    update jobs set status = 'running', started_at = coalesce(started_at, ${now}), claim = ${claim}, seen_rows = null,
      lost_claims = case when claim is null then lost_claims else lost_claims || claim end
    where brand_id = ${brandId} and id = ${id} and status in ('queued', 'running') returning *`.execute(db);
  return rows[0];
}

const updateClaimed = (db: Db, { id, brandId, claim }: ClaimedJob) =>
  db.updateTable('jobs').where('brandId', '=', brandId).where('id', '=', id).where('claim', '=', claim);

/** Stores the progress of a turn. */
export async function updateProgress(db: Db, job: ClaimedJob, seenRows: number): Promise<void> {
  await updateClaimed(db, job).set({ seenRows }).execute();
}

export interface TurnEnd {
  status: JobStatus;
  dueAt: Date;
  updatedAt: Date;
  rows: number;
  failures: number;
  cursor?: string;
  totalRows?: number;
  error?: string;
  result?: string;
  endedAt?: Date;
  filesEndAt?: Date;
}

/** Ends a turn; undefined if the job was cancelled or another worker took it over. */
export async function endTurn(db: Db, job: ClaimedJob, change: TurnEnd): Promise<JobRow | undefined> {
  return await updateClaimed(db, job)
    .set({ ...change, claim: null, lostClaims: [], seenRows: null })
    .returningAll()
    .executeTakeFirst();
}

/** Cancels a job that has not ended: its turn is aborted, and its files expire now. */
export async function cancelJob(db: Db, brandId: string, id: string, now: Date): Promise<JobRow | undefined> {
  for (const work of JOB_TURNS) await endClaim(db, work, id);
  return await db
    .updateTable('jobs')
    .set({ status: 'cancelled', endedAt: now, updatedAt: now, filesEndAt: now, seenRows: null })
    .set({
      lostClaims: sql<string[]>`case when claim is null then lost_claims else lost_claims || claim end`,
      claim: null,
    })
    .where('brandId', '=', brandId)
    .where('id', '=', id)
    .where('status', 'in', ['queued', 'running'])
    .returningAll()
    .executeTakeFirst();
}

export async function insertFile(db: Db, file: Insertable<JobFilesTable>): Promise<void> {
  await db.insertInto('jobFiles').values(file).execute();
}

export async function listFiles(db: Db, { brandId, id }: Pick<JobRow, 'brandId' | 'id'>): Promise<JobFileRow[]> {
  return await db
    .selectFrom('jobFiles')
    .selectAll()
    .where('brandId', '=', brandId)
    .where('jobId', '=', id)
    .orderBy('number')
    .execute();
}

/** Finds a stored file that has not expired, of any brand, because the caller has a signed URL of it. */
export async function findFile(db: Db, jobId: string, number: number, now: Date) {
  return await db
    .selectFrom('jobFiles')
    .innerJoin('jobs', 'jobs.id', 'jobFiles.jobId')
    .select(['jobFiles.name', 'jobFiles.mimeType', 'jobFiles.storageKey', 'jobFiles.sizeBytes', 'jobFiles.sha256'])
    .where('jobFiles.jobId', '=', jobId)
    .where('jobFiles.number', '=', number)
    .where('jobs.filesEndAt', '>', now)
    .executeTakeFirst();
}

/** Lists ended jobs whose files have to be removed from the storage. */
export async function listWithExpiredFiles(db: Db, now: Date, limit: number): Promise<JobRow[]> {
  return await db
    .selectFrom('jobs')
    .selectAll()
    .where('filesEndAt', '<=', now)
    .orderBy('filesEndAt')
    .limit(limit)
    .execute();
}

/** Deletes the rows of files that are no longer in the storage, and the lines that they were written from. */
export async function deleteFiles(db: Db, { brandId, id }: Pick<JobRow, 'brandId' | 'id'>): Promise<void> {
  await db.deleteFrom('jobFiles').where('brandId', '=', brandId).where('jobId', '=', id).execute();
  await db.deleteFrom('jobLines').where('brandId', '=', brandId).where('jobId', '=', id).execute();
  await db
    .updateTable('jobs')
    .set({ filesEndAt: null, lostClaims: [] })
    .where('brandId', '=', brandId)
    .where('id', '=', id)
    .execute();
}

export type ListedJob = Awaited<ReturnType<typeof jobs.get>>;

/** The fields of a job that the audit log shows. */
export const toAuditValues = ({ id, kind, status }: JobRow) => ({ id, kind, status });

export function toJob(row: ListedJob, context: Pick<Context, 'config' | 'secrets'>): z.input<typeof Job> {
  const { filesEndAt, request, result, totalRows, status } = row;
  const rows = row.seenRows ?? row.rows;
  const progress = totalRows === null ? null : totalRows === 0 ? 1 : Math.min(rows, totalRows) / totalRows;
  return {
    ...toWire(row),
    rows,
    request: isRecord(request) ? request : {},
    result: isRecord(result) ? result : null,
    progress: status === 'done' ? 1 : progress,
    files: row.files.map(({ number, name, rows: rowCount, sizeBytes, sha256, storageKey }) => ({
      number,
      name,
      rows: rowCount,
      size_bytes: sizeBytes,
      sha256,
      url:
        storageKey === null || filesEndAt === null ? null : signFileUrl(context, { jobId: row.id, number }, filesEndAt),
    })),
  };
}

export interface NewJob {
  kind: KindName;
  request: object;
  /** The earliest start of the first turn. */
  dueAt: Date;
  scheduleId?: string;
  /** The key or session that started it. */
  keyId?: string;
  /** The number of rows, if it is known from the start. */
  totalRows?: number;
}

const MAX_OPEN = 200;

/** Refuses a job of a brand that has many waiting already. The lock makes concurrent calls count each other's. */
export async function assertBelowLimit({ db, brandId }: Work): Promise<void> {
  await lockBrand(db, brandId);
  const openJobs = db.selectFrom('jobs').where('brandId', '=', brandId).where('status', 'in', ['queued', 'running']);
  if ((await countRows(openJobs.select(COUNT))) < MAX_OPEN) return;
  throw new ApiError(
    'CONFLICT',
    `A brand has at most ${MAX_OPEN} jobs that have not ended; wait for one or cancel it.`,
  );
}

/** Records a job. A worker takes it within a second. */
export async function createJob(
  work: Work,
  { kind, request, dueAt, scheduleId, keyId, totalRows }: NewJob,
): Promise<ListedJob> {
  const { db, now, brandId, audit } = work;
  const row = await db
    .insertInto('jobs')
    .values({
      id: newId('job', now.getTime()),
      brandId,
      kind,
      request: JSON.stringify(request),
      status: 'queued',
      cursor: null,
      totalRows: totalRows ?? null,
      error: null,
      result: null,
      scheduleId: scheduleId ?? null,
      keyId: keyId ?? null,
      claim: null,
      dueAt,
      startedAt: null,
      endedAt: null,
      filesEndAt: null,
      createdAt: now,
      updatedAt: null,
    })
    .returningAll()
    .executeTakeFirstOrThrow();
  audit({ resourceId: row.id, old: null, new: toAuditValues(row) });
  return { ...row, files: [] };
}

/** A failure that the brand has to fix, such as a bucket that refuses, so it is not retried. The message is public. */
export class JobFailure extends Error {}

/** The result of a turn and the cursor of the next one, or the time that the job has to wait. */
export type TurnOutcome =
  | { waitMs: number; cursor?: unknown }
  | {
      cursor: unknown;
      /** Rows of the whole job so far. */
      rows: number;
      totalRows?: number;
      /** The result that the API shows. */
      result?: object;
      file?: Omit<JobFileRow, 'jobId' | 'brandId' | 'createdAt'>;
      isDone: boolean;
    };

interface Turn {
  /** Aborts if the job is cancelled, another worker takes it over, or this one stops. */
  signal: AbortSignal;
  /** Shows how many rows of the whole job are done. */
  note(rows: number): void;
}

/** The implementation of one kind of job. */
export interface JobKind {
  /** Does a part of the job that takes seconds, because other brands' jobs wait, and writes at most one file. */
  run(context: Context, job: ClaimedJob, turn: Turn): Promise<TurnOutcome>;
  /** Runs in the transaction that ends the job. */
  ended?(work: Work, job: JobRow): Promise<void>;
  failed?(work: Work, job: JobRow): Promise<void>;
  /** Runs in the transaction that cancels the job. */
  cancelled?(work: Work, job: JobRow): Promise<void>;
}

const kinds = new Map<string, JobKind>();

export function registerKind(name: KindName, kind: JobKind): void {
  kinds.set(name, kind);
}

export function getKind(name: string): JobKind {
  const kind = kinds.get(name);
  if (!kind) throw new Error(`There are no jobs of the kind ${name}.`);
  return kind;
}

/** Writes a file of a job, and measures it on the way. */
export async function storeFile(
  store: Pick<FileStore, 'write'>,
  { key, mimeType, signal }: { key: string; mimeType: string; signal: AbortSignal },
  bytes: AsyncIterable<Buffer>,
): Promise<{ sizeBytes: number; sha256: Buffer }> {
  const hash = createHash('sha256');
  let sizeBytes = 0;
  async function* measure(): AsyncGenerator<Buffer> {
    for await (const chunk of bytes) {
      signal.throwIfAborted();
      sizeBytes += chunk.length;
      hash.update(chunk);
      yield chunk;
    }
  }
  await store.write(key, measure(), mimeType, signal);
  return { sizeBytes, sha256: hash.digest() };
}
