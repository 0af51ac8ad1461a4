import { noun } from '../../kit/operation/noun.ts';
import { usageOperations } from './routes.ts';

export const usage = noun({
  name: 'usage',
  tag: {
    name: 'Usage',
    about: 'Calls and credits of each data key.',
  },
  operations: usageOperations,
});
