import { act, list } from '../../../kit/operation/kit.ts';
import { noun } from '../../../kit/operation/noun.ts';
import { getIntegration } from '../connections/connections.ts';
import { forgetStoreDeliveries, retryReconnectedStores } from './deliveries.jobs.ts';
import { DeliveryParams, StoreDelivery, StoreDeliveryFilter, toStoreDelivery } from './deliveries.shapes.ts';
import { storeDeliveries } from './deliveries.ts';
import { retryDelivery } from './inbox.ts';

const tag = 'Affiliates';

const storeDeliveryOperations = [
  list({
    id: 'list_store_deliveries',
    path: '/v1/affiliates/integrations/{id}/deliveries',
    tag,
    summary: 'List deliveries of a store',
    description:
      'What the store sent in the last 30 days, newest first, with its outcome. `state=failed` lists what could not be read, with the reason.',
    forAgents: { isListed: false },
    item: StoreDelivery,
    query: StoreDeliveryFilter,
    errors: ['NOT_FOUND'],
    rows: storeDeliveries,
    whereOf: async ({ postgres }, { caller, params, query }) => {
      const { id: integrationId } = await getIntegration(postgres.db, caller.brandId, params.id);
      return { ...query, integrationId };
    },
    itemOf: toStoreDelivery,
  }),
  act({
    id: 'retry_store_delivery',
    path: '/v1/affiliates/integrations/{id}/deliveries/{delivery}/retry',
    tag,
    summary: 'Retry a delivery of a store',
    description:
      'Retries a failed or waiting delivery at once, and then for 24 hours. A delivery that is done or ignored stays unchanged.',
    forAgents: { isListed: false },
    params: DeliveryParams,
    item: StoreDelivery,
    errors: ['NOT_FOUND'],
    hints: { idempotent: true },
    apply: async (work, { params }) => toStoreDelivery(await retryDelivery(work, params.id, params.delivery)),
  }),
] as const;

export const storeDeliveriesNoun = noun({
  name: 'store-deliveries',
  ids: { delivery: 'sdl' },
  operations: storeDeliveryOperations,
  jobs: [forgetStoreDeliveries, retryReconnectedStores],
});
