import { noun } from '../../operation/noun.ts';
import { savedSearchOperations } from './routes.ts';

export const savedSearches = noun({
  name: 'saved-searches',
  operations: savedSearchOperations,
});
