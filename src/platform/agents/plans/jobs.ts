import type { Job } from '../../../kit/operation/job.ts';
import { deleteOldPlans } from './queries.ts';

export const forgetPlans: Job = {
  name: 'forget-plans',
  everyMs: 3_600_000,
  asksFor: 'plans that expired long ago',
  run: ({ postgres, clock }) => deleteOldPlans(postgres.db, clock.now()),
};
