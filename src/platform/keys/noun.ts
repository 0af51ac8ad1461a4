import { noun } from '../../kit/operation/noun.ts';
import { alertAboutCredits } from './jobs.ts';
import { keyMails } from './mails.ts';
import { keyOperations } from './routes.ts';

export const keys = noun({
  name: 'keys',
  operations: keyOperations,
  jobs: [alertAboutCredits],
  mails: keyMails,
});
