-- Who may call, under which plan, and what was paid for. Times are parameters of every statement: no now() here.

CREATE TABLE brands (
  id text PRIMARY KEY,
  name text NOT NULL,
  created_at timestamptz NOT NULL,
  updated_at timestamptz
);
CREATE UNIQUE INDEX brands_name_key ON brands (lower(name));

-- A brand has one subscription for its workflow and one for its metered data keys.
-- version rises with every change that a running process must notice; see src/access.
CREATE TABLE subscriptions (
  id text PRIMARY KEY,
  brand_id text NOT NULL REFERENCES brands (id),
  kind text NOT NULL CHECK (kind IN ('brand', 'data')),
  plan text NOT NULL CHECK (plan IN ('free', 'starter', 'growth', 'scale', 'design_partner', 'enterprise')),
  status text NOT NULL CHECK (status IN ('active', 'trialing', 'past_due', 'canceled')),
  monthly_credits integer CHECK (monthly_credits >= 0),
  anchor_at timestamptz NOT NULL,
  version bigint NOT NULL DEFAULT 1,
  created_at timestamptz NOT NULL,
  updated_at timestamptz,
  UNIQUE (brand_id, kind)
);

CREATE TABLE api_keys (
  id text PRIMARY KEY,
  brand_id text NOT NULL REFERENCES brands (id),
  subscription_id text NOT NULL REFERENCES subscriptions (id),
  kind text NOT NULL CHECK (kind IN ('brand', 'data')),
  name text NOT NULL,
  hash bytea NOT NULL UNIQUE,
  first_characters text NOT NULL,
  last_characters text NOT NULL,
  created_at timestamptz NOT NULL,
  expires_at timestamptz,
  revoked_at timestamptz,
  last_used_at timestamptz
);
CREATE INDEX api_keys_brand ON api_keys (brand_id, created_at DESC, id);
CREATE INDEX api_keys_revoked ON api_keys (subscription_id) WHERE revoked_at IS NOT NULL;

-- The ledger of credits, append-only. granted - charged + refunded = remaining, per subscription and period.
-- A refund carries its charge's id: at most one counts, and only beside its charge.
CREATE TABLE credit_entries (
  charge_id text NOT NULL,
  kind text NOT NULL CHECK (kind IN ('grant', 'charge', 'refund')),
  subscription_id text NOT NULL REFERENCES subscriptions (id),
  key_id text REFERENCES api_keys (id),
  credits integer NOT NULL,
  period_start timestamptz NOT NULL,
  request_id text,
  occurred_at timestamptz NOT NULL,
  PRIMARY KEY (charge_id, kind)
);
CREATE INDEX credit_entries_period ON credit_entries (subscription_id, period_start, kind);
CREATE INDEX credit_entries_request ON credit_entries (request_id) WHERE request_id IS NOT NULL;
CREATE INDEX credit_entries_key_time ON credit_entries (key_id, occurred_at);
