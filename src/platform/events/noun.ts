import { noun } from '../../kit/operation/noun.ts';
import { eventOperations } from './routes.ts';

export const events = noun({
  name: 'events',
  ids: { events: 'evt' },
  operations: eventOperations,
});
