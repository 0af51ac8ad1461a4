import { noun } from '../../kit/operation/noun.ts';
import { commissionOperations } from './routes.ts';
import { mailApprovedCommissions } from './weekly-mail/jobs.ts';
import { weeklyMails } from './weekly-mail/mails.ts';

export const commissions = noun({
  name: 'commissions',
  tag: {
    name: 'Commissions',
    about: 'What orders earned for creators: review them here.',
  },
  ids: { commission: 'com', commissions: 'com' },
  operations: commissionOperations,
  jobs: [mailApprovedCommissions],
  mails: weeklyMails,
});
