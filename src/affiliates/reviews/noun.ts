import { noun } from '../../kit/operation/noun.ts';
import { approveCommissions } from './jobs.ts';
import { reviewOperations } from './routes.ts';

export const reviews = noun({
  name: 'reviews',
  operations: reviewOperations,
  jobs: [approveCommissions],
});
