import { noun } from '../../kit/operation/noun.ts';
import { creatorMails } from './mails.ts';
import { profileConsumer, profileCreators } from './profiles/jobs.ts';

/** The list of creators shows what they sold, so its operation is in `analytics/creators`. */
export const creatorRecords = noun({
  name: 'creator-records',
  operations: [],
  jobs: [profileCreators],
  consumers: [profileConsumer],
  mails: creatorMails,
});
