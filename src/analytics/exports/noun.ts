import { noun } from '../../kit/operation/noun.ts';
import { registerKind } from '../../platform/jobs/actions.ts';
import { EXPORT, exportKind } from './actions.ts';
import { exportOperations } from './routes.ts';
import { runExportSchedules } from './schedules/jobs.ts';
import { exportMails } from './schedules/mails.ts';
import { scheduleOperations } from './schedules/routes.ts';

registerKind(EXPORT, exportKind);

export const exports = noun({
  name: 'exports',
  ids: { schedules: 'exs' },
  operations: [...exportOperations, ...scheduleOperations],
  jobs: [runExportSchedules],
  mails: exportMails,
});
