import { noun } from '../../kit/operation/noun.ts';
import { campaignOperations } from './routes.ts';

export const campaigns = noun({
  name: 'campaigns',
  tag: {
    name: 'Campaigns',
    about: 'What creators apply to. Each has a public page, `/apply/{id}`.',
  },
  ids: { campaigns: 'cmp' },
  operations: campaignOperations,
});
