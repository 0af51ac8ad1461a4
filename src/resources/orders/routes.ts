import { z } from 'zod';
import { read } from '../../operation/kit.ts';
import { explainOrder } from './explain.ts';
import { ExplainQuery, Explanation } from './schema.ts';

const explainAttribution = read({
  id: 'explain_attribution',
  path: '/v1/affiliates/explain',
  tag: 'Affiliates',
  summary: 'Why an order paid whom it paid, or nobody',
  description:
    'Every code and click that came with the order, the rule applied, the window test, and why each loser lost; then ' +
    "the terms as copied, the hold's end, the review, flags and refunds. Codes come before clicks; the rest is as the " +
    'store sent it.',
  query: ExplainQuery,
  response: z.object({ data: Explanation }),
  errors: ['NOT_FOUND'],
  handler: async ({ postgres, clock }, { caller, query }) => ({
    data: await explainOrder(postgres.db, caller.brandId, query, clock.now()),
  }),
});

export const orderOperations = [explainAttribution] as const;
