import type { Job } from '../../../kit/operation/job.ts';
import { mailApproved } from './actions.ts';

export const mailApprovedCommissions: Job = {
  name: 'mail-approved-commissions',
  everyMs: 60_000,
  asksFor: 'weeks that have ended in which commissions were approved',
  run: mailApproved,
};
