import { act } from '../../kit/operation/kit.ts';
import { noun } from '../../kit/operation/noun.ts';
import { Job } from '../../platform/jobs/jobs.api.ts';
import { registerKind, toJob } from '../../platform/jobs/jobs.ts';
import { ExportCreate } from './exports.shapes.ts';
import { createExport, createScheduledExport, EXPORT, exportKind } from './exports.ts';
import { scheduleOperations } from './schedules.api.ts';
import { exportMails, runExportSchedules } from './schedules.jobs.ts';
import { checkBucket, createSchedule } from './schedules.ts';

const exportOperations = [
  act({
    id: 'create_export',
    path: '/v1/exports',
    tag: 'Jobs',
    item: Job,
    status: 202,
    summary: 'Export rows as files',
    description:
      'Starts a job. You can download its files and `manifest.json` for 7 days. With a `schedule`, files go into your own ' +
      'S3 bucket each day. A window that ended less than 30 seconds ago is read 30 seconds after its end.',
    forAgents: { isListed: false },
    body: ExportCreate,
    errors: ['CONFLICT'],
    sealsAnswer: true,
    hints: { dataOut: ['destination'] },
    lookUp: async (context, { body }) => {
      if (body.destination) await checkBucket(context, body.destination);
      return context;
    },
    apply: async (work, { body }, context) => {
      const { destination } = body;
      if (!destination) return toJob(await createExport(work, body), context);
      const schedule = await createSchedule(work, context, body, destination);
      return toJob(await createScheduledExport(work, schedule, work.now), context);
    },
  }),
] as const;

registerKind(EXPORT, exportKind);

export const exportsNoun = noun({
  name: 'exports',
  ids: { schedules: 'exs' },
  operations: [...exportOperations, ...scheduleOperations],
  jobs: [runExportSchedules],
  mails: exportMails,
});
