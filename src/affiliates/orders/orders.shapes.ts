import { z } from 'zod';
import { creatorEmail, currencyField, idField } from '../../kit/values/fields.ts';
import { Currency } from '../../kit/values/money.ts';
import {
  booleanParameter,
  decimalParameter,
  PageQuery,
  throughInput,
  timestamp,
  timestampInput,
} from '../../kit/values/page.ts';
import { besideOthers, type Unchecked } from '../../kit/values/problems.ts';
import { fromOutside } from '../../kit/values/untrusted.ts';
import { assignedCreatorName } from '../../workflow/creators/creators.shapes.ts';
import {
  AffiliateCommission,
  CommissionEvent,
  FraudFlag,
  FraudFlags,
  maskedCustomer,
} from '../commissions/commissions.shapes.ts';
import { couponPolicy, model } from '../rules/attribution-rules.ts';
import { DISPUTE_STATUSES } from '../stores/formats/facts.ts';

/** The store that sent an order. */
export interface OrderSource {
  id: string;
  brandId: string;
  provider: string;
  /** Set for orders from before the store was connected, which pay nobody. */
  isHistory?: boolean;
}

const NOBODY = ['no_candidates', 'no_candidate_qualified', 'test_order', 'history'] as const;
const CODE_REASONS = [
  'unknown_code',
  'other_store',
  'code_inactive',
  'later_code',
  'click_wins',
  'test_order',
  'renewal',
  'below_minimum',
] as const;
const CLICK_REASONS = [
  'invalid_signature',
  'foreign_brand',
  'other_store',
  'click_after_order',
  'click_outside_window',
  'older_click',
  'later_click',
  'code_wins',
  'test_order',
  'renewal',
  'below_minimum',
] as const;

const outcome = z.enum(['won', 'lost']).describe('Whether it earned the order. At most one candidate wins.');
const linkOfCandidate = z
  .string()
  .nullable()
  .describe('Code or link that the candidate belongs to; null when the brand has no such code or link.')
  .meta({ example: 'lnk_0Uo3xK2mVdT2aXs7LpRb' });
const attributionDays = z
  .number()
  .int()
  .describe('Days after a click in which an order is attributed to it.')
  .meta({ example: 30 });

const CodeCandidate = z.object({
  type: z.literal('code').describe('`code`: a discount code redeemed with the order.'),
  code: z.string().describe('The code as the customer redeemed it.').meta({ example: 'ANA10' }),
  link_id: linkOfCandidate,
  active_at_order: z
    .boolean()
    .nullable()
    .describe('Whether the code was active when the order was placed; null when the brand has no such code.'),
  outcome,
  reason: z
    .enum(CODE_REASONS)
    .nullable()
    .describe(
      'Why the code lost; null when it won. `unknown_code`: the brand has no such code. `other_store`: it belongs to another store. ' +
        '`code_inactive`: it was not active when the order was placed. `later_code`: an earlier code of the order won. ' +
        '`click_wins`: a click won, and clicks precede codes by your rules. `test_order`: the order is a test. `renewal`: the order ' +
        'renews a subscription, and the code does not pay renewals. `below_minimum`: the order is below your `min_order`.',
    ),
});

const ClickWindow = z.object({
  clicked_at: timestamp.describe('When the link was clicked.').meta({ example: '2026-03-01T18:05:00.000Z' }),
  attribution_days: attributionDays,
  window_ends_at: timestamp
    .describe('`clicked_at` plus `attribution_days`: the last moment at which an order is attributed to the click.')
    .meta({ example: '2026-03-31T18:05:00.000Z' }),
  ordered_at: timestamp.describe('When the customer ordered.').meta({ example: '2026-03-02T09:30:00.000Z' }),
  inside: z.boolean().describe('Whether clicked_at <= ordered_at <= window_ends_at.'),
});

const ClickCandidate = z.object({
  type: z.literal('click').describe('`click`: a click whose id came with the order.'),
  click_id: z.string().describe('Id of the click, as the store sent it.'),
  link_id: linkOfCandidate,
  window: ClickWindow.nullable().describe(
    "The test of the attribution window; null when it is not a click on the brand's links.",
  ),
  outcome,
  reason: z
    .enum(CLICK_REASONS)
    .nullable()
    .describe(
      'Why the click lost; null when it won. `invalid_signature`: Rollcall did not issue the id. `foreign_brand`: the link is not yours. ' +
        '`other_store`: the link belongs to another store. `click_after_order`, `click_outside_window`: the order was placed before the ' +
        'click, or after its window. `older_click`: a later click won. `later_click`: an earlier click won, by your rules. ' +
        '`code_wins`: a code won, and codes precede clicks. `test_order`: the order is a test. `renewal`: the order renews a ' +
        'subscription, and the link does not pay renewals. `below_minimum`: the order is below your `min_order`.',
    ),
});

