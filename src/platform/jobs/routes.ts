import { get, list, remove } from '../../kit/operation/kit.ts';
import { wrongState } from '../../kit/values/errors.ts';
import { auditedJob, jobOf } from './actions.ts';
import { cancelJob, jobs } from './queries.ts';
import { Job, JobFilter } from './schema.ts';

const tag = 'Jobs';
const one = { path: '/v1/jobs/{id}', tag, item: Job } as const;
const forAgents = false;

export const jobOperations = [
  list({
    id: 'list_jobs',
    path: '/v1/jobs',
    tag,
    item: Job,
    forAgents,
    summary: "The brand's jobs",
    description: 'Newest first, with their files.',
    query: JobFilter,
    rows: jobs,
    itemOf: (row, context) => jobOf(row, context),
  }),
  get({
    ...one,
    id: 'get_job',
    summary: 'One job',
    description: 'Shows its progress and files. Signed addresses of the files work until `files_end_at`.',
    forAgents,
    find: async (context, { caller, params }) =>
      jobOf(await jobs.get(context.postgres.db, caller.brandId, params.id), context),
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
    apply: async ({ db, now, brandId, audit }, { params: { id } }, context) => {
      const old = await jobs.get(db, brandId, id);
      const row = await cancelJob(db, brandId, id, now);
      if (!row) {
        const { status } = await jobs.get(db, brandId, id);
        throw wrongState('job', status, 'cancelled', []);
      }
      audit({ resourceId: id, old: auditedJob(old), new: auditedJob(row) });
      return jobOf({ ...row, files: [] }, context);
    },
  }),
] as const;
