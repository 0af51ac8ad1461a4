import { noun } from '../../../kit/operation/noun.ts';
import { backfillStores } from './backfill/jobs.ts';
import { backfillOperations } from './backfill/routes.ts';
import { sweepStores } from './jobs.ts';
import { storeSweepMails } from './mails.ts';
import { sweepOperations } from './routes.ts';

export const storeSweeps = noun({
  name: 'store-sweeps',
  operations: [...sweepOperations, ...backfillOperations],
  jobs: [sweepStores, backfillStores],
  mails: storeSweepMails,
});
