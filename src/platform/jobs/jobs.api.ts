import { z } from 'zod';
import { get, list, remove } from '../../kit/operation/kit.ts';
import { noun } from '../../kit/operation/noun.ts';
import { wrongState } from '../../kit/values/errors.ts';
import { createdAt, idField, updatedAt } from '../../kit/values/fields.ts';
import { ListQuery, timestamp } from '../../kit/values/page.ts';
import { cancelJob, getKind, jobs, toAuditValues, toJob } from './jobs.ts';
import { expireJobFiles, runDeliveries, runTurns } from './turns.ts';

const status = z
  .enum(['queued', 'running', 'done', 'failed', 'cancelled'])
  .describe('Job status. `queued` and `running` jobs can be cancelled; the others have ended.')
  .meta({ example: 'done' });

const KINDS = [
  'approval',
  'customer_backfill',
  'export',
  'import',
  'payout_batch',
  'payout_return',
  'reconciliation',
  'simulation',
  'statements',
] as const;
export type KindName = (typeof KINDS)[number];

const JobFile = z.object({
  number: z.number().int().describe('Number of the file within its job, from 1.').meta({ example: 1 }),
  name: z.string().describe('File name; in your own bucket, its key.').meta({ example: 'orders-0001.parquet' }),
  rows: z.number().int().describe('Rows in this file.').meta({ example: 81_204 }),
  size_bytes: z.number().int().describe('Size of this file in bytes.').meta({ example: 4_812_331 }),
  sha256: z
    .string()
    .describe('SHA-256 of the bytes of this file, in hex digits.')
    .meta({ example: '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08' }),
  url: z
    .string()
    .nullable()
    .describe('Signed address of the file, which works without a key until `files_end_at`; null for your own bucket.')
    .meta({ example: 'https://go.example/files/job_0Uo3xK2mVdT2aXs7LpRb.1.ez3.pJ2cV0m4Qe1yq7Zc0tLw3A' }),
});

export const Job = z
  .object({
    id: idField('job', 'Job id.'),
    kind: z.enum(KINDS).describe('What the job does, such as `export`.').meta({ example: 'export' }),
    status,
    request: z
      .record(z.string(), z.unknown())
      .describe('What was requested, with the window that the job covers.')
      .meta({ example: { of: 'orders', by: 'recorded', format: 'parquet', from: '2026-03-01T00:00:00.000Z' } }),
    rows: z.number().int().describe('Rows, orders or creators done so far.').meta({ example: 81_204 }),
    total_rows: z
      .number()
      .int()
      .nullable()
      .describe('Total number of rows, counted when the job started; null until then.')
      .meta({ example: 81_204 }),
    progress: z
      .number()
      .nullable()
      .describe('Share of the rows that is done, from 0 to 1; null while `total_rows` is unknown.')
      .meta({ example: 1 }),
    error: z.string().nullable().describe('Why the job failed; null unless it did.').meta({ example: null }),
    result: z
      .record(z.string(), z.unknown())
      .nullable()
      .describe(
        'What a job found or did, for all kinds but `export` and `import` (see `/manual/jobs`); null until it is done.',
      )
      .meta({ example: null }),
    schedule_id: z
      .string()
      .nullable()
      .describe('Schedule that started the job; null for a job that was requested by a call.')
      .meta({ example: null }),
    files: z
      .array(JobFile)
      .describe('Files written so far. Complete once the job is `done`, and empty after `files_end_at`.'),
    files_end_at: timestamp
      .nullable()
      .describe('When the files are removed, 7 days after the job ended; null before its end, and once they are gone.')
      .meta({ example: '2026-03-09T09:30:00.000Z' }),
    created_at: createdAt,
    started_at: timestamp.nullable().describe('When a worker first took the job; null until then.'),
    ended_at: timestamp.nullable().describe('When it was done, failed or cancelled; null until then.'),
    updated_at: updatedAt,
  })
  .meta({ id: 'Job' });

export const JobFilter = z.object({
  ...ListQuery,
  status: status.optional().describe('Only jobs with this status.'),
  kind: z.enum(KINDS).optional().describe('Only jobs of this kind, such as `export`.'),
  schedule_id: z.string().max(100).optional().describe('Only jobs that this schedule started.'),
});

const tag = 'Jobs';
const one = { path: '/v1/jobs/{id}', tag, item: Job } as const;
const forAgents = { isListed: false };

const jobOperations = [
  list({
    id: 'list_jobs',
    path: '/v1/jobs',
    tag,
    item: Job,
    forAgents,
    summary: 'List jobs',
    description: 'Newest first, with their files.',
    query: JobFilter,
    rows: jobs,
    itemOf: (row, context) => toJob(row, context),
  }),
  get({
    ...one,
    id: 'get_job',
    summary: 'Get a job',
    description: 'Shows its progress and files. Signed addresses of the files work until `files_end_at`.',
    forAgents,
    find: async (context, { caller, params }) =>
      toJob(await jobs.get(context.postgres.db, caller.brandId, params.id), context),
  }),
  remove({
    id: 'cancel_job',
    path: '/v1/jobs/{id}',
    tag,
    summary: 'Cancel a job',
    description: 'A worker stops within seconds. The files that it wrote are removed.',
    forAgents,
    item: Job,
    errors: ['NOT_FOUND', 'INVALID_STATE_TRANSITION'],
    lookUp: async (context) => context,
    apply: async (work, { params: { id } }, context) => {
      const { db, now, brandId, audit } = work;
      const old = await jobs.get(db, brandId, id);
      const row = await cancelJob(db, brandId, id, now);
      if (!row) {
        const { status } = await jobs.get(db, brandId, id);
        throw wrongState('job', status, 'cancelled', []);
      }
      await getKind(row.kind).cancelled?.(work, row);
      audit({ resourceId: id, old: toAuditValues(old), new: toAuditValues(row) });
      return toJob({ ...row, files: [] }, context);
    },
  }),
] as const;

export const jobsNoun = noun({
  name: 'jobs',
  tag: { name: 'Jobs', about: 'Work that takes longer than a call, its progress and its files.' },
  ids: { jobs: 'job' },
  operations: jobOperations,
  jobs: [expireJobFiles, runTurns, runDeliveries],
});
