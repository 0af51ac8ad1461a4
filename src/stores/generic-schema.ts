import { z } from 'zod';
import { Currency, decimalsOf } from '../values/money.ts';
import { besideOthers, type Unchecked } from '../values/problems.ts';
import { MAX_LENGTH, MAX_VALUES } from './click.ts';
import { Decimal, excessOf, isWhole, writeDecimal } from './money.ts';
import { StorefrontUrl, StoreId, StoreName, StoreTime } from './provider.ts';

/** The protocol of a store of the brand's own making; `docs/stores.md` tells it in words. */
export const EVENTS = ['order.created', 'order.paid', 'order.updated', 'order.cancelled', 'order.refunded'] as const;

/** What an event is about; its name alone says nothing of when. */
const NEEDED: Readonly<Record<string, 'paid_at' | 'cancelled_at' | 'refunds'>> = {
  'order.paid': 'paid_at',
  'order.cancelled': 'cancelled_at',
  'order.refunded': 'refunds',
};

export const GenericStoreInfo = z
  .object({
    name: StoreName.pipe(z.string().min(1)).describe('What lists call the store.'),
    currency: Currency.describe('What it sells in.'),
    storefront_url: StorefrontUrl.describe('Where customers buy; links of a connected offer must lead there.'),
  })
  .meta({ id: 'GenericStoreInfo', description: 'The answer of a generic store to `GET /store`.' });

export const GenericStoreCoupon = z
  .object({
    code: z.string().describe('As the store writes it.'),
    percentage: z
      .number()
      .nullish()
      .describe('Percent off; null of a coupon that is an amount or free shipping, which cannot be connected.'),
    active: z.boolean().describe('Whether a customer can redeem it now.'),
    ends_at: StoreTime.nullish().describe('Until when it can be redeemed.'),
  })
  .meta({
    id: 'GenericStoreCoupon',
    description: 'The answer of a generic store to `GET /coupons/{code}`; 404 when it has none of that code.',
  });

const Refund = z.object({
  refund_id: StoreId.describe('The same whenever this refund is reported.'),
  amount: Decimal.describe('Of goods, in major units: what is taken off the commission base.'),
  at: StoreTime,
});

/** More than what is looked at is refused, rather than left out. */
const Carried = z.array(z.string().max(MAX_LENGTH)).max(MAX_VALUES).default([]);

/** What is wrong with an amount of money; undefined when nothing is. */
function amountProblem(amount: bigint, currency: string): string | undefined {
  if (amount >= 0n && isWhole(amount, currency)) return excessOf(amount, currency);
  return `must be at least 0 with at most ${decimalsOf(currency)} decimals in ${currency}`;
}

const fields = {
  order_id: StoreId.describe('The identity of the order at this store; whatever is reported of it again changes it.'),
  currency: Currency,
  amount: Decimal.optional().describe(
    'What was paid for goods, in major units: after discounts, without tax and shipping, before refunds. ' +
      'Needed of all but `order.refunded`.',
  ),
  placed_at: StoreTime.optional().describe('Needed wherever `amount` is.'),
  paid_at: StoreTime.nullish().describe('Needed of `order.paid`; null while it is not paid.'),
  cancelled_at: StoreTime.nullish().describe('Needed of `order.cancelled`.'),
  updated_at: StoreTime.optional().describe('When the order was so; `createdAt` when left out. The latest wins.'),
  customer_email: z.string().max(320).nullish().describe('Kept masked, and as a keyed hash.'),
  codes: Carried.describe('Discount codes redeemed with the order, the one that counts first.'),
  click_ids: Carried.describe("`click_id` of the landing page's address, as our redirect wrote it."),
  refunds: z
    .array(Refund)
    .optional()
    .describe(
      'With `amount`: every refund the order has; one left out was taken back. Without: those reported now. ' +
        'Needed of `order.refunded`.',
    ),
};

const Order = z
  .object(fields)
  .superRefine((order: Unchecked<'currency' | 'amount' | 'refunds'>, context) => {
    const { data: currency } = Currency.safeParse(order.currency);
    if (currency === undefined) return;
    const check = (one: unknown, path: (string | number)[]) => {
      const message = typeof one === 'bigint' ? amountProblem(one, currency) : undefined;
      if (typeof one !== 'bigint' || message === undefined) return;
      context.addIssue({ code: 'custom', path, message, input: writeDecimal(one) });
    };
    check(order.amount, ['amount']);
    const refunds = Array.isArray(order.refunds) ? order.refunds : [];
    for (const [i, refund] of refunds.entries()) check(Object(refund).amount, ['refunds', i, 'amount']);
  }, besideOthers)
  .meta({ id: 'GenericStoreOrder' });
export type Order = z.output<typeof Order>;

export const Envelope = z.object({ event: z.string(), createdAt: StoreTime });

export const Message = Envelope.extend({ data: Order }).superRefine(({ event, data }, context) => {
  const field = NEEDED[event];
  if (field === undefined || (data[field] ?? null) !== null) return;
  context.addIssue({ code: 'custom', path: ['data', field], message: `is needed of ${event}`, input: data[field] });
});

/** Needed of a whole order. */
export const Placed = z.object({ amount: z.bigint(), placed_at: z.date() });

/** As `Message`, for the OpenAPI document: an event of another name is answered 200 and not read. */
const GenericStoreDelivery = z
  .object({ event: z.enum(EVENTS), createdAt: StoreTime.describe('When it was sent.'), data: Order })
  .meta({
    id: 'GenericStoreDelivery',
    description: 'What a generic store sends to `POST /ingest/generic/{integration}`, signed.',
  });

/** The shapes that no operation of the API has, for the OpenAPI document. */
export const GENERIC_STORE_SHAPES = [GenericStoreInfo, GenericStoreCoupon, GenericStoreDelivery] as const;
