-- Attribution: who is assigned which code or link, what stores sent, and who is owed what.

-- A brand's connection to a store.
CREATE TABLE integrations (
  id text PRIMARY KEY,
  brand_id text NOT NULL REFERENCES brands (id),
  provider text NOT NULL CHECK (provider IN ('shopify', 'woocommerce', 'generic')),
  name text NOT NULL,
  storefront_url text NOT NULL,
  storefront_host text NOT NULL,
  -- The root of the store's API.
  base_url text NOT NULL,
  currency text NOT NULL CHECK (currency ~ '^[A-Z]{3}$'),
  status text NOT NULL CHECK (status IN ('connected', 'disconnected', 'error', 'reauth_required')),
  -- Access token and webhook secret, sealed with a key from the environment.
  secrets bytea NOT NULL,
  connected_at timestamptz NOT NULL,
  last_sync_at timestamptz,
  last_received_at timestamptz,
  -- When a delivery that the store had signed was last refused.
  last_failed_at timestamptz,
  disconnected_at timestamptz,
  created_at timestamptz NOT NULL,
  updated_at timestamptz,
  UNIQUE (brand_id, id)
);
-- Not unique: several stores may share a host, and a store may move to another one.
CREATE INDEX integrations_store ON integrations (brand_id, provider, base_url);
CREATE INDEX integrations_newest ON integrations (brand_id, created_at DESC, id DESC);

-- Deliveries of a store that were refused, counted by the hour.
CREATE TABLE integration_failures (
  integration_id text NOT NULL REFERENCES integrations (id),
  hour timestamptz NOT NULL,
  failures integer NOT NULL DEFAULT 0,
  -- Without the store's signature: anybody who knows the address can send these, so they say nothing of the store's health.
  forged integer NOT NULL DEFAULT 0,
  PRIMARY KEY (integration_id, hour)
);

-- A code or a link assigned to a creator. Its terms are copied at attribution: a change touches later orders only.
CREATE TABLE links (
  id text PRIMARY KEY,
  brand_id text NOT NULL REFERENCES brands (id),
  creator_id text NOT NULL,
  creator_name text,
  campaign_id text,
  integration_id text,
  type text NOT NULL CHECK (type IN ('discount_code', 'link')),
  value text NOT NULL,
  -- Of a link: the last part of its short URL.
  slug text,
  destination_url text,
  commission_rate_ppm integer NOT NULL CHECK (commission_rate_ppm BETWEEN 0 AND 1000000),
  hold_days integer NOT NULL CHECK (hold_days BETWEEN 0 AND 90),
  attribution_days integer NOT NULL CHECK (attribution_days BETWEEN 1 AND 90),
  currency text NOT NULL CHECK (currency ~ '^[A-Z]{3}$'),
  platform text,
  active boolean NOT NULL,
  last_sync_at timestamptz,
  -- What a store's coupon takes off and when it ends, as of its last verification.
  discount_ppm integer,
  expires_at timestamptz,
  created_at timestamptz NOT NULL,
  updated_at timestamptz,
  UNIQUE (brand_id, id),
  CHECK ((type = 'link') = (slug IS NOT NULL)),
  FOREIGN KEY (brand_id, creator_id) REFERENCES creators (brand_id, id),
  FOREIGN KEY (brand_id, campaign_id) REFERENCES campaigns (brand_id, id),
  FOREIGN KEY (brand_id, integration_id) REFERENCES integrations (brand_id, id)
);
CREATE UNIQUE INDEX links_value ON links (brand_id, type, lower(value));
CREATE INDEX links_newest ON links (brand_id, created_at DESC, id DESC);
CREATE INDEX links_by_creator ON links (brand_id, creator_id);

-- Every slug a link ever had, unique over all brands and never given away again. Lower case.
CREATE TABLE link_slugs (
  slug text PRIMARY KEY,
  brand_id text NOT NULL REFERENCES brands (id),
  link_id text NOT NULL,
  created_at timestamptz NOT NULL,
  FOREIGN KEY (brand_id, link_id) REFERENCES links (brand_id, id)
);

