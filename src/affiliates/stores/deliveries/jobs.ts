import type { Job } from '../../../kit/operation/job.ts';
import { DAY_MS, HOUR_MS } from '../../../kit/values/duration.ts';
import { deleteDeliveriesBefore, updateToTryReconnected } from './queries.ts';

const KEPT_MS = 30 * DAY_MS;
const BATCH = 1_000;

export const forgetStoreDeliveries: Job = {
  name: 'forget-store-deliveries',
  everyMs: HOUR_MS,
  asksFor: 'deliveries of stores older than 30 days',
  run: async ({ postgres, clock }) => {
    const before = new Date(clock.now().getTime() - KEPT_MS);
    while ((await deleteDeliveriesBefore(postgres.db, before, BATCH)) === BATCH);
  },
};

const RECONNECTED_EVERY_MS = 10_000;
/** Looks back over passes that failed. */
const RECONNECTED_WITHIN_MS = HOUR_MS;

/** What waited because a store refused its access is folded once the store is connected again. */
export const retryReconnectedStores: Job = {
  name: 'retry-reconnected-stores',
  everyMs: RECONNECTED_EVERY_MS,
  asksFor: 'waiting deliveries of stores that were connected within the last hour',
  run: async ({ postgres, clock }) => {
    const now = clock.now();
    await updateToTryReconnected(postgres.db, new Date(now.getTime() - RECONNECTED_WITHIN_MS), now);
  },
};
