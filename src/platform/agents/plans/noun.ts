import { noun } from '../../../kit/operation/noun.ts';
import { forgetPlans } from './jobs.ts';
import { planOperations } from './routes.ts';

export const plans = noun({
  name: 'plans',
  ids: { plans: 'pln' },
  operations: planOperations,
  jobs: [forgetPlans],
});
