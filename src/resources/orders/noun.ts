import { noun } from '../../operation/noun.ts';
import { askForJourneysDue } from './jobs.ts';
import { orderOperations } from './routes.ts';

export const orders = noun({
  name: 'orders',
  operations: orderOperations,
  jobs: [askForJourneysDue],
});
