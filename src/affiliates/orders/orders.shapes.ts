import { z } from 'zod';
import { Email } from '../../kit/values/email.ts';
import { creatorEmail, currencyField, idField } from '../../kit/values/fields.ts';
import { Currency } from '../../kit/values/money.ts';
import {
  booleanParameter,
  decimalParameter,
  PageQuery,
  TotalsQuery,
  throughInput,
  timestamp,
  timestampInput,
  timeZoneInput,
} from '../../kit/values/page.ts';
import { besideOthers, type Unchecked } from '../../kit/values/problems.ts';
import { fromOutside } from '../../kit/values/untrusted.ts';
import { assignedCreatorName } from '../../workflow/creators/creators.shapes.ts';
import { OrderKind } from '../../workflow/terms/terms.shapes.ts';
import {
  AffiliateCommission,
  CommissionEvent,
  FraudFlag,
  FraudFlags,
  maskedCustomer,
} from '../commissions/commissions.shapes.ts';
import { DISPUTE_STATUSES } from '../stores/formats/facts.ts';
import { PricedLine, PricedPart } from '../terms/preview.shapes.ts';
import {
  Attribution,
  Cause,
  ClickCandidate,
  CodeCandidate,
  NOBODY,
  RecordedTerms,
  ShownCustomerCandidate,
} from './attribution.shapes.ts';
import { NAMED_BY, orderNumber } from './order-names.ts';

/** The store that sent an order. */
export interface OrderSource {
  id: string;
  brandId: string;
  provider: string;
  /** Set for orders from before the store was connected, which pay nobody. */
  isHistory?: boolean;
}

export const orderId = idField('ord', 'Id of the order in Rollcall.');

export const OrderFilter = z
  .object({
    ...PageQuery,
    from: timestampInput.describe('Only orders placed at or after this time; a date means its start.').optional(),
    to: throughInput.describe('Only orders placed at or before this time; a date includes the whole day.').optional(),
    time_zone: timeZoneInput,
    sort: z
      .enum(['newest', 'oldest', 'amount', 'commission'])
      .default('newest')
      .describe(
        '`amount`, `commission`: largest first, whatever the currency. The others sort by the time at which orders were placed.',
      ),
    updated_after: timestampInput.describe('Only orders that were recorded or changed after this time.').optional(),
    attributed: booleanParameter()
      .describe('`true`: only orders that a code or link earned. `false`: only those that paid nobody.')
      .optional(),
    reason: z.enum(NOBODY).describe('Only orders that paid nobody for this reason.').optional(),
    order_id: z
      .string()
      .max(200)
      .describe('Only orders with this id at their store, or with this number: case and a leading # do not matter.')
      .optional(),
    creator_email: Email.describe('Only orders that this creator earned. Case does not matter.').optional(),
    link_id: z.string().max(100).describe('Only orders that this code or link earned.').optional(),
    integration_id: z.string().max(100).describe('Only orders of this store.').optional(),
    flag: FraudFlag.shape.code.describe('Only orders whose commission has this fraud flag.').optional(),
    customer: z
      .enum(['new', 'returning'])
      .describe(
        "`new`: only first orders of their customers. `returning`: only later ones. An order's `customer` says which counts as first.",
      )
      .optional(),
    kind: OrderKind.optional().describe('Only orders of this kind.').meta({ example: 'renewal' }),
    min_amount: decimalParameter({ min: 0, max: 1_000_000_000 })
      .describe('Only orders of at least this amount, in major units. Needs `currency`.')
      .optional(),
    currency: Currency.describe('Only orders in this currency.').optional(),
    customer_id: z
      .string()
      .max(100)
      .describe('Only orders of this customer whom a creator brought, as in `/v1/customers`.')
      .optional(),
    group_id: z
      .string()
      .max(100)
      .describe('Only orders that were won for creators who are in this group now.')
      .optional(),
    ...TotalsQuery,
  })
  .superRefine(({ min_amount, currency }: Unchecked<'min_amount' | 'currency'>, context) => {
    if (min_amount === undefined || currency !== undefined) return;
    context.addIssue({
      code: 'custom',
      path: ['min_amount'],
      message: 'needs `currency`: amounts in different currencies cannot be compared',
    });
  }, besideOthers);
export type OrderFilter = z.output<typeof OrderFilter>;

export const ExplainQuery = z.object({
  order_id: z
    .string()
    .max(200)
    .describe("The order's id at its store, or its number: case and a leading # do not matter.")
    .meta({ example: '1001' }),
  integration_id: z
    .string()
    .max(100)
    .optional()
    .describe('Store of the order. Required when two stores have an order with this id or number.')
    .meta({ example: 'int_0Uo3xK2mVdT2aXs7LpRb' }),
  match: z
    .enum(NAMED_BY)
    .optional()
    .describe('`id`: `order_id` is the id alone. `number`: it is the number alone. Omitted: either.'),
});

const linkFields = {
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
    .meta({ example: 'First qualifying code used on this order.' }),
};

const Volume = z.object({
  orders: z.number().int().describe('Paid orders of the creator before this one.').meta({ example: 12 }),
  revenue_minor: z
    .number()
    .int()
    .describe("Their revenue in the order's currency, net of refunds, in minor units.")
    .meta({ example: 120_000 }),
});

