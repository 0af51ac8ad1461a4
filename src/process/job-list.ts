import { foldStoreDeliveries } from '../affiliates/stores/deliveries/deliveries.jobs.ts';
import { followLedger, forgetSentBatches } from '../analytics/figures/figures.jobs.ts';
import { followChanges } from '../directory/changes/changes.jobs.ts';
import { followClicks } from '../interfaces/links-host/jobs.ts';
import { nouns } from '../interfaces/nouns.ts';
import { forgetIdempotencyKeys } from '../kit/operation/idempotency.ts';
import type { Follower, Job, JobPlan, QueuedWork } from '../kit/operation/job.ts';
import {
  followMails,
  forgetClaims,
  forgetEvents,
  forgetOldMails,
  partitionCredits,
  settleCharges,
  sumUpCounts,
} from './system-jobs.ts';

export const JOBS: readonly Job[] = [
  ...nouns.flatMap(({ jobs }) => jobs),
  forgetSentBatches,
  forgetEvents,
  forgetOldMails,
  forgetIdempotencyKeys,
  partitionCredits,
  forgetClaims,
  sumUpCounts,
];

export const WORK: readonly QueuedWork[] = nouns.flatMap(({ work }) => work);

/** Everything that runs on a schedule. */
export const PLANS: readonly JobPlan[] = [...JOBS, ...WORK.map(({ sweep }) => sweep)];

/** Loops in every worker, besides the event relay and webhook delivery. */
export const FOLLOWERS: readonly Follower[] = [
  foldStoreDeliveries,
  followClicks,
  followLedger,
  followChanges,
  settleCharges,
  followMails,
];

export const relayName = (consumer: string): string => `relay-to-${consumer}`;
