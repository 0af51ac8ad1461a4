-- What a brand enters of its own costs, from which the returns are computed.
CREATE TABLE costs (
  id text PRIMARY KEY,
  brand_id text NOT NULL REFERENCES brands (id),
  scope text NOT NULL CHECK (scope IN ('brand', 'campaign', 'product')),
  campaign_id text,
  -- Of a product: as shipments have it.
  sku text,
  kind text NOT NULL CHECK (kind IN ('cogs_percent', 'fixed', 'per_order', 'per_item')),
  -- A rate in millionths, or an amount in minor units of its currency.
  rate_ppm integer CHECK (rate_ppm BETWEEN 0 AND 1000000),
  amount_minor bigint CHECK (amount_minor >= 0),
  currency text CHECK (currency ~ '^[A-Z]{3}$'),
  -- Both included; null: without a limit.
  from_day date,
  to_day date,
  note text,
  created_at timestamptz NOT NULL,
  updated_at timestamptz,
  FOREIGN KEY (brand_id, campaign_id) REFERENCES campaigns (brand_id, id),
  CONSTRAINT costs_days CHECK (from_day <= to_day),
  CHECK ((scope = 'campaign') = (campaign_id IS NOT NULL)),
  CHECK ((scope = 'product') = (sku IS NOT NULL)),
  CHECK ((scope = 'product') = (kind = 'per_item')),
  CHECK ((kind = 'cogs_percent') = (rate_ppm IS NOT NULL)),
  CHECK ((kind = 'cogs_percent') = (amount_minor IS NULL)),
  CHECK ((kind = 'cogs_percent') = (currency IS NULL)),
  CHECK (kind <> 'fixed' OR from_day IS NOT NULL)
);
CREATE INDEX costs_newest ON costs (brand_id, created_at DESC, id DESC);
