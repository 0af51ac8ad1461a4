import type { Job } from '../../kit/operation/job.ts';
import { HOUR_MS } from '../../kit/values/duration.ts';
import { toDirectoryEngines } from '../imports/indexing/writer.ts';
import { finishUnfinished } from './forget.ts';
import { deleteOldRequests, sendForgetMails } from './requests.ts';

export const forgetJobs: readonly Job[] = [
  {
    name: 'finish-opt-outs',
    everyMs: 10_000,
    asksFor: 'opt-outs whose creators a version of the directory may still have',
    run: (context) => finishUnfinished(toDirectoryEngines(context)),
  },
  sendForgetMails,
  {
    name: 'forget-opt-out-requests',
    everyMs: HOUR_MS,
    asksFor: 'requests on the page whose link has expired',
    run: deleteOldRequests,
  },
];
