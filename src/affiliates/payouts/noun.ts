import { noun } from '../../kit/operation/noun.ts';
import { payoutDueOperations } from './due-payouts.api.ts';
import { payoutMails } from './payouts.mails.ts';
import { payoutOperations } from './routes.ts';

export const payoutsNoun = noun({
  name: 'payouts',
  tag: {
    name: 'Payouts',
    about: 'What creators were paid, what they are owed, and statements that explain both.',
  },
  ids: { payout: 'pay', payouts: 'pay' },
  operations: [...payoutOperations, ...payoutDueOperations],
  mails: payoutMails,
});
