import { z } from 'zod';
import { currencyField, updatedAt } from '../../../kit/values/fields.ts';
import { fromMinor } from '../../../kit/values/money.ts';
import type { RulesRow } from './queries.ts';

export const model = z
  .enum(['last_click', 'first_click'])
  .describe('Whether the last or the first click within its window earns an order that came with several.')
  .meta({ example: 'last_click' });
export const couponPolicy = z
  .enum(['code_wins', 'click_wins'])
  .describe('Whether the code or the click earns an order that came with both.')
  .meta({ example: 'code_wins' });
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
    updated_at: updatedAt,
  })
  .meta({ id: 'AttributionRules' });

export const AttributionRulesPatch = z
  .object({ model: model.optional(), coupon_policy: couponPolicy.optional(), min_order: minOrder.optional() })
  .meta({ id: 'AttributionRulesPatch' });

export const shownRules = (row: RulesRow, brandCurrency: string): z.input<typeof AttributionRules> => {
  const currency = row.minOrderCurrency ?? brandCurrency;
  return {
    model: row.model,
    coupon_policy: row.couponPolicy,
    min_order: row.minOrderMinor === null ? null : fromMinor(row.minOrderMinor, currency),
    currency,
    updated_at: row.updatedAt?.toISOString() ?? null,
  };
};
