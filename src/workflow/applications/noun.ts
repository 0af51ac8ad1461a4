import { noun } from '../../kit/operation/noun.ts';
import { applicationMails } from './mails.ts';
import { applicationOperations } from './routes.ts';

export const applications = noun({
  name: 'applications',
  tag: {
    name: 'Applications',
    about: 'Applications to campaigns and their outcome. Accepting one puts the creator on the roster.',
  },
  ids: { applications: 'app' },
  operations: applicationOperations,
  mails: applicationMails,
});
