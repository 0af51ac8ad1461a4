import { z } from 'zod';
import { type EventsOf, events } from '../../outbox/events.ts';
import { fromMinor, fromPpm } from '../../values/money.ts';
import { booleanParameter, ListQuery, timestamp } from '../../values/page.ts';
import { fromOutside } from '../../values/untrusted.ts';
import { toWire } from '../../values/wire.ts';

const CommissionStatus = z.enum(['pending', 'approved', 'rejected', 'paid']);

export const FraudFlag = z
  .object({
    code: z.enum(['self_referral', 'velocity']),
    severity: z.enum(['low', 'medium', 'high']),
    detail: z.string(),
    detected_at: timestamp,
  })
  .meta({ id: 'FraudFlag' });
export type FraudFlag = z.infer<typeof FraudFlag>;
export const FraudFlags = z.array(FraudFlag);
export type FraudFlags = z.infer<typeof FraudFlags>;

export const CommissionEvent = z
  .object({
    id: z.string(),
    link_id: z.string().nullable().describe('Null of a commission that the brand recorded itself.'),
    creator_email: z.string().nullable(),
    campaign_id: z.string().nullable(),
    type: z.enum(['sale', 'manual']).describe('`manual`: recorded by the brand, without an order.'),
    source: z
      .string()
      .describe('The store that sent the order: its kind and where it is, or `manual`.')
      .meta({ example: 'shopify:shop.example' }),
    integration_id: z.string().nullable().describe('The same store in `/v1/integrations`.'),
    amount: z.number().describe('What the customer paid for goods: after discounts, without tax and shipping.'),
    commission: z
      .number()
      .describe('Owed: prorated by refunds until it is paid, fixed from then on; 0 while it is rejected, by whomever.'),
    commission_at_rate: z.number().describe('As `commission`, also while it is rejected: what approving it would owe.'),
    commission_rate: z.number().describe('Percent, as it was when the sale was attributed; 0 of a manual one.'),
    order_id: z.string().nullable().describe("The order's id at its store."),
    order_paid: z.boolean().describe('Whether the store said that the order is paid.'),
    order_paid_at: timestamp.nullable(),
    approvable_at: timestamp.nullable().describe('The end of the review period; null until the order is paid.'),
    customer_email: z.string().nullable().describe('Masked.'),
    discount_code: z.string().nullable().describe('The code as it was redeemed; null when a click won.'),
    affiliate_code: z.string().nullable().describe("The assignment's own code or link slug."),
    currency: z.string().describe('Of the order.'),
    status: CommissionStatus,
    status_updated_at: timestamp.nullable(),
    status_note: z.string().nullable(),
    rejected_by: z
      .enum(['review', 'order'])
      .nullable()
      .describe('`order`: what its store said, such as a full refund; it ends when the store takes that back.'),
    fraud_flags: FraudFlags,
    occurred_at: timestamp,
    synced_at: timestamp,
  })
  .meta({ id: 'CommissionEvent' });
export type CommissionEvent = z.infer<typeof CommissionEvent>;

/** `data` of the commission events. */
export const CommissionAnnounced = CommissionEvent.extend({
  creator_name: fromOutside(z.string().nullable()),
  commission_amount: z.number(),
}).meta({ id: 'CommissionAnnounced' });

/** What the wire shows that is not a column of its own. */
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
  /** The order's id at its store; null of a commission that the brand recorded itself. */
  storeOrderId: string | null;
  storefrontUrl: string | null;
  fraudFlags: unknown;
}

/** `generic:shop.example`: no two stores of a brand are alike in it. */
function sourceOf({ source, storefrontUrl }: CommissionColumns): string {
  if (storefrontUrl === null) return source;
  return `${source}:${storefrontUrl.replace(/^https?:\/\//, '').replace(/\/+$/, '')}`;
}

/** Every field that any shape of a commission shows, of a row with its order's and its creator's. */
export function commissionOf<Row extends CommissionColumns>(row: Row) {
  const { storeOrderId, amountMinor, commissionMinor, status, currency, ...columns } = row;
  const atRate = fromMinor(commissionMinor, currency);
  const commission = status === 'rejected' ? 0 : atRate;
  return {
    ...toWire({ ...columns, status, currency }),
    fraud_flags: FraudFlags.parse(row.fraudFlags),
    type: storeOrderId === null ? ('manual' as const) : ('sale' as const),
    source: sourceOf(row),
    order_id: storeOrderId,
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

/** What the alias under /v1/affiliates shows beside the event. */
export const AffiliateCommission = CommissionEvent.extend({
  click_id: z.string().nullable(),
  created_at: timestamp,
}).meta({ id: 'AffiliateCommission' });

export const CommissionFilter = z.object({
  status: CommissionStatus.optional(),
  creator_email: z.email().max(254).optional().describe('In any case.'),
  campaign_id: z.string().max(100).optional(),
  link_id: z.string().max(100).optional(),
  type: CommissionEvent.shape.type.optional(),
  approvable: booleanParameter()
    .optional()
    .describe(
      '`true`: pending, paid and past the review period, so that a review may approve it now; `false`: all others.',
    ),
  ...ListQuery,
});
export type CommissionFilter = z.output<typeof CommissionFilter>;

const commissionEvents = events({
  'commission.created': {
    data: CommissionAnnounced,
    when: 'A sale was attributed to a creator.',
    shownTo: ['current', 'legacy'],
  },
  'commission.approved': {
    data: CommissionAnnounced,
    when: 'A commission was approved for payout, by a review or automatically.',
    shownTo: ['current', 'legacy'],
  },
  'commission.rejected': {
    data: CommissionAnnounced,
    when: 'A commission was rejected.',
    shownTo: ['legacy'],
  },
  'commission.paid': {
    data: CommissionAnnounced,
    when: 'A commission was paid.',
    shownTo: ['legacy'],
  },
});
declare module '../../outbox/events.ts' {
  interface Events extends EventsOf<typeof commissionEvents> {}
}
