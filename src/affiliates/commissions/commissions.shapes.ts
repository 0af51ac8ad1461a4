import { z } from 'zod';
import { type EventsOf, events } from '../../kit/outbox/events.ts';
import { fromMinor } from '../../kit/values/decimals.ts';
import { Email } from '../../kit/values/email.ts';
import { campaignId, createdAt, creatorEmail, idField } from '../../kit/values/fields.ts';
import { Currency, fromPpm } from '../../kit/values/money.ts';
import { booleanParameter, ListQuery, TotalsQuery, timestamp } from '../../kit/values/page.ts';
import { toWire } from '../../kit/values/wire.ts';
import { assignedCreatorName } from '../../workflow/creators/creators.shapes.ts';
import { OrderKind } from '../../workflow/terms/terms.shapes.ts';
import { getOrderKind } from '../orders/order-kinds.ts';
import { orderNumber } from '../orders/order-names.ts';
import { FRAUD_RULES } from '../rules/fraud-rules.ts';

export const COMMISSION_STATUSES = ['pending', 'approved', 'rejected', 'paid'] as const;
const CommissionStatus = z
  .enum(COMMISSION_STATUSES)
  .describe(
    'Commission status. `pending`: waits for a review. `approved`: owed, and paid by the next payout. `rejected`: ' +
      'owes nothing. `paid`: a payout paid it, and it no longer changes.',
  );

const commissionId = idField('com', 'Id of the commission.');

export const FraudFlag = z
  .object({
    code: z
      .enum(FRAUD_RULES)
      .describe('The rule that the order broke, as in `/v1/fraud-rules`.')
      .meta({ example: 'velocity' }),
    severity: z
      .enum(['low', 'medium', 'high'])
      .describe('`high` excludes the commission from automatic approval; a review can still approve it.')
      .meta({ example: 'medium' }),
    detail: z
      .string()
      .describe('What was found, in a sentence.')
      .meta({ example: 'One customer had more than 3 orders within 10 minutes.' }),
    detected_at: timestamp.describe('When the order was checked.').meta({ example: '2026-03-02T09:30:00.000Z' }),
  })
  .meta({ id: 'FraudFlag' });
export type FraudFlag = z.infer<typeof FraudFlag>;
export const FraudFlags = z.array(FraudFlag);
export type FraudFlags = z.infer<typeof FraudFlags>;

export const storeOrderId = z
  .string()
  .nullable()
  .describe("The order's id at its store; null without an order.")
  .meta({ example: '1001' });

export const maskedCustomer = z
  .string()
  .nullable()
  .describe("The customer's email address, masked; null when the store did not send one.")
  .meta({ example: 'b***@example.com' });

const fields = {
  id: commissionId,
  link_id: z
    .string()
    .nullable()
    .describe('Code or link that the sale is attributed to; null for a manual commission.')
    .meta({ example: 'lnk_0Uo3xK2mVdT2aXs7LpRb' }),
  creator_email: creatorEmail,
  creator_name: assignedCreatorName,
  campaign_id: campaignId,
  type: z
    .enum(['sale', 'manual'])
    .describe('`sale`: earned by an order of a store. `manual`: recorded by the brand, without an order.'),
  source: z
    .string()
    .describe('Store that sent the order, as `provider:address`; `manual` for a manual commission.')
    .meta({ example: 'shopify:shop.example' }),
  integration_id: z
    .string()
    .nullable()
    .describe('Id of that store in `/v1/affiliates/integrations`; null for a manual commission.')
    .meta({ example: 'int_0Uo3xK2mVdT2aXs7LpRb' }),
  amount: z
    .number()
    .describe(
      'What the customer paid for goods, in major units of `currency`: after discounts, without tax and shipping, before refunds.',
    )
    .meta({ example: 125.5 }),
  commission: z
    .number()
    .describe(
      'What the creator earns, in major units of `currency`. Refunds reduce it until it is paid; then it is fixed. 0 while rejected.',
    )
    .meta({ example: 12.55 }),
  commission_at_rate: z
    .number()
    .describe('What the creator would earn if it were approved: like `commission`, but not 0 while rejected.')
    .meta({ example: 12.55 }),
  commission_rate: z
    .number()
    .describe('Percent of the sale, as it was when the sale was attributed; 0 for a manual commission.')
    .meta({ example: 10 }),
  order_id: storeOrderId,
  order_paid: z
    .boolean()
    .describe('Whether the store reported the order as paid; false for a manual commission.')
    .meta({ example: true }),
  order_paid_at: timestamp
    .nullable()
    .describe('When the customer paid the order; null until then, and for a manual commission.')
    .meta({ example: '2026-03-02T09:30:00.000Z' }),
  approvable_at: timestamp
    .nullable()
    .describe(
      'End of the review period: a review can approve the commission from then on. Null until the order is paid.',
    )
    .meta({ example: '2026-03-16T09:30:00.000Z' }),
  customer_email: maskedCustomer,
  discount_code: z
    .string()
    .nullable()
    .describe('Discount code as the customer redeemed it; null when a click earned the order.')
    .meta({ example: 'ANA10' }),
  affiliate_code: z
    .string()
    .nullable()
    .describe('Code or link name that earned the order; null for a manual commission.')
    .meta({ example: 'ANA10' }),
  currency: z
    .string()
    .describe("ISO 4217 code of the order's currency, or of the manual commission's.")
    .meta({ example: 'USD' }),
  status: CommissionStatus,
  status_updated_at: timestamp
    .nullable()
    .describe('When the status last changed; null while it never did.')
    .meta({ example: '2026-03-16T09:30:00.000Z' }),
  status_note: z
    .string()
    .nullable()
    .describe(
      'Reason for the status: the note of the review, `auto` for an automatic approval, or what the store reported.',
    )
    .meta({ example: 'Order checked by hand.' }),
  rejected_by: z
    .enum(['review', 'order'])
    .nullable()
    .describe(
      '`review`: you rejected it. `order`: the store cancelled the order or refunded it in full, and the rejection ends when the store reverts that. Null unless rejected.',
    )
    .meta({ example: null }),
  fraud_flags: FraudFlags.describe(
    'Signs that the order was arranged to earn commission; empty when there are none.',
  ).meta({
    example: [],
  }),
  occurred_at: timestamp
    .describe('When the customer placed the order, or the manual commission was recorded.')
    .meta({ example: '2026-03-02T09:30:00.000Z' }),
  synced_at: timestamp
    .describe('When a delivery of the store last changed the commission.')
    .meta({ example: '2026-03-02T09:30:05.000Z' }),
};

