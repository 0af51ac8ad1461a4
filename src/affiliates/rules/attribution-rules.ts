import type { Selectable } from 'kysely';
import { z } from 'zod';
import type { AttributionRulesTable } from '../../kit/engines/postgres/database.ts';
import type { Db } from '../../kit/engines/postgres/open.ts';
import { fromMinor } from '../../kit/values/decimals.ts';
import { validationError } from '../../kit/values/errors.ts';
import { currencyField, updatedAt } from '../../kit/values/fields.ts';
import { amountProblem, MAX_AMOUNT_MINOR, toMinor } from '../../kit/values/money.ts';
import { Budgets, listBudgets } from '../../workflow/terms/budgets.ts';
import { NotifyOfTerms, Terms, TermsInput } from '../../workflow/terms/terms.shapes.ts';
import { listTermsByIds } from '../../workflow/terms/versions.ts';

export const model = z
  .enum(['last_click', 'first_click'])
  .describe('Whether the last or the first click within its window earns an order that came with several.')
  .meta({ example: 'last_click' });
export const couponPolicy = z
  .enum(['code_wins', 'click_wins'])
  .describe('Whether the code or the click earns an order that came with both.')
  .meta({ example: 'code_wins' });
export const customerPolicy = z
  .enum(['order_wins', 'customer_wins'])
  .describe(
    'Whether the code or click that an order came with, or the creator who brought the customer, earns it. Applies where ' +
      'terms cover later orders.',
  )
  .meta({ example: 'order_wins' });
export const minOrder = z
  .number()
  .min(0)
  .max(1_000_000_000)
  .nullable()
  .describe(
    "Orders below this amount pay nobody, in major units of the brand's currency. Orders in other currencies have no minimum. Null: none.",
  )
  .meta({ example: 25 });

export const AttributionRules = z
  .object({
    model,
    coupon_policy: couponPolicy,
    min_order: minOrder.describe('Orders in `currency` below this amount pay nobody, in major units; null: none.'),
    currency: currencyField.describe("Currency of `min_order`: the brand's, as it was when `min_order` was set."),
    customer_policy: customerPolicy,
    terms: Terms.nullable().describe(
      'Terms of codes and links where neither they nor their group or campaign have any; null: `default_commission_rate`.',
    ),
    budget: Budgets,
    updated_at: updatedAt,
  })
  .meta({ id: 'AttributionRules' });

export const AttributionRulesPatch = z
  .object({
    model: model.optional(),
    coupon_policy: couponPolicy.optional(),
    min_order: minOrder.optional(),
    customer_policy: customerPolicy.optional(),
    terms: TermsInput.nullable()
      .optional()
      .describe('What codes and links pay if no other terms apply; null for `default_commission_rate` alone.'),
    notify: NotifyOfTerms,
  })
  .meta({ id: 'AttributionRulesPatch' });

/** Reads the rules as the brand sees them, with its terms and what is used of their budget. */
export async function showRules(
  db: Db,
  { row, currency: brandCurrency, now }: { row: RulesRow; currency: string; now: Date },
): Promise<z.input<typeof AttributionRules>> {
  const { brandId, termsId } = row;
  const terms = (termsId !== null && (await listTermsByIds(db, brandId, [termsId])).get(termsId)) || null;
  const place = { place: 'brand', placeId: brandId, terms } as const;
  const currency = row.minOrderCurrency ?? brandCurrency;
  return {
    model: row.model,
    coupon_policy: row.couponPolicy,
    min_order: row.minOrderMinor === null ? null : fromMinor(row.minOrderMinor, currency),
    currency,
    customer_policy: row.customerPolicy ?? DEFAULT_RULES.customerPolicy,
    terms,
    budget: (await listBudgets(db, brandId, now, [place])).get(brandId) ?? [],
    updated_at: row.updatedAt?.toISOString() ?? null,
  };
}

type CustomerPolicy = z.output<typeof customerPolicy>;

