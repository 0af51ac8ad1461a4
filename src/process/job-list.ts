import { IMPORT_SWEEP, IMPORTS } from '../directory/import/jobs.ts';
import { followLedger, forgetSentBatches } from '../figures/jobs.ts';
import { followClicks } from '../links-host/jobs.ts';
import { forgetIdempotencyKeys } from '../operation/idempotency/jobs.ts';
import type { Follower, Job, JobPlan } from '../operation/job.ts';
import { announceEndingRights, removeFiles, THUMBNAIL_SWEEP, THUMBNAILS } from '../resources/assets/jobs.ts';
import { REFRESH_SWEEP, REFRESHES } from '../resources/content/jobs.ts';
import { expireContracts } from '../resources/contracts/jobs.ts';
import { profileCreators } from '../resources/creators/jobs.ts';
import { reconcileJob } from '../resources/ledger/jobs.ts';
import { forgetPlans } from '../resources/plans/jobs.ts';
import { approveCommissions } from '../resources/reviews/jobs.ts';
import { trackParcels } from '../resources/shipments/jobs.ts';
import { forgetOldDeliveries } from '../resources/webhooks/jobs.ts';
import { followMails, forgetEvents, forgetOldMails, settleCharges } from './system-jobs.ts';

export const JOBS: readonly Job[] = [
  approveCommissions,
  expireContracts,
  profileCreators,
  trackParcels,
  reconcileJob,
  removeFiles,
  announceEndingRights,
  forgetSentBatches,
  forgetPlans,
  forgetEvents,
  forgetOldDeliveries,
  forgetOldMails,
  forgetIdempotencyKeys,
];

/** Queues of work on single rows, each with the job that fills it again from its rows. */
export const WORK = { thumbnails: THUMBNAILS, refreshes: REFRESHES, imports: IMPORTS } as const;
export const SWEEPS = { thumbnails: THUMBNAIL_SWEEP, refreshes: REFRESH_SWEEP, imports: IMPORT_SWEEP } as const;

/** Whatever is scheduled. */
export const PLANS: readonly JobPlan[] = [...JOBS, ...Object.values(SWEEPS)];

/** Beside these the relay of events and the delivery of webhooks follow theirs. */
export const FOLLOWERS: readonly Follower[] = [followClicks, followLedger, settleCharges, followMails];

export const relayName = (consumer: string): string => `relay-to-${consumer}`;
