import { z } from 'zod';
import { getDecimals } from '../../../kit/values/decimals.ts';
import { Currency } from '../../../kit/values/money.ts';
import { besideOthers, type Unchecked } from '../../../kit/values/problems.ts';
import { withoutMarks } from '../../../kit/values/text.ts';
import { isCountry } from '../../../workflow/terms/countries.ts';
import { OrderKind } from '../../../workflow/terms/terms.shapes.ts';
import { MAX_LENGTH, MAX_VALUES } from './click.ts';
import { DISPUTE_STATUSES } from './facts.ts';
import { Decimal, findExcess, isWhole, writeDecimal } from './money.ts';
import { StorefrontUrl, StoreId, StoreName, StoreTime } from './provider.ts';

/** The protocol for a store that the brand built itself; `docs/stores.md` explains it. */
export const EVENTS = ['order.created', 'order.paid', 'order.updated', 'order.cancelled', 'order.refunded'] as const;

/** The field that an event requires; its name alone gives no time. */
const NEEDED: Readonly<Record<string, 'paid_at' | 'cancelled_at' | 'refunds'>> = {
  'order.paid': 'paid_at',
  'order.cancelled': 'cancelled_at',
  'order.refunded': 'refunds',
};

export const GenericStoreInfo = z
  .object({
    name: StoreName.pipe(z.string().min(1)).describe('Name of the store in lists.'),
    currency: Currency.describe('Currency that the store sells in.'),
    storefront_url: StorefrontUrl.describe('Address where customers shop. Links of a connected offer must lead there.'),
  })
  .meta({ id: 'GenericStoreInfo', description: 'The answer of a generic store to `GET /store`.' });

export const GenericStoreCoupon = z
  .object({
    code: z.string().describe('The coupon code, as the store spells it.'),
    percentage: z
      .number()
      .nullish()
      .describe('Percent off. Null for an amount or free shipping; such a coupon cannot be connected.'),
    active: z.boolean().describe('Whether a customer can redeem the coupon now.'),
    ends_at: StoreTime.nullish().describe('When the coupon ends; null or absent when it does not.'),
  })
  .meta({
    id: 'GenericStoreCoupon',
    description: 'The answer of a generic store to `GET /coupons/{code}`; 404 when it has no coupon with that code.',
  });

const MAX_CATEGORIES = 100;

export const idAtStore = z
  .string()
  .overwrite(withoutMarks)
  .trim()
  .min(1)
  .max(200)
  .refine((text) => !/\p{Cc}/u.test(text) && text.isWellFormed(), 'must be text without control characters');

const RefundedItem = z
  .object({
    sku: idAtStore
      .describe('SKU of the refunded line, as in `items`; its `title` if it has none. Not needed beside `line_id`.')
      .meta({ example: 'SERUM-30' })
      .optional(),
    line_id: idAtStore.describe('Id of the refunded line, as in `items`.').meta({ example: 'line-1' }).optional(),
    amount: Decimal.describe('What was refunded of the line, in major units.').meta({ example: 25 }),
  })
  .refine(({ sku: named, line_id }) => named !== undefined || line_id !== undefined, 'must have `line_id` or `sku`');

const refundedItems = z
  .array(RefundedItem)
  .optional()
  .describe('Which lines the refund is for, so that figures by product are right. They need not add up to `amount`.');

const GenericItem = z.object({
  sku: idAtStore.nullish().describe('Stock keeping unit of the product. Figures by product use `title` without it.'),
  title: z.string().max(1_000).nullish().describe('Name of the product.'),
  line_id: idAtStore
    .nullish()
    .describe('Id of the line within the order, by which refunds name it; `sku` or `title` when omitted.')
    .meta({ example: 'line-1' }),
  product_id: idAtStore
    .nullish()
    .describe('Id of the product at the store, for rates by product.')
    .meta({ example: 'p-77' }),
  categories: z
    .array(idAtStore)
    .max(MAX_CATEGORIES)
    .nullish()
    .describe('Categories of the product, for rates by category.')
    .meta({ example: ['Skin care'] }),
  on_sale: z.boolean().nullish().describe('Whether the product was on sale.').meta({ example: false }),
  quantity: z.number().int().min(0).max(1_000_000).default(1).describe('How many of it were bought.'),
  amount: Decimal.describe('What was paid for the line, in major units: after discounts, without tax, before refunds.'),
});

export const GenericRefund = z.object({
  refund_id: StoreId.describe('Id of the refund, the same in every report of it.'),
  amount: Decimal.describe('Refunded goods, in major units. It reduces the amount that commission is paid on.'),
  at: StoreTime.describe('When it was refunded.'),
  items: refundedItems,
});

/** Too many values are refused, not ignored. */
const Carried = z.array(z.string().max(MAX_LENGTH)).max(MAX_VALUES).default([]);

/** Returns the problem with an amount of money; undefined if it is valid. */
export function findAmountProblem(amount: bigint, currency: string): string | undefined {
  if (amount >= 0n && isWhole(amount, currency)) return findExcess(amount, currency);
  return `must be at least 0 with at most ${getDecimals(currency)} decimals in ${currency}`;
}