const Terms = z.object({
  commission_rate: z.number().describe('Percent of the sale that the creator earns.').meta({ example: 10 }),
  hold_days: z
    .number()
    .int()
    .describe('Review period in days, from the payment of the order until its commission can be approved.')
    .meta({ example: 14 }),
  attribution_days: attributionDays,
  currency: z
    .string()
    .describe("Currency of the commission: the order's. Nothing is converted to the currency of the code or link.")
    .meta({ example: 'USD' }),
});

const CAUSES = ['first_report', 'later_report', 'checkout_pixel', 'customer_journey'] as const;

/** Cause of a decision. */
const Cause = z
  .enum(CAUSES)
  .describe(
    'What led to the decision. `first_report`: the order arrived. `later_report`: a later report of the store named another ' +
      'code or click. `checkout_pixel`: the store’s checkout page reported a click. `customer_journey`: the store reported ' +
      'the page on which the customer’s visit began.',
  );
export type Cause = z.infer<typeof Cause>;

const EarlierDecision = z.object({
  decided_at: timestamp,
  cause: Cause,
  reason: z.enum(NOBODY),
});

/** The decision as `orders.attribution` stores it: facts only, no e-mail addresses. */
export const Attribution = z.object({
  rule: z
    .enum(['code', 'last_click', 'first_click'])
    .nullable()
    .describe(
      'Rule that decided: `code` for a redeemed code, `last_click` or `first_click` for a click; null when nothing won.',
    ),
  reason: z
    .enum(NOBODY)
    .nullable()
    .describe(
      'Why the order earned no commission: it came without a code or click, none qualified, it is a test, or it is history ' +
        'of its store. Null when a code or click won.',
    ),
  link_id: z.string().nullable(),
  decided_at: timestamp,
  cause: Cause.default('first_report'),
  terms: Terms.nullable(),
  /** Rules of the brand, if they differed from the defaults. */
  rules: z
    .object({
      model,
      coupon_policy: couponPolicy,
      min_order: z.object({ minor: z.number(), currency: z.string() }).nullable(),
    })
    .optional(),
  candidates: z.array(z.discriminatedUnion('type', [CodeCandidate, ClickCandidate])),
  /** Earlier decisions, which paid nobody, oldest first. */
  earlier: z.array(EarlierDecision).default([]),
});
export type Attribution = z.infer<typeof Attribution>;

export const orderId = idField('ord', 'Id of the order in Rollcall.');

export const OrderFilter = z
  .object({
    ...PageQuery,
    from: timestampInput
      .describe('Only orders placed at or after this time; a date means its start in UTC.')
      .optional(),
    to: throughInput.describe('Only orders placed at or before this time; a date includes the whole day.').optional(),
    sort: z
      .enum(['newest', 'oldest', 'amount'])
      .default('newest')
      .describe(
        '`amount`: largest first, whatever the currency. The others sort by the time at which orders were placed.',
      ),
    updated_after: timestampInput.describe('Only orders that were recorded or changed after this time.').optional(),
    attributed: booleanParameter()
      .describe('`true`: only orders that a code or link earned. `false`: only those that paid nobody.')
      .optional(),
    reason: z.enum(NOBODY).describe('Only orders that paid nobody for this reason.').optional(),
    order_id: z.string().max(200).describe('Only orders with this id at their store.').optional(),
    creator_email: z
      .email()
      .max(254)
      .describe('Only orders that this creator earned. Case does not matter.')
      .optional(),
    link_id: z.string().max(100).describe('Only orders that this code or link earned.').optional(),
    integration_id: z.string().max(100).describe('Only orders of this store.').optional(),
    flag: FraudFlag.shape.code.describe('Only orders whose commission has this fraud flag.').optional(),
    customer: z
      .enum(['new', 'returning'])
      .describe(
        "`new`: only first orders of their customers. `returning`: only later ones. An order's `customer` says which counts as first.",
      )
      .optional(),
    min_amount: decimalParameter({ min: 0, max: 1_000_000_000 })
      .describe('Only orders of at least this amount, in major units. Needs `currency`.')
      .optional(),
    currency: Currency.describe('Only orders in this currency.').optional(),
  })
  .superRefine(({ min_amount, currency }: Unchecked<'min_amount' | 'currency'>, context) => {
    if (min_amount === undefined || currency !== undefined) return;
    context.addIssue({
      code: 'custom',
      path: ['min_amount'],
      message: 'needs `currency`: amounts in different currencies cannot be compared.',
    });
  }, besideOthers);
export type OrderFilter = z.output<typeof OrderFilter>;

