import { noun } from '../../kit/operation/noun.ts';
import { mailReports } from './jobs.ts';
import { reportMails } from './mails.ts';
import { reportOperations } from './routes.ts';

export const reports = noun({
  name: 'reports',
  tag: {
    name: 'Reports and alerts',
    about: "Mails with figures to the brand's people, after each period or when a figure leaves its bounds.",
  },
  ids: { reports: 'rep' },
  operations: reportOperations,
  jobs: [mailReports],
  mails: reportMails,
});
