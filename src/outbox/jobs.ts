import type { Job } from '../operation/job.ts';
import { pruneOutbox } from './relay.ts';

export const forgetEvents: Job = {
  name: 'forget-events',
  everyMs: 3_600_000,
  asksFor: 'events older than 30 days that every consumer was given',
  run: ({ postgres, clock }) => pruneOutbox(postgres.db, clock.now()),
};