const clawBack = {
  clawed_back_at: timestamp
    .nullable()
    .describe('When you took the paid commission back; null otherwise. The next payout deducts it.')
    .meta({ example: null }),
  claw_back_reason: z
    .string()
    .nullable()
    .describe('Why you took it back; null otherwise. The creator sees it on statements.')
    .meta({ example: null }),
};

const deal = {
  kind: OrderKind.nullable().describe('Kind of the order; null for a manual commission.').meta({ example: 'once' }),
  subscription_id: z
    .string()
    .nullable()
    .describe('Subscription that the order belongs to, by its id at the store; null if the store names none.')
    .meta({ example: null }),
  customer_id: z
    .string()
    .nullable()
    .describe('The customer whom a creator brought and to whom the order belongs; null for none.')
    .meta({ example: null }),
  terms_id: z
    .string()
    .nullable()
    .describe('Version of the terms that decided it; null for a percentage alone.')
    .meta({ example: null }),
};

export const CommissionEvent = z
  .object({
    ...fields,
    ...clawBack,
    order_number: orderNumber,
    ...deal,
  })
  .meta({ id: 'CommissionEvent' });
export type CommissionEvent = z.infer<typeof CommissionEvent>;

/** `data` of the commission events. */
export const CommissionAnnounced = CommissionEvent.extend({
  commission_amount: z.number().describe('The same as `commission`.').meta({ example: 12.55 }),
}).meta({ id: 'CommissionAnnounced' });

/** The columns from which the response is computed. */
interface CommissionColumns {
  currency: string;
  amountMinor: number;
  commissionMinor: number;
  commissionRatePpm: number;
  status: z.output<typeof CommissionStatus>;
  rejectedFrom: string | null;
  source: string;
  paidAt: Date | null;
  holdEndsAt: Date | null;
  /** The order's id at its store; null for a manual commission. */
  storeOrderId: string | null;
  orderNumber: string | null;
  storefrontUrl: string | null;
  fraudFlags: unknown;
  kind: Parameters<typeof getOrderKind>[0]['kind'];
  isRenewal: boolean | null;
}

