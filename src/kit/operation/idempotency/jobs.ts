import type { Job } from '../job.ts';
import { deleteOldKeys } from './queries.ts';
import { KEPT_MS } from './run-once.ts';

export const forgetIdempotencyKeys: Job = {
  name: 'forget-idempotency-keys',
  everyMs: 3_600_000,
  asksFor: 'expired idempotency keys',
  run: ({ postgres, clock }) => deleteOldKeys(postgres.db, new Date(clock.now().getTime() - KEPT_MS)),
};
