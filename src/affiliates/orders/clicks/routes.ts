import { get } from '../../../kit/operation/kit.ts';
import { DAY_MS } from '../../../kit/values/duration.ts';
import { getIntegration } from '../../stores/connections/queries.ts';
import { findLastClick, findLastOrder } from './queries.ts';
import { StoreTracking } from './schema.ts';

const CLICKS_WITHIN_MS = 30 * DAY_MS;

export const orderClickOperations = [
  get({
    id: 'get_affiliate_store_tracking',
    path: '/v1/affiliates/integrations/{id}/tracking',
    tag: 'Affiliates',
    summary: 'Test the click tracking of a store',
    description:
      'The last visit through a tracked link, and the last order that carried its click. Follow a link, buy something, and call this to see both.',
    // Agents see the share of orders with a click in the store itself.
    forAgents: false,
    item: StoreTracking,
    find: async ({ postgres, clickhouse, clock }, { caller: { brandId }, params: { id } }) => {
      const now = clock.now();
      await getIntegration(postgres.db, brandId, id);
      const store = { brandId, integrationId: id };
      const since = new Date(now.getTime() - CLICKS_WITHIN_MS);
      const [click, order] = await Promise.all([
        findLastClick(postgres.db, clickhouse, store, since),
        findLastOrder(postgres.db, store),
      ]);
      return {
        last_click: click ? { link_id: click.id, link_value: click.value, at: click.at.toISOString() } : null,
        last_order: order ? { order_id: order.orderId, ordered_at: order.occurredAt.toISOString() } : null,
        checked_at: now.toISOString(),
      };
    },
  }),
] as const;