/** A brand's rules of attribution, in addition to the terms of each code and link. */
export interface Rules {
  model: AttributionRulesTable['model'];
  couponPolicy: AttributionRulesTable['couponPolicy'];
  /** Smaller orders in this currency pay nobody. */
  minOrder: { minor: number; currency: string } | null;
  /** Whether a customer whom a creator brought precedes the code or click that an order carries. */
  customerPolicy: CustomerPolicy;
}

export const DEFAULT_RULES: Rules = {
  model: 'last_click',
  couponPolicy: 'code_wins',
  minOrder: null,
  customerPolicy: 'order_wins',
};

/** The columns of a brand's row; nulls when it has none. */
interface Stored {
  model: Rules['model'] | null;
  couponPolicy: Rules['couponPolicy'] | null;
  minOrderMinor: number | null;
  minOrderCurrency: string | null;
  customerPolicy: CustomerPolicy | null;
}

/** Returns the very object `DEFAULT_RULES` unless the brand has other rules. */
export function toRules(storedRules: Stored): Rules {
  const { model, couponPolicy, minOrderMinor: minor, minOrderCurrency: currency } = storedRules;
  const rules: Rules = {
    model: model ?? DEFAULT_RULES.model,
    couponPolicy: couponPolicy ?? DEFAULT_RULES.couponPolicy,
    minOrder: minor === null || currency === null ? null : { minor, currency },
    customerPolicy: storedRules.customerPolicy ?? DEFAULT_RULES.customerPolicy,
  };
  const isDefault =
    rules.model === DEFAULT_RULES.model &&
    rules.couponPolicy === DEFAULT_RULES.couponPolicy &&
    rules.customerPolicy === DEFAULT_RULES.customerPolicy &&
    !rules.minOrder;
  return isDefault ? DEFAULT_RULES : rules;
}

/** Orders in other currencies have no minimum. */
export const isBelowMinimum = (
  { minOrder }: Pick<Rules, 'minOrder'>,
  { baseMinor, currency }: { baseMinor: number; currency: string },
): boolean => minOrder !== null && minOrder.currency === currency && baseMinor < minOrder.minor;

/** The form in which a decision records the rules. */
export const toRecordedRules = ({ model, couponPolicy, minOrder, customerPolicy }: Rules) => ({
  model,
  coupon_policy: couponPolicy,
  min_order: minOrder,
  ...(customerPolicy === 'customer_wins' ? { customer_policy: customerPolicy } : {}),
});

/** Converts the amount to minor units; undefined stays undefined. Throws VALIDATION_ERROR that names `field`. */
export function parseMinOrder(
  field: string,
  amount: number | null | undefined,
  currency: string,
): Rules['minOrder'] | undefined {
  if (amount === undefined || amount === null) return amount;
  const minor = toMinor(amount, currency);
  const message = amountProblem(amount, currency, MAX_AMOUNT_MINOR);
  if (message === undefined && minor !== undefined) return { minor, currency };
  throw validationError([{ field, code: 'invalid', message: `${message ?? 'is invalid'}.` }]);
}

type RulesRow = Selectable<AttributionRulesTable>;

/** The row of a brand that never changed its rules. */
const createDefaultRow = (brandId: string): RulesRow => ({
  brandId,
  model: DEFAULT_RULES.model,
  couponPolicy: DEFAULT_RULES.couponPolicy,
  minOrderMinor: null,
  minOrderCurrency: null,
  updatedAt: null,
  customerPolicy: null,
  termsId: null,
});

export async function getRules(db: Db, brandId: string): Promise<RulesRow> {
  const row = await db.selectFrom('attributionRules').selectAll().where('brandId', '=', brandId).executeTakeFirst();
  return row ?? createDefaultRow(brandId);
}

export async function updateRules(
  db: Db,
  brandId: string,
  change: Partial<Omit<RulesRow, 'brandId'>> & { updatedAt: Date },
): Promise<RulesRow> {
  return await db
    .insertInto('attributionRules')
    .values({ ...createDefaultRow(brandId), ...change })
    .onConflict((conflict) => conflict.column('brandId').doUpdateSet(change))
    .returningAll()
    .executeTakeFirstOrThrow();
}
