import type { Job } from '../../kit/operation/job.ts';
import { HOUR_MS } from '../../kit/values/duration.ts';
import { deleteOrphans } from './queries.ts';

export const forgetSavedSearches: Job = {
  name: 'forget-saved-searches',
  everyMs: HOUR_MS,
  asksFor: 'searches of people who were removed',
  run: ({ postgres }) => deleteOrphans(postgres.db),
};
