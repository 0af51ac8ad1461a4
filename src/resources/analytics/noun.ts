import { noun } from '../../operation/noun.ts';
import { performanceOperations } from './performance/routes.ts';
import { analyticsOperations } from './routes.ts';

export const analytics = noun({
  name: 'analytics',
  tag: {
    name: 'Analytics',
    about: 'Figures of the brand over time.',
  },
  ids: { top_creators: 'crt', affiliates: 'crt' },
  operations: [...performanceOperations, ...analyticsOperations],
});
