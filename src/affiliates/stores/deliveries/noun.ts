import { noun } from '../../../kit/operation/noun.ts';
import { forgetStoreDeliveries, retryReconnectedStores } from './jobs.ts';
import { storeDeliveryOperations } from './routes.ts';

export const storeDeliveries = noun({
  name: 'store-deliveries',
  ids: { delivery: 'sdl' },
  operations: storeDeliveryOperations,
  jobs: [forgetStoreDeliveries, retryReconnectedStores],
});
