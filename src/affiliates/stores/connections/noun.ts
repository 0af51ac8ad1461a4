import { noun } from '../../../kit/operation/noun.ts';
import { integrationOperations, storeOperations } from './routes.ts';

export const integrations = noun({
  name: 'integrations',
  ids: { integrations: 'int', stores: 'int' },
  operations: [...integrationOperations, ...storeOperations],
});
