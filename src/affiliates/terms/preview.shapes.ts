import { z } from 'zod';
import { Currency } from '../../kit/values/money.ts';
import { besideOthers, type Unchecked } from '../../kit/values/problems.ts';
import { isCountry } from '../../workflow/terms/countries.ts';
import { OrderKind, TermsInput } from '../../workflow/terms/terms.shapes.ts';
import { checkAmounts } from '../stores/formats/generic.shapes.ts';
import { Decimal } from '../stores/formats/money.ts';
import { StoreTime } from '../stores/formats/provider.ts';

const MAX_ORDERS = 200;
const MAX_LINES = 200;

const id = z.string().min(1).max(200);
const count = z.number().int().min(0).max(1_000_000);
const minor = z.number().int().min(0);

const Line = z.object({
  line_id: id
    .optional()
    .describe('Id of the line within the order; its place from 0 when omitted.')
    .meta({ example: '0' }),
  sku: id.nullish().describe('Stock keeping unit of the product.').meta({ example: 'SERUM-30' }),
  product_id: id.nullish().describe('Id of the product.').meta({ example: 'p-77' }),
  variant_id: id.nullish().describe('Id of the variant.').meta({ example: null }),
  categories: z
    .array(id)
    .max(100)
    .nullish()
    .describe('Categories of the product.')
    .meta({ example: ['Skin care'] }),
  on_sale: z.boolean().nullish().describe('Whether the product was on sale.').meta({ example: false }),
  quantity: count.default(1).describe('How many of it were bought.').meta({ example: 1 }),
  amount: Decimal.describe('What was paid for the line, in major units, before refunds.').meta({ example: 33.33 }),
});

const Refund = z.object({
  refund_id: id
    .optional()
    .describe('Id of the refund, which orders refunds of the same time; its place from 0 when omitted.')
    .meta({ example: '0' }),
  amount: Decimal.describe('Refunded goods, in major units.').meta({ example: 5 }),
  at: StoreTime.optional()
    .describe('When it was refunded; as the order was placed when omitted.')
    .meta({ example: '2026-03-05T10:00:00Z' }),
  items: z
    .array(
      z.object({
        line_id: id
          .describe('The refunded line, by its `line_id`, or else by its `sku`.')
          .meta({ example: 'SERUM-30' }),
        amount: Decimal.describe('What was refunded of the line, in major units.').meta({ example: 5 }),
      }),
    )
    .max(MAX_LINES)
    .default([])
    .describe('Which lines it is for; the rest counts for all lines in proportion.'),
});

const Volume = z.object({
  orders: count.describe('Paid orders of the creator before this one.').meta({ example: 12 }),
  revenue_minor: minor
    .describe("Their revenue in this order's currency, net of refunds, in minor units.")
    .meta({ example: 120_000 }),
});

const Facts = z
  .object({
    customer: z
      .enum(['new', 'returning'])
      .nullable()
      .default(null)
      .describe('Whether the customer bought before.')
      .meta({ example: 'new' }),
    country: z
      .string()
      .refine(isCountry, 'must be a country of ISO 3166 such as DE')
      .nullable()
      .default(null)
      .describe('Where it is shipped to.')
      .meta({ example: 'DE' }),
    kind: OrderKind.nullable().default(null).describe('Part of the order in a subscription.'),
    by: z
      .enum(['code', 'click', 'customer'])
      .nullable()
      .default(null)
      .describe('What decided the order.')
      .meta({ example: 'code' }),
    payment: z
      .number()
      .int()
      .min(1)
      .nullable()
      .default(1)
      .describe('The number of the payment of this customer.')
      .meta({ example: 1 }),
    volume: z
      .object({
        month: Volume.describe("Orders of the same month in the brand's time zone."),
        ever: Volume.describe('All earlier orders.'),
      })
      .nullable()
      .default(null)
      .describe("The creator's earlier orders."),
    room_minor: minor
      .nullable()
      .default(null)
      .describe('What other orders left of a cap or a budget, in minor units; null for no limit.')
      .meta({ example: null }),
  })
  .describe('What conditions on the order are compared with. A condition on a value that is null is never true.');

const Order = z
  .object({
    currency: Currency.describe('Currency of all amounts of the order.').meta({ example: 'USD' }),
    amount: Decimal.describe('What was paid for goods, in major units, before refunds.').meta({ example: 43.28 }),
    placed_at: StoreTime.default(() => new Date(0))
      .describe('When the order was placed, for conditions on it.')
      .meta({ example: '2026-03-02T09:30:00Z' }),
    items: z.array(Line).max(MAX_LINES).default([]).describe('Lines of the order.'),
    refunds: z.array(Refund).max(MAX_LINES).default([]).describe('Refunds of the order.'),
    facts: Facts.prefault({}),
  })
  .superRefine((order: Unchecked<'currency' | 'amount' | 'refunds' | 'items'>, context) => {
    checkAmounts(order, context);
  }, besideOthers);

export const PreviewRequest = z
  .object({
    terms: TermsInput.describe('The terms to try.'),
    orders: z.array(Order).min(1).max(MAX_ORDERS).describe('Orders to price, each by itself.'),
  })
  .meta({ id: 'TermsPreview' });
export type PreviewRequest = z.output<typeof PreviewRequest>;

const ruleNumber = z
  .number()
  .int()
  .nullable()
  .describe('Number of the rule, from 0; null for the base rate.')
  .meta({ example: 0 });
const figures = {
  rule: ruleNumber,
  amount_minor: minor.describe('What was paid for it, in minor units.').meta({ example: 3_333 }),
  refunded_minor: minor.describe('Refunds of it, in minor units.').meta({ example: 0 }),
  commission_minor: minor.describe('What the creator earns with it, in minor units.').meta({ example: 500 }),
};

export const PricedPart = z.object({
  ...figures,
  name: z.string().nullable().describe('Name of the rule; null for the base rate.').meta({ example: 'Serums' }),
});

export const PricedLine = z.object({
  line_id: z.string().nullable().describe('The line; null for what no line accounts for.').meta({ example: '0' }),
  ...figures,
});

export const PreviewAnswer = z.object({
  summary: z
    .string()
    .describe('The terms in a sentence.')
    .meta({ example: '10% of each order; 15% for SERUM-30 (Serums).' }),
  orders: z
    .array(
      z.object({
        commission_minor: minor.describe('What the order pays, in minor units.').meta({ example: 600 }),
        uncapped_minor: minor.describe('What it would pay without caps, in minor units.').meta({ example: 600 }),
        parts: z.array(PricedPart).describe('What each rule decided, in the order of the first lines.'),
        lines: z.array(PricedLine).describe('Each line, and last what no line accounts for.'),
      }),
    )
    .describe('The orders, in the order in which they were given.'),
});
