import type { z } from 'zod';
import { act, get, list } from '../../kit/operation/kit.ts';
import { noun } from '../../kit/operation/noun.ts';
import { nothing, operation } from '../../kit/operation/operation.ts';
import { fromMinor } from '../../kit/values/decimals.ts';
import { toWire } from '../../kit/values/wire.ts';
import { registerKind } from '../../platform/jobs/jobs.ts';
import { FraudFlags } from '../commissions/commissions.shapes.ts';
import { Attribution } from './attribution.shapes.ts';
import { explainOrder, getOrderToExplain } from './explain.ts';
import { forgetJourneys, requestCustomerJourneys } from './journeys.jobs.ts';
import { getOrderKind } from './order-kinds.ts';
import { ExplainQuery, Explanation, Order, OrderFilter } from './orders.shapes.ts';
import { type ListedOrder, orders } from './orders.ts';
import { checkReferrers } from './referrers.ts';
import { RecordedOrders, ReportedOrder, ReportedOrders, ReportedRefund } from './reports.shapes.ts';
import { recordReportedOrders, recordReportedRefund } from './reports.ts';
import { simulationKind } from './simulations.jobs.ts';
import { Simulation, SimulationRequest, SimulationStarted } from './simulations.shapes.ts';
import { SIMULATION, simulate, startSimulation } from './simulations.ts';

const explanationOperations = [
  get({
    id: 'explain_attribution',
    path: '/v1/affiliates/explain',
    tag: 'Affiliates',
    summary: 'Explain the attribution of an order',
    description:
      'Shows every code and click that came with the order, the rule that decided, the window test, and why each other ' +
      'candidate lost; then the terms, the review period, the status, the fraud flags and the refunds.',
    forAgents: {
      description:
        'Why an order paid a creator, or nobody: every code and click that came with it, the rule that decided, why each other candidate lost; then the review period, status, fraud flags and refunds.',
      example: { order_id: '1001' },
    },
    query: ExplainQuery,
    item: Explanation,
    errors: ['NOT_FOUND'],
    find: async ({ postgres, clock }, { caller, query }) =>
      await explainOrder(postgres.db, await getOrderToExplain(postgres.db, caller.brandId, query), clock.now()),
  }),
] as const;

const tag = 'Orders';

function toOrder({ attribution, baseMinor, commissionMinor, fraudFlags, ...row }: ListedOrder): z.input<typeof Order> {
  const { rule, reason } = Attribution.parse(attribution);
  const { currency, status } = row;
  const owedAmount = commissionMinor === null ? null : fromMinor(commissionMinor, currency);
  return {
    ...toWire(row),
    source: row.provider,
    amount: fromMinor(baseMinor, currency),
    is_test: row.isTest ?? false,
    kind: getOrderKind(row),
    is_renewal: getOrderKind(row) === 'renewal',
    attributed: row.commissionId !== null,
    rule,
    reason,
    commission: status === 'rejected' ? 0 : owedAmount,
    fraud_flags: FraudFlags.parse(fraudFlags ?? []),
  };
}

const orderOperations = [
  list({
    id: 'list_orders',
    path: '/v1/orders',
    tag,
    summary: 'List orders',
    description: "Every order that the brand's stores reported, whether or not it paid a creator. Newest first.",
    forAgents: {
      description: 'Whether or not they paid a creator.',
      example: { attributed: false },
      omits: [
        'updated_after',
        'flag',
        'min_amount',
        'reason',
        'integration_id',
        'link_id',
        'offset',
        'customer_id',
        'group_id',
      ],
    },
    query: OrderFilter,
    item: Order,
    rows: orders,
    sums: {
      amount: 'What customers paid for goods, before refunds.',
      commission: 'What creators earn by them; rejected commissions add nothing.',
    },
    itemOf: toOrder,
  }),
  get({
    id: 'get_order',
    path: '/v1/orders/{id}',
    tag,
    summary: 'Get an order, explained',
    description: "The same answer as `/v1/affiliates/explain`, by the order's id in Rollcall.",
    // explain_attribution does the same.
    forAgents: { isListed: false },
    item: Explanation,
    find: async ({ postgres, clock }, { caller: { brandId }, params }) =>
      await explainOrder(postgres.db, await orders.get(postgres.db, brandId, params.id), clock.now()),
  }),
  ...explanationOperations,
] as const;

