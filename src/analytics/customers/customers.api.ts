import { read } from '../../kit/operation/kit.ts';
import { figuresHandlers, withFreshness } from '../figures/freshness.ts';
import { FRESHNESS } from '../figures/sums.ts';
import { Customers, CustomersQuery, CustomersRow, Share, ShareQuery } from './customers.shapes.ts';
import { eachCustomersRow, findCustomers, findShare } from './customers.ts';

const getAnalyticsCustomers = read({
  id: 'get_analytics_customers',
  path: '/v1/analytics/customers',
  tag: 'Analytics',
  summary: 'Get new and returning customers',
  description:
    'One row for each key and currency, from all paid orders with an email address. Orders that no code or link ' +
    `won are in the row with the key null. Covers the last 30 days by default. ${FRESHNESS}`,
  forAgents: {
    description: 'Of all paid orders with an email address; those that nobody won have the key null.',
    example: { by: 'creator' },
    omits: ['offset', 'currency'],
  },
  query: CustomersQuery,
  response: Customers,
  ...figuresHandlers({ item: CustomersRow, page: findCustomers, rows: eachCustomersRow, from: 'customers' }),
});

const getAnalyticsShare = read({
  id: 'get_analytics_share',
  path: '/v1/analytics/share',
  tag: 'Analytics',
  summary: "Get creators' share of all sales",
  description:
    'Compares the orders that codes and links won with all other orders: their sales, and how many are first orders of ' +
    `new customers. Covers the last 30 days by default. ${FRESHNESS}`,
  forAgents: {
    description: 'Sales that codes and links won beside all others, and their new customers.',
    example: {},
  },
  query: ShareQuery,
  response: Share,
  handler: (context, call) =>
    withFreshness(
      context,
      call,
      async () => ({ data: await findShare(context, call.caller.brandId, call.query) }),
      'customers',
    ),
});

export const customersOperations = [getAnalyticsCustomers, getAnalyticsShare] as const;