const ExplainedCommission = CommissionEvent.extend({
  parts: z.array(PricedPart).describe('What each rule of the terms decided, in the order of the first lines.'),
  lines: z.array(PricedLine).describe('What each line earns, and last what no line accounts for.'),
  capped: z
    .object({
      by: z
        .enum(['order', 'customer', 'month', 'budget'])
        .describe('The limit: of the order, the customer, the month, or the budget of all orders.')
        .meta({ example: 'order' }),
      limit_minor: z.number().int().describe('The limit, in minor units.').meta({ example: 5_000 }),
      cut_minor: z.number().int().describe('What it took off, in minor units.').meta({ example: 1_000 }),
    })
    .nullable()
    .describe('The cap or budget that reduced it; null if none did.'),
  facts: z
    .object({
      customer: z.enum(['new', 'returning']).nullable().describe('The customer; null if no rule asks for it.'),
      country: z.string().nullable().describe('Country of the order, as known then.').meta({ example: 'DE' }),
      kind: OrderKind.nullable().describe('Kind of the order; null if no terms ask for it.'),
      by: z.enum(['code', 'click', 'customer']).nullable().describe('What decided it.').meta({ example: 'code' }),
      payment: z.number().int().nullable().describe('The number of the payment of its customer.').meta({ example: 1 }),
      volume: z
        .object({ month: Volume.describe('In the same month.'), ever: Volume.describe('In all.') })
        .nullable()
        .describe("The creator's earlier orders; null if no rule asks for them."),
      time_zone: z
        .string()
        .optional()
        .describe("The brand's time zone then, if a rule names days.")
        .meta({ example: 'Europe/Berlin' }),
    })
    .nullable()
    .describe('What conditions of the rules were compared with, as it was then; null for a percentage alone.'),
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
    kind: OrderKind,
    subscription_id: z
      .string()
      .nullable()
      .describe('Subscription that the order belongs to, by its id at the store; null if the store names none.')
      .meta({ example: '8999' }),
    customer_id: z
      .string()
      .nullable()
      .describe('The customer whom a creator brought and to whom the order belongs, in `/v1/customers`; null for none.')
      .meta({ example: null }),
    country: z
      .string()
      .nullable()
      .describe('Country that the order is shipped to, else billed to; null if the store does not say.')
      .meta({ example: 'DE' }),
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
    terms: RecordedTerms.nullable().describe(
      'Terms of the winning code or link, as copied when it was decided; null when nothing won.',
    ),
    candidates: z
      .array(
        z.discriminatedUnion('type', [
          CodeCandidate.extend(linkFields),
          ClickCandidate.extend(linkFields),
          ShownCustomerCandidate.extend(linkFields),
        ]),
      )
      .describe(
        'Every code and click that came with the order: codes first, each kind as the store sent it. Last, the customer whom a ' +
          'creator brought before.',
      ),
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
    order_number: orderNumber,
    unpaid_lines: z
      .array(
        z.object({
          kind: z.enum(['gift_card', 'tip']).describe('Kind of the line.').meta({ example: 'gift_card' }),
          amount: z.number().describe('What the customer paid for it, in major units.').meta({ example: 50 }),
          explanation: z.string().describe('Why it pays nobody, in a sentence.').meta({
            example: 'A gift card of $50.00: gift cards are no part of the sale and pay nobody.',
          }),
        }),
      )
      .describe('Gift cards and tips of the order, which are not in `amount` and pay nobody. Only Shopify says so.'),
  })
  .meta({ id: 'Explanation' });
export type Explanation = z.infer<typeof Explanation>;

const explanationShape = Explanation.shape;

export const Order = z
  .object({
    id: orderId,
    order_id: explanationShape.order_id,
    integration_id: explanationShape.integration_id,
    source: explanationShape.source,
    occurred_at: explanationShape.occurred_at,
    paid_at: explanationShape.paid_at,
    cancelled_at: explanationShape.cancelled_at,
    currency: explanationShape.currency,
    amount: explanationShape.amount,
    customer_email: explanationShape.customer_email,
    customer: z
      .enum(['new', 'returning'])
      .nullable()
      .describe(
        '`new`: the first paid order of its customer that is known, tests aside. `returning`: a later one. Null without payment or email address.',
      ),
    is_test: explanationShape.is_test,
    is_renewal: explanationShape.is_renewal,
    attributed: explanationShape.attributed,
    rule: explanationShape.rule,
    reason: explanationShape.reason,
    link_id: z
      .string()
      .nullable()
      .describe('Code or link that earned the order; null when it paid nobody.')
      .meta({ example: 'lnk_0Uo3xK2mVdT2aXs7LpRb' }),
    creator_email: z
      .string()
      .nullable()
      .describe("Email address of the order's creator; null when it paid nobody.")
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
    kind: explanationShape.kind,
    subscription_id: explanationShape.subscription_id,
    country: explanationShape.country,
    customer_id: explanationShape.customer_id,
    order_number: orderNumber,
    terms_id: CommissionEvent.shape.terms_id,
  })
  .meta({ id: 'Order' });