const SAME =
  'Orders are attributed like those of a connected store, with the same commissions, ledger entries and events.';

const reportingOperations = [
  act({
    id: 'report_order',
    path: '/v1/orders',
    tag: 'Orders',
    summary: 'Report an order',
    description:
      `Records an order of a shop that is not connected, or updates it; repeating a report changes nothing. ${SAME} ` +
      'Send the codes that the customer redeemed, and the `click_id` of the landing page.',
    forAgents: { isListed: false },
    hints: { idempotent: true, planned: true },
    body: ReportedOrder,
    item: Order,
    lookUp: async ({ secrets }) => secrets,
    apply: async (work, { body }, secrets) => {
      const [recordedOrder] = await recordReportedOrders(work, secrets, [body]);
      return toOrder(await orders.get(work.db, work.brandId, recordedOrder?.id ?? ''));
    },
  }),
  act({
    id: 'report_orders',
    path: '/v1/orders/batch',
    tag: 'Orders',
    summary: 'Report up to 500 orders',
    description: `All reports are recorded, or none if one is invalid. ${SAME}`,
    forAgents: { isListed: false },
    hints: { idempotent: true, planned: true },
    body: ReportedOrders,
    item: RecordedOrders,
    lookUp: async ({ secrets }) => secrets,
    apply: async (work, { body }, secrets) => ({
      orders: await recordReportedOrders(work, secrets, body.orders, body.history),
    }),
  }),
  act({
    id: 'report_refund',
    path: '/v1/orders/{id}/refunds',
    tag: 'Orders',
    summary: 'Report a refund of an order',
    description:
      'Adds a refund to an order that was reported with a key; repeating it changes nothing. A connected store reports its ' +
      'refunds itself.',
    forAgents: { isListed: false },
    hints: { idempotent: true, planned: true },
    body: ReportedRefund,
    item: Explanation,
    errors: ['NOT_FOUND', 'CONFLICT'],
    apply: async (work, { params, body }) => {
      await recordReportedRefund(work, params.id, body);
      return await explainOrder(work.db, await orders.get(work.db, work.brandId, params.id), work.now);
    },
  }),
] as const;

const simulationOperations = [
  operation({
    id: 'simulate_rules',
    method: 'POST',
    path: '/v1/affiliates/simulate',
    tag: 'Affiliates',
    summary: 'Simulate other rules',
    description:
      'Decides the paid orders of a period again under the given rules, with what came with each order, and compares. Changes ' +
      'nothing. More than 50,000 orders take a job: the response is 202, the answer is in its file `simulation.json`, and its ' +
      '`result` is the same with up to 100 creators.',
    forAgents: { isListed: false },
    callers: ['brand'],
    params: nothing,
    query: nothing,
    body: SimulationRequest,
    response: Simulation,
    errors: ['CONFLICT'],
    hints: { readOnly: true, idempotent: true, destructive: false },
    handler: (context, { caller, body }) => simulate(context, caller.brandId, body),
    later: {
      response: SimulationStarted,
      begin: (context, { caller, body }) => startSimulation(context, caller.brandId, body),
    },
  }),
] as const;

registerKind(SIMULATION, simulationKind);

export const ordersNoun = noun({
  name: 'orders',
  tag: { name: 'Orders', about: 'What customers bought in your stores, and which creators it paid.' },
  ids: { orders: 'ord' },
  operations: [...orderOperations, ...reportingOperations, ...simulationOperations],
  jobs: [requestCustomerJourneys, forgetJourneys, checkReferrers],
});
