import { z } from 'zod';
import { DAY_MS } from '../../kit/values/duration.ts';
import { amountProblem, Currency, MAX_AMOUNT_MINOR, toPpm } from '../../kit/values/money.ts';
import { besideOthers, type Unchecked } from '../../kit/values/problems.ts';
import { isDay, TimeText } from '../../kit/values/time.ts';
import { isCountry } from './countries.ts';

/** The most rules of one deal, and the most values of one list. */
const MAX_RULES = 50;
const MAX_VALUES = 100;
/** The longest duration, in months or in payments. */
const MAX_DURATION = 120;
const MAX_COUNT = 1_000_000;

/** `upgrade` is any change of plan. Renewals, upgrades and resubscriptions continue an earlier order. */
const ORDER_KINDS = ['once', 'first', 'renewal', 'upgrade', 'resubscribe'] as const;
export const OrderKind = z
  .enum(ORDER_KINDS)
  .describe(
    '`once`: no part of a subscription that its store names. `first`: it starts a subscription. `renewal`: it renews one. ' +
      '`upgrade`: the customer changed the plan. `resubscribe`: the customer subscribed again.',
  )
  .meta({ example: 'once' });
export type OrderKind = z.infer<typeof OrderKind>;

/** Beside changed terms of a group, a campaign or the brand. */
export const NotifyOfTerms = z
  .boolean()
  .optional()
  .describe(
    '`true`: emails the creators whose codes and links will pay differently, with the old and the new terms in words.',
  )
  .meta({ example: true });

const COVERS = ['order', 'subscription', 'customer'] as const;

/** Reports each currency that is unknown and each amount that its currency cannot hold, by its own path. */
function checkAmounts(amounts: Readonly<Record<string, number>>, context: z.RefinementCtx): void {
  const report = (path: string[], input: unknown, message: string) =>
    context.addIssue({ code: 'custom', path, input, message });
  if (Object.keys(amounts).length === 0) report([], amounts, 'must name at least one currency');
  for (const [currency, amount] of Object.entries(amounts)) {
    const [unknown] = Currency.safeParse(currency).error?.issues ?? [];
    const message = amount > 0 ? amountProblem(amount, currency, MAX_AMOUNT_MINOR) : 'must be more than 0';
    if (unknown) report([currency], currency, unknown.message);
    else if (message !== undefined) report([currency], amount, message);
  }
}

const AmountsByCurrency = z
  .record(z.string(), z.number())
  .superRefine(checkAmounts)
  .meta({ example: { USD: 50 } });

const text = (longest: number) =>
  z
    .string()
    .trim()
    .min(1)
    .max(longest)
    .refine((value) => !/\p{Cc}/u.test(value) && value.isWellFormed(), 'must be text without control characters');

const listOfValues = <T extends z.ZodType>(value: T) => z.array(value).min(1).max(MAX_VALUES);

/** Exactly one of two fields. A percentage says all by itself, so that `per` belongs to flat amounts alone. */
function checkRate({ percent, flat, per }: Unchecked<'percent' | 'flat' | 'per'>, context: z.RefinementCtx): void {
  if ((percent === undefined) === (flat === undefined)) {
    context.addIssue({ code: 'custom', message: 'must have either `percent` or `flat`' });
  } else if ((flat === undefined) !== (per === undefined)) {
    const message = per === undefined ? 'is required beside `flat`: `order` or `item`' : 'is only for `flat`';
    context.addIssue({ code: 'custom', path: ['per'], message });
  }
}

export const RateTerms = z
  .strictObject({
    percent: z
      .number()
      .min(0)
      .max(100)
      .refine((percent) => toPpm(percent) !== undefined, 'must have at most 4 decimals')
      .describe('Percent of the sale, with at most 4 decimals.')
      .meta({ example: 10 })
      .optional(),
    flat: AmountsByCurrency.describe(
      'Amount by currency, in major units. Orders in other currencies earn nothing by it.',
    ).optional(),
    per: z
      .enum(['order', 'item'])
      .describe('`flat` is paid once an order, or for each item that was sold.')
      .meta({ example: 'order' })
      .optional(),
  })
  .superRefine(checkRate, besideOthers)
  .describe('Either `percent`, or `flat` with `per`.')
  .meta({ example: { percent: 10 } });

