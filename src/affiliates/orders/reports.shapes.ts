import { z } from 'zod';
import { Currency } from '../../kit/values/money.ts';
import { besideOthers } from '../../kit/values/problems.ts';
import { checkAmounts, GenericRefund, idAtStore, orderFields } from '../stores/formats/generic.shapes.ts';
import { Decimal } from '../stores/formats/money.ts';
import { StoreTime } from '../stores/formats/provider.ts';
import { orderId } from './orders.shapes.ts';

const isPlain = (text: string) => !/\p{Cc}/u.test(text);

const { amount: refunded, at, items } = GenericRefund.shape;
const Refund = z.object({
  refund_id: idAtStore.describe('Id of the refund, the same in every report of it.').meta({ example: 're_77' }),
  amount: refunded.meta({ example: 25 }),
  at: at.meta({ example: '2026-03-05T10:00:00Z' }),
  items: items.meta({ example: [] }),
});

const orderedAt = '2026-03-02T09:30:00Z';
const ReportedFields = z.object({
  source: z
    .string()
    .trim()
    .min(1)
    .max(100)
    .refine(isPlain, 'must not have control characters')
    .describe(
      'Name of the shop, in your own words. The first report with a name creates the shop. `source` and `order_id` together identify an order.',
    )
    .meta({ example: 'pop-up-berlin' }),
  ...orderFields,
  order_id: idAtStore
    .describe('Id of the order in that shop. A later report with the same id updates it.')
    .meta({ example: 'A-1001' }),
  order_number: orderFields.order_number.meta({ example: '#1001' }),
  currency: Currency.describe('Currency of the order and its refunds.').meta({ example: 'EUR' }),
  amount: Decimal.describe(
    'What was paid for goods, in major units: after discounts, without tax and shipping, before refunds.',
  ).meta({ example: 125.5 }),
  placed_at: StoreTime.describe('When the customer placed the order.').meta({ example: orderedAt }),
  paid_at: orderFields.paid_at
    .describe('When the customer paid; null or omitted while unpaid.')
    .meta({ example: orderedAt }),
  cancelled_at: orderFields.cancelled_at
    .describe('When the order was cancelled; null or omitted if it was not.')
    .meta({ example: null }),
  updated_at: orderFields.updated_at
    .describe('When the order was last changed; now when omitted. The latest report wins.')
    .meta({ example: orderedAt }),
  customer_email: orderFields.customer_email.meta({ example: 'jane@example.com' }),
  codes: orderFields.codes.meta({ example: ['ANA10'] }),
  click_ids: orderFields.click_ids.meta({ example: [] }),
  items: orderFields.items.meta({
    example: [{ sku: 'SERUM-30', title: 'Serum 30 ml', quantity: 1, amount: 125.5 }],
  }),
  refunds: z
    .array(Refund)
    .optional()
    .describe('All refunds of the order; a missing one counts as reverted.')
    .meta({ example: [] }),
});

export const ReportedOrder = ReportedFields.superRefine(checkAmounts, besideOthers).meta({ id: 'ReportedOrder' });
export type ReportedOrder = z.output<typeof ReportedOrder>;

const MOST = 500;

export const ReportedOrders = z
  .object({
    orders: z
      .array(ReportedOrder)
      .min(1)
      .max(MOST)
      .describe('Reports, in the order in which they are recorded. Several may be about one order.'),
    history: z
      .boolean()
      .default(false)
      .describe(
        'Whether these are past orders: they count in figures and make customers known, but pay nobody and emit no events. ' +
          'Orders that are already known stay unchanged.',
      ),
  })
  .meta({ id: 'ReportedOrders' });

export const ReportedRefund = Refund.meta({ id: 'ReportedRefund' });
export type ReportedRefund = z.output<typeof ReportedRefund>;

export const RecordedOrders = z
  .object({
    orders: z
      .array(
        z.object({
          id: orderId.max(100),
          source: ReportedFields.shape.source,
          order_id: z.string().describe('Id of the order in its shop.').meta({ example: '1001' }),
          attributed: z.boolean().describe('Whether a code or link has earned it.').meta({ example: true }),
        }),
      )
      .describe('The orders that were reported, each once.'),
  })
  .meta({ id: 'RecordedOrders' });
