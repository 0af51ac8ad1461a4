-- Connections to stores that last: tokens that end, versions that end.

ALTER TABLE integrations
  -- Until then one process renews the token; the others take what it writes into `secrets`.
  ADD COLUMN renewing_until timestamptz,
  -- The version of its API that last answered. Null: not known, or the store has no versions.
  ADD COLUMN api_version text;

ALTER TABLE integrations
  -- Whether the store's webhooks are on. `manual`: nobody but its owner can say or change that.
  ADD COLUMN webhook_state text NOT NULL DEFAULT 'manual'
    CHECK (webhook_state IN ('pending', 'active', 'manual', 'disabled')),
  -- Those that are not on, and why they cannot be switched on from here.
  ADD COLUMN missing_webhooks text[] NOT NULL DEFAULT '{}',
  ADD COLUMN webhook_problem text,
  ADD COLUMN webhooks_checked_at timestamptz,
  -- When they are looked at next. Null: they cannot be listed.
  ADD COLUMN webhooks_due_at timestamptz;
CREATE INDEX integrations_webhooks_due ON integrations (webhooks_due_at) WHERE status = 'connected';

-- WooCommerce lists webhooks for every key that may read.
UPDATE integrations SET webhook_state = 'pending', webhooks_due_at = connected_at
  WHERE provider = 'woocommerce' AND status <> 'disconnected';

-- Links by which the owner of a WooCommerce store hands out keys with a click.
CREATE TABLE store_authorizations (
  id text PRIMARY KEY,
  brand_id text NOT NULL REFERENCES brands (id),
  base_url text NOT NULL,
  -- Of the token in the address that the store calls.
  token_hash bytea NOT NULL UNIQUE,
  expires_at timestamptz NOT NULL,
  -- The keys, sealed until they are used or forgotten.
  keys bytea,
  created_at timestamptz NOT NULL
);
CREATE INDEX store_authorizations_expired ON store_authorizations (expires_at);
