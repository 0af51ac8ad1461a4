-- How a brand's orders are attributed, where it differs from the defaults. A decision keeps the rules that made it.
CREATE TABLE attribution_rules (
  brand_id text PRIMARY KEY REFERENCES brands (id),
  model text NOT NULL CHECK (model IN ('last_click', 'first_click')),
  coupon_policy text NOT NULL CHECK (coupon_policy IN ('code_wins', 'click_wins')),
  -- Smaller orders in this currency pay nobody.
  min_order_minor bigint CHECK (min_order_minor >= 0),
  min_order_currency text CHECK (min_order_currency ~ '^[A-Z]{3}$'),
  updated_at timestamptz,
  CHECK ((min_order_minor IS NULL) = (min_order_currency IS NULL))
);

-- When the code that follows took over: before `until`, if the old one still pays for a while. Null: at `until`.
ALTER TABLE link_past_codes ADD COLUMN replaced_at timestamptz CHECK (replaced_at <= until);
