import { noun } from '../../operation/noun.ts';
import { sweepStores } from './jobs.ts';
import { storeSweepMails } from './mails.ts';

export const storeSweeps = noun({
  name: 'store-sweeps',
  operations: [],
  jobs: [sweepStores],
  mails: storeSweepMails,
});
