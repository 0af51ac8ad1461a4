import type { z } from 'zod';
import { get, list } from '../../kit/operation/kit.ts';
import { fromMinor } from '../../kit/values/money.ts';
import { toWire } from '../../kit/values/wire.ts';
import { FraudFlags } from '../commissions/schema.ts';
import { explainOrder } from './explanation/actions.ts';
import { explanationOperations } from './explanation/routes.ts';
import { type ListedOrder, orders } from './queries.ts';
import { Attribution, Explanation, Order, OrderFilter } from './schema.ts';

const tag = 'Orders';

export function orderOf({
  attribution,
  baseMinor,
  commissionMinor,
  fraudFlags,
  ...row
}: ListedOrder): z.input<typeof Order> {
  const { rule, reason } = Attribution.parse(attribution);
  const { currency, status } = row;
  const owed = commissionMinor === null ? null : fromMinor(commissionMinor, currency);
  return {
    ...toWire(row),
    source: row.provider,
    amount: fromMinor(baseMinor, currency),
    is_test: row.isTest ?? false,
    is_renewal: row.isRenewal ?? false,
    attributed: row.commissionId !== null,
    ...{ rule, reason },
    commission: status === 'rejected' ? 0 : owed,
    fraud_flags: FraudFlags.parse(fraudFlags ?? []),
  };
}

export const orderOperations = [
  list({
    id: 'list_orders',
    path: '/v1/orders',
    tag,
    summary: 'List orders',
    description: "Every order that the brand's stores reported, whether or not it paid a creator. Newest first.",
    forAgents: {
      description: 'Whether or not they paid a creator.',
      example: { attributed: false },
      omits: ['updated_after', 'flag', 'min_amount', 'reason', 'integration_id', 'link_id', 'offset'],
    },
    query: OrderFilter,
    item: Order,
    rows: orders,
    itemOf: orderOf,
  }),
  get({
    id: 'get_order',
    path: '/v1/orders/{id}',
    tag,
    summary: 'Get an order, explained',
    description: "The same answer as `/v1/affiliates/explain`, by the order's id in Rollcall.",
    // explain_attribution does the same.
    forAgents: false,
    item: Explanation,
    find: async ({ postgres, clock }, { caller: { brandId }, params }) =>
      await explainOrder(postgres.db, await orders.get(postgres.db, brandId, params.id), clock.now()),
  }),
  ...explanationOperations,
] as const;
