import { noun } from '../../kit/operation/noun.ts';
import { checkAlerts } from './jobs.ts';
import { alertMails } from './mails.ts';
import { alertOperations } from './routes.ts';

export const alerts = noun({
  name: 'alerts',
  ids: { alerts: 'alr' },
  operations: alertOperations,
  jobs: [checkAlerts],
  mails: alertMails,
});