export const ExplainQuery = z.object({
  order_id: z.string().max(200).describe("The order's id at its store.").meta({ example: '1001' }),
  integration_id: z
    .string()
    .max(100)
    .optional()
    .describe('Store of the order. Required when two stores have an order with this id.')
    .meta({ example: 'int_0Uo3xK2mVdT2aXs7LpRb' }),
});

const named = {
  link_value: z
    .string()
    .nullable()
    .describe('Discount code or link name of `link_id`; null without one.')
    .meta({ example: 'ANA10' }),
  creator_email: creatorEmail,
  creator_name: assignedCreatorName,
  explanation: z
    .string()
    .describe('Why this candidate won or lost, in a sentence.')
    .meta({ example: 'It is the first redeemed code of the order that qualifies.' }),
};

const ExplainedCommission = CommissionEvent.extend({
  creator_name: assignedCreatorName,
  click_id: AffiliateCommission.shape.click_id,
  paid_at: timestamp.nullable().describe('When the customer paid the order; the same as `order_paid_at`.'),
  hold_ends_at: timestamp
    .nullable()
    .describe('End of the review period; the same as `approvable_at`.')
    .meta({ example: '2026-03-16T09:30:00.000Z' }),
  hold_over: z.boolean().describe('Whether the review period is over now.').meta({ example: false }),
  blocked_by: z
    .array(z.enum(['rejected', 'order_not_paid', 'review_period_active', 'high_fraud_flag']))
    .describe(
      'What prevents its approval now. `order_not_paid` (also: cancelled, or refunded in full) and ' +
        '`review_period_active` prevent any approval; `rejected` and `high_fraud_flag` only automatic approval.',
    ),
  adjustments: z
    .array(
      z.object({
        cause: z
          .string()
          .describe('Id of the refund that caused it, `cancelled`, `dispute_lost` or `order_updated`.')
          .meta({ example: 'cancelled' }),
        amount: z
          .number()
          .describe('Part of the paid commission that it took back, in major units.')
          .meta({ example: 2.5 }),
        at: timestamp.describe('When the store refunded, cancelled or changed the order.'),
      }),
    )
    .describe('Changes that took money back from the commission after it was paid, oldest first.'),
});

export type ExplainQuery = z.output<typeof ExplainQuery>;

