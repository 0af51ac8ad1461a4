import { noun } from '../../operation/noun.ts';
import { mailReports } from './jobs.ts';
import { reportMails } from './mails.ts';
import { reportOperations } from './routes.ts';

export const reports = noun({
  name: 'reports',
  tag: {
    name: 'Reports and alerts',
    about: "Figures by mail to the brand's people: of each period, or when they change.",
  },
  ids: { reports: 'rep' },
  operations: reportOperations,
  jobs: [mailReports],
  mails: reportMails,
});
