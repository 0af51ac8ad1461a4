import { noun } from '../../operation/noun.ts';
import { orderOperations } from './routes.ts';

export const orders = noun({
  name: 'orders',
  operations: orderOperations,
});