-- When a link was switched on and off: a code counts when it was active as the order was placed.
CREATE TABLE link_states (
  brand_id text NOT NULL REFERENCES brands (id),
  link_id text NOT NULL,
  at timestamptz NOT NULL,
  active boolean NOT NULL,
  PRIMARY KEY (link_id, at),
  FOREIGN KEY (brand_id, link_id) REFERENCES links (brand_id, id)
);

-- Codes that assignments had before: an order counts for the assignment that had its code when the order was placed.
CREATE TABLE link_past_codes (
  brand_id text NOT NULL REFERENCES brands (id),
  link_id text NOT NULL,
  code text NOT NULL,
  -- Null: since the assignment was made.
  since timestamptz,
  until timestamptz NOT NULL,
  PRIMARY KEY (link_id, code, until),
  FOREIGN KEY (brand_id, link_id) REFERENCES links (brand_id, id)
);
CREATE INDEX link_past_codes_by_code ON link_past_codes (brand_id, lower(code), until);

-- The newest known snapshot of a store's order, and how it was attributed: once, at first sight.
CREATE TABLE orders (
  id text PRIMARY KEY,
  brand_id text NOT NULL REFERENCES brands (id),
  integration_id text NOT NULL,
  order_id text NOT NULL,
  currency text NOT NULL CHECK (currency ~ '^[A-Z]{3}$'),
  -- What the customer paid for goods: after discounts, without tax and shipping.
  base_minor bigint NOT NULL CHECK (base_minor >= 0),
  occurred_at timestamptz NOT NULL,
  paid_at timestamptz,
  cancelled_at timestamptz,
  -- As the store first reported it: some stores then give the time of each later edit.
  first_cancelled_at timestamptz,
  -- The snapshot's own time at the store: an older one changes nothing.
  store_updated_at timestamptz NOT NULL,
  customer_email text,
  customer_hash bytea,
  -- Why which assignment won and the others lost, as decided then.
  attribution jsonb NOT NULL,
  created_at timestamptz NOT NULL,
  updated_at timestamptz,
  UNIQUE (integration_id, order_id),
  UNIQUE (brand_id, id),
  FOREIGN KEY (brand_id, integration_id) REFERENCES integrations (brand_id, id)
);
CREATE INDEX orders_by_order_id ON orders (brand_id, order_id);
CREATE INDEX orders_by_customer ON orders (brand_id, customer_hash, occurred_at);

-- One row per order that a store ever mentioned, locked while a delivery is applied: a refund may come before its order.
CREATE TABLE order_heads (
  integration_id text NOT NULL,
  order_id text NOT NULL,
  brand_id text NOT NULL REFERENCES brands (id),
  -- The store deleted it, perhaps before it sent it.
  deleted_at timestamptz,
  -- Until when the store's list of its refunds was complete.
  refunds_listed_at timestamptz,
  PRIMARY KEY (integration_id, order_id),
  FOREIGN KEY (brand_id, integration_id) REFERENCES integrations (brand_id, id)
);

-- Refunds as the store names them; one may arrive before its order.
CREATE TABLE order_refunds (
  brand_id text NOT NULL REFERENCES brands (id),
  integration_id text NOT NULL,
  order_id text NOT NULL,
  refund_id text NOT NULL,
  amount_minor bigint NOT NULL CHECK (amount_minor >= 0),
  at timestamptz NOT NULL,
  -- A refund in another currency than its order's does not count.
  currency text NOT NULL,
  -- How much of it was known when its commission was paid: the rest is taken back, not prorated.
  prorated_minor bigint NOT NULL,
  -- When the store last reported it: a refund that a newer list lacks was taken back.
  told_at timestamptz NOT NULL,
  created_at timestamptz NOT NULL,
  PRIMARY KEY (integration_id, order_id, refund_id),
  FOREIGN KEY (brand_id, integration_id) REFERENCES integrations (brand_id, id)
);

