import type { Job } from '../../operation/job.ts';
import { forgetDeliveries } from './sending/record.ts';

export const forgetOldDeliveries: Job = {
  name: 'forget-deliveries',
  everyMs: 3_600_000,
  asksFor: 'deliveries of events older than 30 days, and webhooks deleted as long ago',
  run: forgetDeliveries,
};