/** Maps a row to every field that any shape of a commission has. */
export function toCommission<Row extends CommissionColumns>(row: Row) {
  const { storeOrderId, amountMinor, commissionMinor, status, currency, storefrontUrl, ...columns } = row;
  // Such as `generic:shop.example`, which is unique within the brand.
  const address = storefrontUrl?.replace(/^https?:\/\//, '').replace(/\/+$/, '');
  const atRate = fromMinor(commissionMinor, currency);
  const commission = status === 'rejected' ? 0 : atRate;
  return {
    ...toWire({ ...columns, status, currency, storefrontUrl }),
    fraud_flags: FraudFlags.parse(row.fraudFlags),
    type: storeOrderId === null ? ('manual' as const) : ('sale' as const),
    source: address === undefined ? row.source : `${row.source}:${address}`,
    order_id: storeOrderId,
    kind: storeOrderId === null ? null : getOrderKind(row),
    order_paid: storeOrderId !== null && row.paidAt !== null,
    order_paid_at: storeOrderId === null ? null : (row.paidAt?.toISOString() ?? null),
    approvable_at: row.holdEndsAt?.toISOString() ?? null,
    amount: fromMinor(amountMinor, currency),
    commission,
    commission_at_rate: atRate,
    commission_rate: fromPpm(row.commissionRatePpm),
    commission_amount: commission,
    rejected_by: status !== 'rejected' ? null : row.rejectedFrom === null ? ('review' as const) : ('order' as const),
  };
}

/** The sums of `totals` over commissions. */
export const COMMISSION_SUMS = {
  amount: 'What customers paid for goods, before refunds.',
  commission: 'What creators earn; rejected commissions add nothing.',
};

/** The alias under /v1/affiliates shows two more fields. */
export const AffiliateCommission = z
  .object({
    ...fields,
    click_id: z
      .string()
      .nullable()
      .describe('Click that earned the order; null when a discount code earned it, and for a manual commission.')
      .meta({ example: null }),
    created_at: createdAt,
    ...clawBack,
    order_number: orderNumber,
    ...deal,
  })
  .meta({ id: 'AffiliateCommission' });

export const PlainCommissionFilter = z.object({
  status: CommissionStatus.optional().describe('Only commissions of this status.'),
  creator_email: Email.optional()
    .describe("Only this creator's commissions. Case does not matter.")
    .meta({ example: 'ana@example.com' }),
  campaign_id: z
    .string()
    .max(100)
    .optional()
    .describe('Only commissions of this campaign.')
    .meta({ example: 'cmp_0Uo3xK2mVdT2aXs7LpRb' }),
  link_id: z
    .string()
    .max(100)
    .optional()
    .describe('Only commissions of this code or link.')
    .meta({ example: 'lnk_0Uo3xK2mVdT2aXs7LpRb' }),
  type: CommissionEvent.shape.type.optional().describe('Only sales, or only manual commissions.'),
  approvable: booleanParameter()
    .optional()
    .describe(
      '`true`: only commissions that a review can approve now (pending, order paid, review period over). `false`: all others.',
    ),
  ...ListQuery,
});

/** Filters of `/v1` that the older interface lacks. */
export const LaterCommissionFilter = {
  order_id: z
    .string()
    .max(200)
    .optional()
    .describe(
      'Only commissions of orders with this id at their store, or with this number: case and a leading # do not matter.',
    ),
  currency: Currency.optional().describe('Only commissions in this currency.'),
  flagged: booleanParameter()
    .optional()
    .describe('`true`: only commissions with a fraud flag. `false`: only those without.'),
  source: z
    .string()
    .max(500)
    .regex(
      /^(?:manual|(?:shopify|woocommerce|generic)(?::[!-\uffff]+)?)$/,
      'must be `shopify`, `woocommerce`, `generic`, one of these with an address, such as `generic:shop.example`, or `manual`',
    )
    .optional()
    .describe(
      'Only commissions of orders from this kind of store (`generic`) or this store (`generic:shop.example`, as rows show it), or those recorded by hand (`manual`).',
    )
    .meta({ example: 'shopify' }),
  integration_id: z.string().max(100).optional().describe('Only commissions of orders from this store.'),
  kind: OrderKind.optional().describe('Only commissions of orders of this kind.').meta({ example: 'renewal' }),
  customer_id: z
    .string()
    .max(100)
    .optional()
    .describe('Only commissions of orders of this customer, as in `/v1/customers`.'),
  group_id: z.string().max(100).optional().describe('Only commissions of creators who are in this group now.'),
  click_id: z
    .string()
    .regex(/^clk_[0-9A-Za-z]{20}$/, 'must be the id of a click')
    .optional()
    .describe('Only the commissions of orders that this click won.')
    .meta({ example: 'clk_0Uo3xK2mVdT2aXs7LpRb' }),
  sort: z
    .enum(['newest', 'oldest', 'amount', 'commission'])
    .default('newest')
    .describe(
      '`amount`, `commission`: by that figure, largest first, whatever the currency. The others sort by the time of creation.',
    ),
  ...TotalsQuery,
};

export const CommissionFilter = PlainCommissionFilter.extend(LaterCommissionFilter);
export type CommissionFilter = z.output<typeof CommissionFilter>;

const commissionEvents = events({
  'commission.created': {
    data: CommissionAnnounced,
    when: 'A sale was attributed to a creator, or the brand recorded a manual commission.',
    shownTo: ['current', 'legacy'],
  },
  'commission.approved': {
    data: CommissionAnnounced,
    when: 'A commission was approved for payout, by a review or automatically.',
    shownTo: ['current', 'legacy'],
  },
  'commission.rejected': {
    data: CommissionAnnounced,
    when: 'A commission was rejected, or clawed back after it was paid.',
    shownTo: ['legacy'],
  },
  'commission.paid': {
    data: CommissionAnnounced,
    when: 'A commission was paid.',
    shownTo: ['legacy'],
  },
});
declare module '../../kit/outbox/events.ts' {
  interface Events extends EventsOf<typeof commissionEvents> {}
}