-- One order pays at most one assignment.
CREATE TABLE commissions (
  id text PRIMARY KEY,
  brand_id text NOT NULL REFERENCES brands (id),
  -- Null, with link_id and affiliate_code: the brand recorded the commission itself.
  order_id text,
  link_id text,
  creator_id text NOT NULL,
  campaign_id text,
  source text NOT NULL,
  currency text NOT NULL CHECK (currency ~ '^[A-Z]{3}$'),
  amount_minor bigint NOT NULL CHECK (amount_minor >= 0),
  -- What is owed now: prorated by refunds until it is paid, and fixed from then on.
  commission_minor bigint NOT NULL CHECK (commission_minor >= 0),
  refunded_minor bigint NOT NULL DEFAULT 0 CHECK (refunded_minor BETWEEN 0 AND amount_minor),
  commission_rate_ppm integer NOT NULL CHECK (commission_rate_ppm BETWEEN 0 AND 1000000),
  hold_days integer NOT NULL,
  status text NOT NULL CHECK (status IN ('pending', 'approved', 'rejected', 'paid')),
  status_updated_at timestamptz,
  status_note text,
  -- Its status before its order, not the brand, rejected it: it returns there when the order no longer does.
  rejected_from text CHECK (rejected_from IN ('pending', 'approved')),
  -- The note from before that, which returns with the status.
  note_before_rejection text,
  -- When it was first approved, which is announced once.
  approved_at timestamptz,
  -- When the order was paid, and when its review period ends; null until the store says it was.
  paid_at timestamptz,
  hold_ends_at timestamptz,
  fraud_flags jsonb NOT NULL,
  click_id text,
  discount_code text,
  affiliate_code text,
  occurred_at timestamptz NOT NULL,
  synced_at timestamptz NOT NULL,
  created_at timestamptz NOT NULL,
  UNIQUE (brand_id, id),
  UNIQUE (order_id),
  FOREIGN KEY (brand_id, order_id) REFERENCES orders (brand_id, id),
  FOREIGN KEY (brand_id, link_id) REFERENCES links (brand_id, id),
  FOREIGN KEY (brand_id, creator_id) REFERENCES creators (brand_id, id),
  FOREIGN KEY (brand_id, campaign_id) REFERENCES campaigns (brand_id, id)
);
CREATE INDEX commissions_newest ON commissions (brand_id, created_at DESC, id DESC);
CREATE INDEX commissions_by_creator ON commissions (brand_id, creator_id, currency, status, occurred_at, id);
CREATE INDEX commissions_by_link ON commissions (brand_id, link_id, created_at);
CREATE INDEX commissions_due ON commissions (brand_id, hold_ends_at) WHERE status = 'pending' AND hold_ends_at IS NOT NULL;
-- Conversions that came by a click.
CREATE INDEX commissions_by_click ON commissions (brand_id, occurred_at) WHERE click_id IS NOT NULL AND paid_at IS NOT NULL;

-- What a refund after payment takes back, per refund; netted from what its creator is owed next.
CREATE TABLE commission_adjustments (
  brand_id text NOT NULL REFERENCES brands (id),
  commission_id text NOT NULL,
  -- The refund's id at the store, or 'cancelled'.
  cause text NOT NULL,
  creator_id text NOT NULL,
  currency text NOT NULL,
  amount_minor bigint NOT NULL,
  at timestamptz NOT NULL,
  created_at timestamptz NOT NULL,
  PRIMARY KEY (commission_id, cause),
  FOREIGN KEY (brand_id, commission_id) REFERENCES commissions (brand_id, id)
);
CREATE INDEX commission_adjustments_by_creator ON commission_adjustments (brand_id, creator_id, currency);
