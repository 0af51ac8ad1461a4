import { z } from 'zod';
import { get } from '../../kit/operation/kit.ts';
import { noun } from '../../kit/operation/noun.ts';
import { DAY_MS } from '../../kit/values/duration.ts';
import { timestamp } from '../../kit/values/page.ts';
import { getIntegration } from '../stores/connections/connections.ts';
import { applyOrderClicks, findLastClick, findLastOrder, forgetOrderClicks } from './order-clicks.ts';
import { orderNumber } from './order-names.ts';

const StoreTracking = z
  .object({
    last_click: z
      .object({
        link_id: z.string().describe('Link that was followed.').meta({ example: 'lnk_0Uo3xK2mVdT2aXs7LpRb' }),
        link_value: z.string().describe('Name of that link, as your team gave it.').meta({ example: 'ana-summer' }),
        at: timestamp.describe('When the link was followed.').meta({ example: '2026-03-02T09:30:00.000Z' }),
      })
      .nullable()
      .describe(
        'Last visit through a tracked link that counts at this store, without bots; null if there was none within 30 days.',
      ),
    last_order: z
      .object({
        order_id: z
          .string()
          .describe('Id of the tracked order, as the store names it.')
          .meta({ example: '5551231233' }),
        order_number: orderNumber,
        ordered_at: timestamp
          .describe('When the tracked order was placed.')
          .meta({ example: '2026-03-02T09:41:00.000Z' }),
      })
      .nullable()
      .describe('Last order of this store that carried a click on one of your links; null if none ever did.'),
    checked_at: timestamp.describe('Time of this answer.').meta({ example: '2026-03-02T09:42:00.000Z' }),
  })
  .meta({ id: 'StoreTracking' });

const CLICKS_WITHIN_MS = 30 * DAY_MS;

const orderClickOperations = [
  get({
    id: 'get_affiliate_store_tracking',
    path: '/v1/affiliates/integrations/{id}/tracking',
    tag: 'Affiliates',
    summary: 'Test the click tracking of a store',
    description:
      'The last visit through a tracked link, and the last order that carried its click. Follow a link, buy something, and call this to see both.',
    // Agents see the share of orders with a click in the store itself.
    forAgents: { isListed: false },
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
        last_order: order
          ? { order_id: order.orderId, order_number: order.orderNumber, ordered_at: order.occurredAt.toISOString() }
          : null,
        checked_at: now.toISOString(),
      };
    },
  }),
] as const;

/** Clicks that a shop's pixel reports for orders, and the test of a store's click tracking. */
export const orderClicks = noun({
  name: 'order-clicks',
  operations: orderClickOperations,
  jobs: [applyOrderClicks, forgetOrderClicks],
});
