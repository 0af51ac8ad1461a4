import { noun } from '../../kit/operation/noun.ts';
import { commissionOperations } from './routes.ts';
import { mailApprovedCommissions, weeklyMails } from './weekly-mail.ts';

export const commissionsNoun = noun({
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
