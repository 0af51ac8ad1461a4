import { type Insertable, type Selectable, sql } from 'kysely';
import { COUNT, countRows } from '../../kit/engines/postgres/count.ts';
import type { JobFilesTable, JobsTable } from '../../kit/engines/postgres/database.ts';
import { listing } from '../../kit/engines/postgres/listing.ts';
import type { Db } from '../../kit/engines/postgres/open.ts';
import type { ListWindow } from '../../kit/values/page.ts';
import { omitUndefined } from '../../kit/values/patch.ts';
import type { KindName } from './schema.ts';

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

export interface JobWhere extends ListWindow {
  status?: JobStatus | undefined;
  kind?: KindName | undefined;
  schedule_id?: string | undefined;
}

export const jobs = listing({
  noun: 'job',
  table: 'jobs',
  time: 'createdAt',
  changed: ['createdAt', 'updatedAt'],
  matching: (db, _brandId, { status, kind, schedule_id: scheduleId }: JobWhere) =>
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

export const insertJob = (db: Db, row: Insertable<JobsTable>): Promise<JobRow> =>
  db.insertInto('jobs').values(row).returningAll().executeTakeFirstOrThrow();

/** Jobs that have not ended. */
export const countOpenJobs = (db: Db, brandId: string): Promise<number> =>
  countRows(
    db.selectFrom('jobs').select(COUNT).where('brandId', '=', brandId).where('status', 'in', ['queued', 'running']),
  );

/** Whether a job of a schedule has not ended. */
export async function isUnderWay(db: Db, brandId: string, scheduleId: string): Promise<boolean> {
  const job = await db
    .selectFrom('jobs')
    .select('id')
    .where('brandId', '=', brandId)
    .where('scheduleId', '=', scheduleId)
    .where('status', 'in', ['queued', 'running'])
    .executeTakeFirst();
  return job !== undefined;
}

/** A turn: the job as it was claimed. */
export type ClaimedJob = JobRow & { claim: string };

/**
 * Takes the next turn until `until`: of the brand that has waited longest, its oldest job. Takes over turns that were
 * lost.
 */
export async function claimTurn(db: Db, now: Date, until: Date, claim: string): Promise<ClaimedJob | undefined> {
  const { rows } = await sql<ClaimedJob>`
    with next as (
      select job.id from jobs as job left join job_turns as turn on turn.brand_id = job.brand_id
      where job.status in ('queued', 'running') and job.due_at <= ${now}
      order by turn.at nulls first, job.created_at, job.id limit 1 for update of job skip locked
    ), turn as (
      insert into job_turns (brand_id, at) select brand_id, clock_timestamp() from jobs join next using (id)
      on conflict (brand_id) do update set at = excluded.at
    )
    update jobs set status = 'running', started_at = coalesce(started_at, ${now}), due_at = ${until}, claim = ${claim},
      seen_rows = null, lost_claims = case when claim is null then lost_claims else lost_claims || claim end
    from next where jobs.id = next.id returning jobs.*`.execute(db);
  return rows[0];
}

const claimed = (db: Db, { id, brandId, claim }: ClaimedJob) =>
  db.updateTable('jobs').where('brandId', '=', brandId).where('id', '=', id).where('claim', '=', claim);

/** Extends a turn, and shows how far it is. False when the job was cancelled, or another worker took it over. */
export async function renewTurn(db: Db, job: ClaimedJob, change: { dueAt: Date; seenRows: number }): Promise<boolean> {
  const { numUpdatedRows } = await claimed(db, job).set(change).executeTakeFirst();
  return numUpdatedRows > 0n;
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

/** Ends a turn. Undefined when the job was cancelled, or another worker took it over. */
export async function endTurn(db: Db, job: ClaimedJob, change: TurnEnd): Promise<JobRow | undefined> {
  return await claimed(db, job)
    .set({ ...change, claim: null, lostClaims: [], seenRows: null })
    .returningAll()
    .executeTakeFirst();
}

/** Cancels a job that has not ended. Its files end now. */
export async function cancelJob(db: Db, brandId: string, id: string, now: Date): Promise<JobRow | undefined> {
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

/** A file in the storage whose time has not ended. Any brand's: the caller has a signed URL of it. */
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

/** Jobs with a turn that may begin. */
export async function listDueIds(db: Db, now: Date, limit: number): Promise<string[]> {
  const rows = await db
    .selectFrom('jobs')
    .select('id')
    .where('status', 'in', ['queued', 'running'])
    .where('dueAt', '<=', now)
    .orderBy('dueAt')
    .limit(limit)
    .execute();
  return rows.map(({ id }) => id);
}

/** Ended jobs whose files are to be removed from the storage. */
export async function listWithEndedFiles(db: Db, now: Date, limit: number): Promise<JobRow[]> {
  return await db
    .selectFrom('jobs')
    .selectAll()
    .where('filesEndAt', '<=', now)
    .orderBy('filesEndAt')
    .limit(limit)
    .execute();
}

/** Forgets the files of a job, which are no longer in the storage. */
export async function forgetFiles(db: Db, { brandId, id }: Pick<JobRow, 'brandId' | 'id'>): Promise<void> {
  await db.deleteFrom('jobFiles').where('brandId', '=', brandId).where('jobId', '=', id).execute();
  await db
    .updateTable('jobs')
    .set({ filesEndAt: null, lostClaims: [] })
    .where('brandId', '=', brandId)
    .where('id', '=', id)
    .execute();
}
