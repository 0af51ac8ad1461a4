import { createHash } from 'node:crypto';
import type { z } from 'zod';
import type { FileStore } from '../../kit/engines/files/store.ts';
import type { Context } from '../../kit/operation/context.ts';
import type { Work } from '../../kit/operation/work.ts';
import { ApiError } from '../../kit/values/errors.ts';
import { newId } from '../../kit/values/ids.ts';
import { isRecord, toWire } from '../../kit/values/wire.ts';
import { lockBrand } from '../brands/queries.ts';
import { fileUrlOf } from './policy.ts';
import { type ClaimedJob, countOpenJobs, insertJob, type JobFileRow, type JobRow, type jobs } from './queries.ts';
import type { Job, KindName } from './schema.ts';

export type ListedJob = Awaited<ReturnType<typeof jobs.get>>;

/** The row as the audit log shows it. */
export const auditedJob = ({ id, kind, status }: JobRow) => ({ id, kind, status });

export function jobOf(row: ListedJob, context: Pick<Context, 'config' | 'secrets'>): z.input<typeof Job> {
  const { filesEndAt, request, result, totalRows, status } = row;
  const rows = row.seenRows ?? row.rows;
  const progress = totalRows === null ? null : totalRows === 0 ? 1 : Math.min(rows, totalRows) / totalRows;
  return {
    ...toWire(row),
    rows,
    request: isRecord(request) ? request : {},
    result: isRecord(result) ? result : null,
    progress: status === 'done' ? 1 : progress,
    files: row.files.map(({ number, name, rows: its, sizeBytes, sha256, storageKey }) => ({
      number,
      name,
      rows: its,
      size_bytes: sizeBytes,
      sha256,
      url:
        storageKey === null || filesEndAt === null ? null : fileUrlOf(context, { jobId: row.id, number }, filesEndAt),
    })),
  };
}

export interface NewJob {
  kind: KindName;
  request: object;
  /** When its first turn may begin. */
  dueAt: Date;
  scheduleId?: string;
}

const MAX_OPEN = 200;

/** Refuses a job of a brand that has many waiting already. The lock makes concurrent calls count each other's. */
export async function assertRoom({ db, brandId }: Work): Promise<void> {
  await lockBrand(db, brandId);
  if ((await countOpenJobs(db, brandId)) < MAX_OPEN) return;
  throw new ApiError(
    'CONFLICT',
    `A brand has at most ${MAX_OPEN} jobs that have not ended; wait for one or cancel it.`,
  );
}

/** Records a job. A worker takes it within a second. */
export async function createJob(work: Work, { kind, request, dueAt, scheduleId }: NewJob): Promise<ListedJob> {
  const { db, now, brandId, audit } = work;
  const row = await insertJob(db, {
    id: newId('job', now.getTime()),
    brandId,
    kind,
    request: JSON.stringify(request),
    status: 'queued',
    cursor: null,
    totalRows: null,
    error: null,
    result: null,
    scheduleId: scheduleId ?? null,
    claim: null,
    dueAt,
    startedAt: null,
    endedAt: null,
    filesEndAt: null,
    createdAt: now,
    updatedAt: null,
  });
  audit({ resourceId: row.id, old: null, new: auditedJob(row) });
  return { ...row, files: [] };
}

/** What the brand can change, such as a bucket that refuses: another attempt would not help. The message is public. */
export class JobFailure extends Error {}

/** What a turn did, and where the next one begins; or how long the job has to wait. */
export type TurnOutcome =
  | { waitMs: number; cursor?: unknown }
  | {
      cursor: unknown;
      /** Of the whole job, so far. */
      rows: number;
      totalRows?: number;
      /** What the job found, as its answer shows it. */
      result?: object;
      file?: Omit<JobFileRow, 'jobId' | 'brandId' | 'createdAt'>;
      isDone: boolean;
    };

interface Turn {
  /** Aborted when the job was cancelled, another worker took it over, or this one stops. */
  signal: AbortSignal;
  /** Shows how many rows of the whole job are done. */
  note(rows: number): void;
}

/** What jobs of one kind do. */
export interface JobKind {
  /** Does a part of the job that takes seconds, because other brands' jobs wait, and writes one file at most. */
  run(context: Context, job: ClaimedJob, turn: Turn): Promise<TurnOutcome>;
  /** In the transaction that ends the job. */
  ended?(work: Work, job: JobRow): Promise<void>;
  failed?(work: Work, job: JobRow): Promise<void>;
}

const kinds = new Map<string, JobKind>();

export function registerKind(name: KindName, kind: JobKind): void {
  kinds.set(name, kind);
}

export function findKind(name: string): JobKind {
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
  async function* measured(): AsyncGenerator<Buffer> {
    for await (const chunk of bytes) {
      signal.throwIfAborted();
      sizeBytes += chunk.length;
      hash.update(chunk);
      yield chunk;
    }
  }
  await store.write(key, measured(), mimeType);
  return { sizeBytes, sha256: hash.digest() };
}
