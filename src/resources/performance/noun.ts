import { noun } from '../../operation/noun.ts';
import { performanceOperations } from './routes.ts';

export const performance = noun({
  name: 'performance',
  ids: { affiliates: 'crt' },
  operations: performanceOperations,
});