/** Fields of an order, as its store reports it. */
export const orderFields = {
  order_id: StoreId.describe('Id of the order at this store. A later report with the same id updates the order.'),
  order_number: z
    .string()
    .max(200)
    .nullish()
    .describe('Number that customers and creators know the order by, such as #1001. It need not be unique.'),
  currency: Currency.describe('Currency of the order and its refunds.'),
  amount: Decimal.optional().describe(
    'What was paid for goods, in major units: after discounts, without tax and shipping, before refunds. ' +
      'Required except for `order.refunded`.',
  ),
  placed_at: StoreTime.optional().describe('When the order was placed. Required with `amount`.'),
  paid_at: StoreTime.nullish().describe('When the customer paid; null while unpaid. Required for `order.paid`.'),
  cancelled_at: StoreTime.nullish().describe('When the order was cancelled. Required for `order.cancelled`.'),
  updated_at: StoreTime.optional().describe(
    'When the order was last changed; `createdAt` when omitted. The latest report wins.',
  ),
  customer_email: z
    .string()
    .max(320)
    .nullish()
    .describe("The customer's email address. Only a masked form and a keyed hash are stored."),
  codes: Carried.describe('Discount codes redeemed with the order. The first one that qualifies earns it.'),
  click_ids: Carried.describe("Values of `click_id` in the landing page's address, as the short link added it."),
  refunds: z
    .array(GenericRefund)
    .optional()
    .describe(
      'With `amount`: all refunds of the order; a missing one counts as reverted. Without: only new refunds. ' +
        'Required for `order.refunded`.',
    ),
  items: z
    .array(GenericItem)
    .optional()
    .describe(
      'What was bought, for figures by product. The first 200 lines are kept. They need not add up to `amount`.',
    ),
  test: z.boolean().optional().describe('True for an order that was placed to try the store: it pays nobody.'),
  is_renewal: z.boolean().optional().describe('Stands for `kind`: `renewal`.'),
  kind: OrderKind.optional(),
  subscription_id: idAtStore
    .nullish()
    .describe('Id of the subscription at the store. The creator who sold it may earn on its later orders.')
    .meta({ example: 'sub_8999' }),
  previous_subscription_id: idAtStore
    .nullish()
    .describe('The subscription that a customer who subscribed again had before.')
    .meta({ example: null }),
  customer_external_id: idAtStore
    .nullish()
    .describe("The customer's id at the store, of which only a keyed hash is stored.")
    .meta({ example: 'c-501' }),
  country: z
    .string()
    .refine(isCountry, 'must be a country of ISO 3166 such as DE')
    .nullish()
    .describe('Country that the order is shipped to, else billed to, as its ISO 3166 code.')
    .meta({ example: 'DE' }),
  dispute: z
    .enum(DISPUTE_STATUSES)
    .nullish()
    .describe(
      "Dispute of the customer's bank over the payment. `lost` takes the commission back, until a later report says `won`; " +
        '`open` changes nothing. Null or absent says nothing of a dispute.',
    ),
};

/** Amounts must be whole in the currency of the order. */
export function checkAmounts(
  order: Unchecked<'currency' | 'amount' | 'refunds' | 'items'>,
  context: z.core.$RefinementCtx,
): void {
  const { data: currency } = Currency.safeParse(order.currency);
  if (currency === undefined) return;
  const check = (one: unknown, path: (string | number)[]) => {
    const message = typeof one === 'bigint' ? findAmountProblem(one, currency) : undefined;
    if (typeof one !== 'bigint' || message === undefined) return;
    context.addIssue({ code: 'custom', path, message, input: writeDecimal(one) });
  };
  check(order.amount, ['amount']);
  const refunds = Array.isArray(order.refunds) ? order.refunds : [];
  const eachItem = (of: unknown, path: (string | number)[]) => {
    const items = Array.isArray(of) ? of : [];
    for (const [i, item] of items.entries()) check(Object(item).amount, [...path, 'items', i, 'amount']);
  };
  eachItem(order.items, []);
  for (const [i, refund] of refunds.entries()) {
    check(Object(refund).amount, ['refunds', i, 'amount']);
    eachItem(Object(refund).items, ['refunds', i]);
  }
}

const GenericOrder = z.object(orderFields).superRefine(checkAmounts, besideOthers).meta({ id: 'GenericStoreOrder' });
export type GenericOrder = z.output<typeof GenericOrder>;

export const Envelope = z.object({ event: z.string(), createdAt: StoreTime });

export const Message = Envelope.extend({ data: GenericOrder }).superRefine(({ event, data }, context) => {
  const field = NEEDED[event];
  if (field === undefined || (data[field] ?? null) !== null) return;
  context.addIssue({ code: 'custom', path: ['data', field], message: `is required for ${event}`, input: data[field] });
});

/** Required for a whole order. */
export const Placed = z.object({ amount: z.bigint(), placed_at: z.date() });

/** As `Message`, for the OpenAPI document: an event of another name is answered 200 and not read. */
const GenericStoreDelivery = z
  .object({
    event: z.enum(EVENTS).describe('What happened to the order.'),
    createdAt: StoreTime.describe('When it was sent.'),
    data: GenericOrder,
  })
  .meta({
    id: 'GenericStoreDelivery',
    description: 'What a generic store sends to `POST /ingest/generic/{integration}`, signed.',
  });

const GenericStoreOrders = z
  .object({
    orders: z
      .array(GenericOrder)
      .describe('Orders that changed since `updated_since`, oldest change first. Each has `updated_at`.'),
    next_cursor: z.string().nullish().describe('Sent back as `cursor` for the next page; null or absent on the last.'),
  })
  .meta({
    id: 'GenericStoreOrders',
    description: 'The answer of a generic store to `GET /orders`; 404 when it does not list its orders.',
  });

/** The shapes that no operation of the API has, for the OpenAPI document. */
export const GENERIC_STORE_SHAPES = [
  GenericStoreInfo,
  GenericStoreCoupon,
  GenericStoreOrders,
  GenericStoreDelivery,
] as const;
