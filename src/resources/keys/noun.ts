import { noun } from '../../operation/noun.ts';
import { keyOperations } from './routes.ts';

export const keys = noun({
  name: 'keys',
  operations: keyOperations,
});
