import { noun } from '../../kit/operation/noun.ts';
import { breakdownOperations } from './breakdown/routes.ts';
import { cohortsOperations } from './cohorts/routes.ts';
import { customersOperations } from './customers/routes.ts';
import { performanceOperations } from './performance/routes.ts';
import { returnsOperations } from './returns/routes.ts';
import { analyticsOperations } from './routes.ts';

export const analytics = noun({
  name: 'analytics',
  tag: {
    name: 'Analytics',
    about: 'Figures of the brand over time.',
  },
  ids: { top_creators: 'crt', affiliates: 'crt' },
  operations: [
    ...performanceOperations,
    ...analyticsOperations,
    ...breakdownOperations,
    ...returnsOperations,
    ...customersOperations,
    ...cohortsOperations,
  ],
});
