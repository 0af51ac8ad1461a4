import { z } from 'zod';
import { timestamp } from '../../values/page.ts';
import { fromOutside } from '../../values/untrusted.ts';
import { CommissionEvent } from '../commissions/schema.ts';

/** The store that sent an order. */
export interface OrderSource {
  id: string;
  brandId: string;
  provider: string;
}

const CODE_REASONS = ['unknown_code', 'other_store', 'code_inactive', 'later_code'] as const;
const CLICK_REASONS = [
  'invalid_signature',
  'foreign_brand',
  'other_store',
  'click_after_order',
  'click_outside_window',
  'older_click',
  'code_wins',
] as const;

const outcome = z.enum(['won', 'lost']);

const CodeCandidate = z.object({
  type: z.literal('code'),
  code: z.string(),
  link_id: z.string().nullable(),
  active_at_order: z.boolean().nullable().describe('Null when the code is no assignment of the brand.'),
  outcome,
  reason: z.enum(CODE_REASONS).nullable().describe('Why it lost.'),
});

const ClickWindow = z.object({
  clicked_at: timestamp,
  attribution_days: z.number().int(),
  window_ends_at: timestamp,
  ordered_at: timestamp,
  inside: z.boolean().describe('clicked_at <= ordered_at <= window_ends_at'),
});

const ClickCandidate = z.object({
  type: z.literal('click'),
  click_id: z.string(),
  link_id: z.string().nullable(),
  window: ClickWindow.nullable().describe("Null when the click is no click of one of the brand's links."),
  outcome,
  reason: z.enum(CLICK_REASONS).nullable().describe('Why it lost.'),
});

const Terms = z.object({
  commission_rate: z.number().describe('Percent.'),
  hold_days: z.number().int(),
  attribution_days: z.number().int(),
  currency: z.string().describe("The order's; the assignment's own currency does not convert it."),
});

/** What `orders.attribution` keeps of the decision: facts only, never an address. */
export const Attribution = z.object({
  rule: z.enum(['code', 'last_click']).nullable().describe('Null when nothing won.'),
  reason: z
    .enum(['no_candidates', 'no_candidate_qualified'])
    .nullable()
    .describe('Why the order paid nobody; null when it did.'),
  link_id: z.string().nullable(),
  decided_at: timestamp,
  terms: Terms.nullable().describe('As copied from the assignment at that moment.'),
  candidates: z.array(z.discriminatedUnion('type', [CodeCandidate, ClickCandidate])),
});
export type Attribution = z.infer<typeof Attribution>;

export const ExplainQuery = z.object({
  order_id: z.string().max(200).describe("The order's id at its store."),
  integration_id: z.string().max(100).optional().describe('Needed when two stores have an order of this id.'),
});

const named = {
  link_value: z.string().nullable(),
  creator_email: z.string().nullable(),
  creator_name: fromOutside(z.string().nullable()),
  explanation: z.string(),
};

const ExplainedCommission = CommissionEvent.extend({
  creator_name: fromOutside(z.string().nullable()),
  click_id: z.string().nullable(),
  paid_at: timestamp.nullable().describe('When the order was paid.'),
  hold_ends_at: timestamp.nullable(),
  hold_over: z.boolean(),
  blocked_by: z
    .array(z.enum(['rejected', 'order_not_paid', 'review_period_active', 'high_fraud_flag']))
    .describe(
      'What stands against its approval right now. `order_not_paid` (also one that was cancelled, or refunded in full) ' +
        'and `review_period_active` refuse any; `rejected` and `high_fraud_flag` hold back automatic approval only.',
    ),
  adjustments: z.array(
    z.object({
      cause: z.string().describe("The refund's id, `cancelled` or `order_updated`."),
      amount: z.number().describe('Taken back after payment.'),
      at: timestamp,
    }),
  ),
});

export type ExplainQuery = z.output<typeof ExplainQuery>;

export const Explanation = z
  .object({
    order_id: z.string(),
    integration_id: z.string(),
    source: z.string(),
    currency: z.string(),
    amount: z.number(),
    occurred_at: timestamp,
    paid_at: timestamp.nullable(),
    cancelled_at: timestamp.nullable(),
    customer_email: z.string().nullable().describe('Masked.'),
    attributed: z.boolean(),
    explanation: z.string(),
    rule: Attribution.shape.rule,
    reason: Attribution.shape.reason,
    decided_at: timestamp,
    terms: Terms.nullable(),
    candidates: z.array(z.discriminatedUnion('type', [CodeCandidate.extend(named), ClickCandidate.extend(named)])),
    commission: ExplainedCommission.nullable(),
    refunds: z.array(
      z.object({
        refund_id: z.string(),
        amount: z.number(),
        counted: z.number().describe('What of it counts: all refunds together never exceed the order.'),
        at: timestamp,
      }),
    ),
  })
  .meta({ id: 'Explanation' });
export type Explanation = z.infer<typeof Explanation>;
