import { act } from '../../../kit/operation/kit.ts';
import { explainOrder } from '../explanation/actions.ts';
import { orders } from '../queries.ts';
import { orderOf } from '../routes.ts';
import { Explanation, Order } from '../schema.ts';
import { recordReported, recordReportedRefund } from './actions.ts';
import { Recorded, ReportedOrder, ReportedOrders, ReportedRefund } from './schema.ts';

const tag = 'Orders';
const SAME =
  'Orders are attributed like those of a connected store, with the same commissions, ledger entries and events.';

export const reportingOperations = [
  act({
    id: 'report_order',
    path: '/v1/orders',
    tag,
    summary: 'Report an order',
    description:
      `Records an order of a shop that is not connected, or updates it; repeating a report changes nothing. ${SAME} ` +
      'Send the codes that the customer redeemed, and the `click_id` of the landing page.',
    // A system of the brand's reports its sales.
    forAgents: false,
    hints: { idempotent: true },
    body: ReportedOrder,
    item: Order,
    lookUp: async ({ secrets }) => secrets,
    apply: async (work, { body }, secrets) => {
      const [recorded] = await recordReported(work, secrets, [body]);
      return orderOf(await orders.get(work.db, work.brandId, recorded?.id ?? ''));
    },
  }),
  act({
    id: 'report_orders',
    path: '/v1/orders/batch',
    tag,
    summary: 'Report up to 500 orders',
    description: `All reports are recorded, or none if one is invalid. ${SAME}`,
    forAgents: false,
    hints: { idempotent: true },
    body: ReportedOrders,
    item: Recorded,
    lookUp: async ({ secrets }) => secrets,
    apply: async (work, { body }, secrets) => ({
      orders: await recordReported(work, secrets, body.orders, body.history),
    }),
  }),
  act({
    id: 'report_refund',
    path: '/v1/orders/{id}/refunds',
    tag,
    summary: 'Report a refund of an order',
    description:
      'Adds a refund to an order that was reported with a key; repeating it changes nothing. A connected store reports its ' +
      'refunds itself.',
    forAgents: false,
    hints: { idempotent: true },
    body: ReportedRefund,
    item: Explanation,
    errors: ['NOT_FOUND', 'CONFLICT'],
    apply: async (work, { params, body }) => {
      await recordReportedRefund(work, params.id, body);
      return await explainOrder(work.db, await orders.get(work.db, work.brandId, params.id), work.now);
    },
  }),
] as const;