/** Reports an empty range, and one that ends before it starts. */
const checkRange =
  (isInOrder: (from: string | number, to: string | number) => boolean, message: string) =>
  (
    { from, to }: { from?: string | number | undefined; to?: string | number | undefined },
    context: z.RefinementCtx,
  ) => {
    if (from === undefined && to === undefined) {
      context.addIssue({ code: 'custom', message: 'must have `from` or `to`' });
    } else if (from !== undefined && to !== undefined && !isInOrder(from, to)) {
      context.addIssue({ code: 'custom', path: ['to'], message });
    }
  };

const paymentNumber = z.number().int().min(1).max(MAX_COUNT).optional();

const PaymentRange = z
  .strictObject({
    from: paymentNumber.describe('The first payment, counted from 1.').meta({ example: 1 }),
    to: paymentNumber.describe('The last payment.').meta({ example: 3 }),
  })
  .superRefine(checkRange((from, to) => from <= to, 'must not be less than `from`'));

/** A day and a time are in the wrong order only if they are in every time zone. */
const isEarlier = (from: string, to: string): boolean =>
  Date.parse(from) - (isDay(from) === isDay(to) ? 0 : DAY_MS) < Date.parse(to);

const PlacedRange = z
  .strictObject({
    from: TimeText.describe("A date is the start of that day in the brand's time zone.")
      .meta({ example: '2026-11-27' })
      .optional(),
    to: TimeText.describe('Orders placed at this time or later do not count.')
      .meta({ example: '2026-12-01' })
      .optional(),
  })
  .superRefine(checkRange((from, to) => isEarlier(`${from}`, `${to}`), 'must be later than `from`'));

const VolumeCondition = z
  .strictObject({
    per: z
      .enum(['month', 'ever'])
      .describe("Orders of the same month in the brand's time zone, or all.")
      .meta({ example: 'month' }),
    orders_from: z
      .number()
      .int()
      .min(1)
      .max(MAX_COUNT)
      .describe('At least this many orders.')
      .meta({ example: 20 })
      .optional(),
    revenue_from: AmountsByCurrency.describe(
      "At least this revenue in the order's currency, in major units.",
    ).optional(),
  })
  .superRefine(({ orders_from, revenue_from }: Unchecked<'orders_from' | 'revenue_from'>, context) => {
    if ((orders_from === undefined) !== (revenue_from === undefined)) return;
    context.addIssue({ code: 'custom', message: 'must have either `orders_from` or `revenue_from`' });
  }, besideOthers);

export const RuleCondition = z.strictObject({
  product: listOfValues(text(200))
    .describe('Lines of one of these products, by SKU, product id or variant id.')
    .meta({ example: ['SERUM-30'] })
    .optional(),
  category: listOfValues(text(200))
    .describe('Lines of a product in one of these categories or collections.')
    .meta({ example: ['Skin care'] })
    .optional(),
  on_sale: z.boolean().describe('Lines that were on sale, or those that were not.').meta({ example: false }).optional(),
  quantity_from: z
    .number()
    .int()
    .min(1)
    .max(MAX_COUNT)
    .describe('Lines of at least this many items.')
    .meta({ example: 2 })
    .optional(),
  customer: z
    .enum(['new', 'returning'])
    .describe('Orders of customers without an earlier paid order, or with one.')
    .meta({ example: 'new' })
    .optional(),
  country: listOfValues(z.string().refine(isCountry, 'must be a country of ISO 3166 such as DE'))
    .describe('Orders that are shipped to one of these countries, by their ISO 3166 codes.')
    .meta({ example: ['DE', 'AT'] })
    .optional(),
  kind: listOfValues(OrderKind)
    .describe('Orders of one of these kinds.')
    .meta({ example: ['first'] })
    .optional(),
  by: z
    .enum(['code', 'click', 'customer'])
    .describe('Orders that a redeemed code, a click or the customer decided.')
    .meta({ example: 'code' })
    .optional(),
  payment: PaymentRange.describe('Payments of the same customer, by their number.').optional(),
  amount_from: AmountsByCurrency.describe('Orders of at least this amount before refunds, in major units.').optional(),
  placed: PlacedRange.describe('Orders placed within this time.').optional(),
  volume: VolumeCondition.describe("What the creator's earlier orders came to.").optional(),
});

