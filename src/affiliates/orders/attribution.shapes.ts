import { z } from 'zod';
import { timestamp } from '../../kit/values/page.ts';
import { couponPolicy, customerPolicy, model } from '../rules/attribution-rules.ts';

export const NOBODY = ['no_candidates', 'no_candidate_qualified', 'test_order', 'history'] as const;
const CODE_REASONS = [
  'unknown_code',
  'other_store',
  'code_inactive',
  'later_code',
  'click_wins',
  'test_order',
  'renewal',
  'below_minimum',
  'customer_wins',
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
  'customer_wins',
] as const;
const CUSTOMER_REASONS = [
  'ended',
  'origin_rejected',
  'first_order_only',
  'payments_over',
  'duration_over',
  'nobody_sold_it',
  'own_code_or_click',
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

export const CodeCandidate = z.object({
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
        'renews a subscription, and the code does not pay renewals. `below_minimum`: the order is below your `min_order`. ' +
        '`customer_wins`: the customer or subscription decided.',
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

export const ClickCandidate = z.object({
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

const moment = (about: string) => timestamp.nullable().describe(about).meta({ example: '2026-03-01T18:05:00.000Z' });

export const ShownCustomerCandidate = z.object({
  type: z.literal('customer').describe('`customer`: a customer whom a creator brought before.'),
  customer_id: z
    .string()
    .nullable()
    .describe('The customer, in `/v1/customers`; null if nobody sold the subscription.')
    .meta({ example: 'cus_0Uo3xK2mVdT2aXs7LpRb' }),
  by: z
    .enum(['subscription', 'product', 'customer_id', 'email', 'lead'])
    .describe(
      'What recognized the customer. `subscription`: the order names it. `product`: an order of the customer with the same ' +
        'product started one. `customer_id`, `email`: the customer. `lead`: the first order of a lead.',
    ),
  link_id: linkOfCandidate.describe('Code or link that the customer was brought by; null if nobody brought them.'),
  first_order_id: z
    .string()
    .nullable()
    .describe('The order that the customer was won with, by its id in Rollcall; null without one.')
    .meta({ example: 'ord_0Uo3xK2mVdT2aXs7LpRb' }),
  since: moment('When the customer began to belong to the creator.'),
  until: moment('When orders stop paying; null if they do not.'),
  payment: z
    .number()
    .int()
    .nullable()
    .describe('The number of this payment, counted from 1; null if nobody sold the subscription.')
    .meta({ example: 4 }),
  outcome,
  reason: z
    .enum(CUSTOMER_REASONS)
    .nullable()
    .describe(
      'Why the customer did not decide; null when it did. `ended`: you ended it. `origin_rejected`: the commission of the first ' +
        'order was rejected in a review. `first_order_only`, `payments_over`, `duration_over`: the terms pay no more. ' +
        '`nobody_sold_it`: no creator sold the subscription. `own_code_or_click`: what the order carries comes first. ' +
        '`below_minimum`: the order is below your `min_order`.',
    ),
});

/** The duration is kept for the sentence that explains the candidate. */
const CustomerCandidate = ShownCustomerCandidate.extend({
  duration: z.object({ payments: z.number().nullable(), months: z.number().nullable() }).nullable(),
});

export const RecordedTerms = z.object({
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
  covers: z
    .enum(['subscription', 'customer'])
    .optional()
    .describe('Later orders that earn as well; absent if only this order does.')
    .meta({ example: 'subscription' }),
});

const CAUSES = [
  'first_report',
  'later_report',
  'checkout_pixel',
  'customer_journey',
  'first_order_known',
  'backfill',
] as const;

/** Cause of a decision. */
export const Cause = z
  .enum(CAUSES)
  .describe(
    'What led to the decision. `first_report`: the order arrived. `later_report`: a later report of the store named another ' +
      'code or click. `checkout_pixel`: the store’s checkout page reported a click. `customer_journey`: the store reported ' +
      'the page on which the customer’s visit began. `first_order_known`: the order that the customer was won with became known. ' +
      '`backfill`: you had past orders decided again.',
  );
export type Cause = z.infer<typeof Cause>;

const EarlierDecision = z.object({
  decided_at: timestamp,
  cause: Cause,
  reason: z.enum(NOBODY),
});

/** The decision as `orders.attribution` stores it: facts only, no email addresses. */
export const Attribution = z.object({
  rule: z
    .enum(['code', 'last_click', 'first_click', 'subscription', 'customer'])
    .nullable()
    .describe(
      'Rule that decided: `code` for a redeemed code, `last_click` or `first_click` for a click, `subscription` for one that a ' +
        'creator sold, `customer` for a customer whom a creator brought; null when nothing won.',
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
  terms: RecordedTerms.nullable(),
  /** Rules of the brand, if they differed from the defaults. */
  rules: z
    .object({
      model,
      coupon_policy: couponPolicy,
      min_order: z.object({ minor: z.number(), currency: z.string() }).nullable(),
      customer_policy: customerPolicy.optional(),
    })
    .optional(),
  candidates: z.array(z.discriminatedUnion('type', [CodeCandidate, ClickCandidate, CustomerCandidate])),
  /** Earlier decisions, which paid nobody, oldest first. */
  earlier: z.array(EarlierDecision).default([]),
});
export type Attribution = z.infer<typeof Attribution>;
export type AttributionCandidate = Attribution['candidates'][number];
export type CodeCandidate = Extract<AttributionCandidate, { type: 'code' }>;
export type ClickCandidate = Extract<AttributionCandidate, { type: 'click' }>;
