/** How a brand's orders are attributed, beside the terms of each code and link. */
export interface Rules {
  model: 'last_click' | 'first_click';
  couponPolicy: 'code_wins' | 'click_wins';
  /** Smaller orders in this currency pay nobody. */
  minOrder: { minor: number; currency: string } | null;
}

export const DEFAULT_RULES: Rules = { model: 'last_click', couponPolicy: 'code_wins', minOrder: null };

/** The columns of a brand's row; nulls when it has none. */
interface Stored {
  model: Rules['model'] | null;
  couponPolicy: Rules['couponPolicy'] | null;
  minOrderMinor: number | null;
  minOrderCurrency: string | null;
}

/** The defaults, as the same object, unless the brand has others. */
export function rulesOf(stored: Stored): Rules {
  const { model, couponPolicy, minOrderMinor: minor, minOrderCurrency: currency } = stored;
  const rules: Rules = {
    model: model ?? DEFAULT_RULES.model,
    couponPolicy: couponPolicy ?? DEFAULT_RULES.couponPolicy,
    minOrder: minor === null || currency === null ? null : { minor, currency },
  };
  const isDefault =
    rules.model === DEFAULT_RULES.model && rules.couponPolicy === DEFAULT_RULES.couponPolicy && !rules.minOrder;
  return isDefault ? DEFAULT_RULES : rules;
}

/** Orders in other currencies have no minimum. */
export const isBelow = (
  { minOrder }: Pick<Rules, 'minOrder'>,
  { baseMinor, currency }: { baseMinor: number; currency: string },
): boolean => minOrder !== null && minOrder.currency === currency && baseMinor < minOrder.minor;

/** As a decision records them. */
export const recordedRules = ({ model, couponPolicy: coupon_policy, minOrder: min_order }: Rules) => ({
  ...{ model, coupon_policy, min_order },
});
