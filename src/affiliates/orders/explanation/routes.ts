import { get } from '../../../kit/operation/kit.ts';
import { ExplainQuery, Explanation } from '../schema.ts';
import { explainOrder, getMeant } from './actions.ts';

export const explanationOperations = [
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
      await explainOrder(postgres.db, await getMeant(postgres.db, caller.brandId, query), clock.now()),
  }),
] as const;
