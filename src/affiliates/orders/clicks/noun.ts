import { noun } from '../../../kit/operation/noun.ts';
import { forgetOrderClicks, useOrderClicks } from './jobs.ts';
import { orderClickOperations } from './routes.ts';

/** Clicks that a shop's pixel reports for orders, and whether clicks reach orders at all. */
export const orderClicks = noun({
  name: 'order-clicks',
  operations: orderClickOperations,
  jobs: [useOrderClicks, forgetOrderClicks],
});
