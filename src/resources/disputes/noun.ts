import { noun } from '../../operation/noun.ts';
import { disputeMails } from './mails.ts';
import { disputeOperations } from './routes.ts';

export const disputes = noun({
  name: 'disputes',
  ids: { disputes: 'dsp' },
  operations: disputeOperations,
  mails: disputeMails,
});
