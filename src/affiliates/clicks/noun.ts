import { noun } from '../../kit/operation/noun.ts';
import { clickOperations } from './routes.ts';

export const clicks = noun({
  name: 'clicks',
  tag: { name: 'Clicks', about: 'Visits to the short links of creators, one by one.' },
  operations: clickOperations,
});
