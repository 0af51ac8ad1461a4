import { noun } from '../../kit/operation/noun.ts';
import { alertAboutSavedSearches } from './alerts/jobs.ts';
import { savedSearchMails } from './alerts/mails.ts';
import { forgetSavedSearches } from './jobs.ts';
import { matchSavedSearches } from './matches/jobs.ts';
import { matchOperations } from './matches/routes.ts';
import { savedSearchOperations } from './routes.ts';

export const savedSearches = noun({
  name: 'saved-searches',
  tag: { name: 'Saved searches', about: 'Searches of the directory, saved under a name, and who began to match them.' },
  ids: { 'saved-searches': 'ssr' },
  operations: [...savedSearchOperations, ...matchOperations],
  jobs: [matchSavedSearches, alertAboutSavedSearches, forgetSavedSearches],
  mails: savedSearchMails,
});
