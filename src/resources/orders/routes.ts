import { z } from 'zod';
import { nothing, operation } from '../../operation/operation.ts';
import { explainOrder } from './explain.ts';
import { ExplainQuery, Explanation } from './schema.ts';

const explainAttribution = operation({
  id: 'explain_attribution',
  method: 'GET',
  path: '/v1/affiliates/explain',
  tag: 'Affiliates',
  summary: 'Why an order paid whom it paid, or nobody',
  description:
    'Every code and click that came with the order, the rule applied, the window test, and why each loser lost; then ' +
    "the terms as copied, the hold's end, the review, flags and refunds. Codes come before clicks; the rest is as the " +
    'store sent it.',
  callers: ['brand'],
  params: nothing,
  query: ExplainQuery,
  body: nothing,
  response: z.object({ data: Explanation }),
  errors: ['NOT_FOUND'],
  hints: { readOnly: true, idempotent: true, destructive: false },
  handler: async ({ postgres, clock }, { caller, query }) => ({
    data: await explainOrder(postgres.db, caller.brandId, query, clock.now()),
  }),
});

export const orderOperations = [explainAttribution] as const;
