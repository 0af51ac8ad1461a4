import { noun } from '../../kit/operation/noun.ts';
import { sessionOperations } from './routes.ts';

export const sessionsNoun = noun({
  name: 'sessions',
  operations: sessionOperations,
});
