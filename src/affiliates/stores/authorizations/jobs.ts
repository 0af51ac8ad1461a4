import type { Job } from '../../../kit/operation/job.ts';
import { HOUR_MS } from '../../../kit/values/duration.ts';
import { deleteExpired } from './queries.ts';

export const forgetStoreAuthorizations: Job = {
  name: 'forget-store-authorizations',
  everyMs: HOUR_MS,
  asksFor: 'links to WooCommerce that expired, with the keys that nobody used',
  run: ({ postgres, clock }) => deleteExpired(postgres.db, clock.now()),
};
