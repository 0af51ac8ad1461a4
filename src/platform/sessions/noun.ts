import { noun } from '../../kit/operation/noun.ts';
import { sessionOperations } from './routes.ts';

export const sessions = noun({
  name: 'sessions',
  operations: sessionOperations,
});