export const Explanation = z
  .object({
    id: orderId,
    order_id: z.string().describe("The order's id at its store.").meta({ example: '1001' }),
    integration_id: z
      .string()
      .describe('Store that sent the order, in `/v1/affiliates/integrations`.')
      .meta({ example: 'int_0Uo3xK2mVdT2aXs7LpRb' }),
    source: z
      .string()
      .describe('Provider of that store: `shopify`, `woocommerce` or `generic`.')
      .meta({ example: 'shopify' }),
    currency: currencyField,
    amount: z
      .number()
      .describe(
        'What the customer paid for goods, in major units: after discounts, without tax and shipping, before refunds.',
      )
      .meta({ example: 125.5 }),
    occurred_at: timestamp.describe('When the order was placed.').meta({ example: '2026-03-02T09:30:00.000Z' }),
    paid_at: timestamp
      .nullable()
      .describe('When the customer paid the order; null while it is unpaid.')
      .meta({ example: '2026-03-02T09:30:00.000Z' }),
    cancelled_at: timestamp
      .nullable()
      .describe('When the store cancelled the order; null if it did not.')
      .meta({ example: null }),
    customer_email: maskedCustomer,
    is_test: z
      .boolean()
      .describe('Whether the store says that it is a test order, which pays nobody.')
      .meta({ example: false }),
    is_renewal: z
      .boolean()
      .describe('Whether it renews a subscription: it pays only codes and links with `pays_renewals`.')
      .meta({ example: false }),
    attributed: z.boolean().describe('Whether a code or link earned the order.').meta({ example: true }),
    explanation: z.string().describe('The decision in a sentence.').meta({
      example: 'Attributed to Ana Ortiz: 12.55 USD for a redeemed code; the commission is pending.',
    }),
    rule: Attribution.shape.rule,
    reason: Attribution.shape.reason,
    decided_at: timestamp
      .describe('When its attribution was last decided: as the order first arrived, unless `decisions` has several.')
      .meta({ example: '2026-03-02T09:30:00.000Z' }),
    decisions: z
      .array(
        z.object({
          decided_at: timestamp.describe('When this decision was made.').meta({ example: '2026-03-02T09:30:00.000Z' }),
          cause: Cause,
          rule: Attribution.shape.rule,
          reason: Attribution.shape.reason,
          explanation: z
            .string()
            .describe('What this decision was, in a sentence.')
            .meta({ example: 'It paid nobody: it came without a code and without a click.' }),
        }),
      )
      .describe(
        'Every decision, oldest first. An order that paid nobody is decided again when, within 24 hours of being placed, a code ' +
          'or click from before it becomes known; one that paid a creator is not.',
      ),
    terms: Terms.nullable().describe(
      'Terms of the winning code or link, as copied when it was decided; null when nothing won.',
    ),
    candidates: z
      .array(z.discriminatedUnion('type', [CodeCandidate.extend(named), ClickCandidate.extend(named)]))
      .describe('Every code and click that came with the order: codes first, each kind as the store sent it.'),
    commission: ExplainedCommission.nullable().describe('Commission that the order earned; null when nothing won.'),
    items: z
      .array(
        z.object({
          sku: fromOutside(
            z
              .string()
              .nullable()
              .describe('Stock keeping unit of the line; null for none.')
              .meta({ example: 'SERUM-30' }),
          ),
          title: fromOutside(
            z.string().nullable().describe('Name of what was bought.').meta({ example: 'Serum 30 ml' }),
          ),
          quantity: z.number().int().describe('How many were bought.').meta({ example: 1 }),
          amount_minor: z
            .number()
            .int()
            .describe('What the customer paid for the line, in minor units: after discounts, without tax.')
            .meta({ example: 12_550 }),
          refunded_minor: z
            .number()
            .int()
            .describe('Refunds of the line, by the refunds that name it; the whole line if the order was cancelled.')
            .meta({ example: 0 }),
        }),
      )
      .describe('What was bought, up to 200 lines; empty if the store does not say.'),
    refunds: z
      .array(
        z.object({
          refund_id: z
            .string()
            .describe(
              "The refund's id at its store; `cancelled` or `dispute_lost` for what was left when a paid order was cancelled or lost.",
            )
            .meta({ example: 're_77' }),
          amount: z.number().describe('What the store refunded, in major units.').meta({ example: 25 }),
          counted: z
            .number()
            .describe('Part of it that reduces the sale, in major units: all refunds together never exceed the order.')
            .meta({ example: 25 }),
          at: timestamp.describe('When the store refunded it.').meta({ example: '2026-03-05T10:00:00.000Z' }),
        }),
      )
      .describe('Refunds of the order, oldest first.'),
    disputes: z
      .array(
        z.object({
          dispute_id: z.string().describe("The dispute's id at its store.").meta({ example: '285332461' }),
          status: z
            .enum(DISPUTE_STATUSES)
            .describe(
              "Outcome of the dispute. `lost`: the customer's bank returned the payment; the commission is rejected.",
            ),
          at: timestamp
            .describe('When the store last reported the dispute.')
            .meta({ example: '2026-03-20T10:00:00.000Z' }),
          lost_at: timestamp
            .nullable()
            .describe('When the store first reported the dispute as lost; null unless it is lost.')
            .meta({ example: null }),
        }),
      )
      .describe("Disputes of the customer's bank over the payment."),
  })
  .meta({ id: 'Explanation' });
export type Explanation = z.infer<typeof Explanation>;

const shown = Explanation.shape;

export const Order = z
  .object({
    id: orderId,
    order_id: shown.order_id,
    integration_id: shown.integration_id,
    source: shown.source,
    occurred_at: shown.occurred_at,
    paid_at: shown.paid_at,
    cancelled_at: shown.cancelled_at,
    currency: shown.currency,
    amount: shown.amount,
    customer_email: shown.customer_email,
    customer: z
      .enum(['new', 'returning'])
      .nullable()
      .describe(
        '`new`: the first paid order of its customer that is known, tests aside. `returning`: a later one. Null without payment or e-mail address.',
      ),
    is_test: shown.is_test,
    is_renewal: shown.is_renewal,
    attributed: shown.attributed,
    rule: shown.rule,
    reason: shown.reason,
    link_id: z
      .string()
      .nullable()
      .describe('Code or link that earned the order; null when it paid nobody.')
      .meta({ example: 'lnk_0Uo3xK2mVdT2aXs7LpRb' }),
    creator_email: z
      .string()
      .nullable()
      .describe("E-mail address of the order's creator; null when it paid nobody.")
      .meta({ example: 'ana@example.com' }),
    commission_id: z
      .string()
      .nullable()
      .describe('Id of the commission that the order earned; null when it paid nobody.')
      .meta({ example: 'com_0Uo3xK2mVdT2aXs7LpRb' }),
    commission: z
      .number()
      .nullable()
      .describe('What the creator earns of the order, in major units; null when it paid nobody.')
      .meta({ example: 12.55 }),
    status: CommissionEvent.shape.status
      .nullable()
      .describe('Status of that commission; null when the order paid nobody.'),
    fraud_flags: FraudFlags.describe('Fraud flags of that commission.'),
    creator_name: assignedCreatorName.describe(
      "Name of the order's creator; null when it paid nobody, or the name is unknown.",
    ),
  })
  .meta({ id: 'Order' });
