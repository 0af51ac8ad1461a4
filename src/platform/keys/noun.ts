import { noun } from '../../kit/operation/noun.ts';
import type { ForcedFilterCheck } from './actions.ts';
import { alertAboutCredits } from './jobs.ts';
import { keyMails } from './mails.ts';
import { keyOperations } from './routes.ts';

/** The directory, which is above this part, decides which filters a key can be bound to. */
export const declareKeys = (checkForcedFilters: ForcedFilterCheck) =>
  noun({
    name: 'keys',
    operations: keyOperations(checkForcedFilters),
    jobs: [alertAboutCredits],
    mails: keyMails,
  });