const TermsRule = z.strictObject({
  name: text(100).describe('Name of the rule, unique in these terms.').meta({ example: 'Serums' }),
  when: RuleCondition.describe('Conditions on a line and its order. All of them must be true.'),
  rate: RateTerms.describe('What the rule pays: either `percent`, or `flat` with `per`. 0 percent excludes.'),
});

function checkNames(rules: readonly { name: string }[], context: z.RefinementCtx): void {
  const takenNames = new Set<string>();
  for (const [place, { name }] of rules.entries()) {
    const foldedName = name.toLowerCase();
    const message = 'is the name of an earlier rule';
    if (takenNames.has(foldedName)) context.addIssue({ code: 'custom', path: [place, 'name'], input: name, message });
    takenNames.add(foldedName);
  }
}

const duration = z.number().int().min(1).max(MAX_DURATION).nullable().default(null);

/** A duration has nothing to count where terms cover a single order. */
function checkDuration(duration: Unchecked<'covers' | 'months' | 'payments'>, context: z.RefinementCtx): void {
  if (duration.covers !== 'order' && duration.covers !== undefined) return;
  for (const field of ['months', 'payments'] as const) {
    const input = duration[field];
    const message = 'needs `covers` to be `subscription` or `customer`';
    if (typeof input === 'number') context.addIssue({ code: 'custom', path: [field], input, message });
  }
}

const TermsShape = z
  .strictObject({
    rate: RateTerms.describe('What is paid if no rule applies: either `percent`, or `flat` with `per`.'),
    rules: z
      .array(TermsRule)
      .max(MAX_RULES)
      .superRefine(checkNames)
      .default([])
      .describe('Other rates. For each line, the first rule that applies decides.'),
    covers: z
      .enum(COVERS)
      .default('order')
      .describe(
        'What earns: the `order` that a code or click wins, also the rest of its `subscription`, or all later orders of the `customer`.',
      )
      .meta({ example: 'subscription' }),
    months: duration
      .describe('For how many months after the first payment later orders earn; null for no end.')
      .meta({ example: 12 }),
    payments: duration
      .describe('How many payments of a customer earn, the first included; null for all.')
      .meta({ example: null }),
    caps: z
      .strictObject({
        order: AmountsByCurrency.describe('The most that one order pays, by currency.').optional(),
        customer: AmountsByCurrency.describe('The most that one customer pays the creator.').optional(),
        month: AmountsByCurrency.describe(
          "The most that the creator earns with orders of one month in the brand's time zone.",
        ).optional(),
      })
      .nullable()
      .default(null)
      .describe('The most that is paid, in major units. Currencies that are not named have no limit.'),
    budget: z
      .strictObject({
        per: z
          .enum(['month', 'ever'])
          .describe("Orders of the same month in the brand's time zone, or all.")
          .meta({ example: 'month' }),
        amount: AmountsByCurrency.describe('The most that they pay together, by currency.'),
      })
      .nullable()
      .default(null)
      .describe('The most that all orders under these terms pay together, whoever earns.'),
  })
  .superRefine(checkDuration, besideOthers);

/** The terms of a deal: what it pays and for how long. */
export const Terms = TermsShape.meta({ id: 'Terms' });

/** The same in a request, where the document names what may be left out. */
export const TermsInput = TermsShape.meta({ id: 'TermsInput' });

export type Terms = z.output<typeof Terms>;
export type RateTerms = z.output<typeof RateTerms>;
export type RuleCondition = z.output<typeof RuleCondition>;
export type AmountsByCurrency = Readonly<Record<string, number>>;
