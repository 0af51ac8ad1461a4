-- Brands, who may call for them, under which plan, and what was paid for. Times are parameters of every statement: no now().

CREATE TABLE brands (
  id text PRIMARY KEY,
  name text NOT NULL,
  logo text,
  contact_name text,
  contact_email text,
  website text,
  industry text,
  description text,
  auto_approve_commissions boolean NOT NULL DEFAULT false,
  -- Millionths: 12.5 % is 125000.
  default_commission_rate_ppm integer NOT NULL DEFAULT 0 CHECK (default_commission_rate_ppm BETWEEN 0 AND 1000000),
  currency text NOT NULL DEFAULT 'USD' CHECK (currency ~ '^[A-Z]{3}$'),
  -- When the operator vouched for the name and links in this brand's mails.
  mail_trusted_at timestamptz,
  created_at timestamptz NOT NULL,
  updated_at timestamptz
);
CREATE UNIQUE INDEX brands_name_key ON brands (lower(name));

-- A brand has one subscription for its workflow and one for its metered data keys.
CREATE TABLE subscriptions (
  id text PRIMARY KEY,
  brand_id text NOT NULL REFERENCES brands (id),
  kind text NOT NULL CHECK (kind IN ('brand', 'data')),
  plan text NOT NULL CHECK (plan IN ('free', 'starter', 'growth', 'scale', 'design_partner', 'enterprise')),
  status text NOT NULL CHECK (status IN ('active', 'trialing', 'past_due', 'canceled')),
  monthly_credits integer CHECK (monthly_credits >= 0),
  anchor_at timestamptz NOT NULL,
  -- Rises with every change that a running process must notice; see src/kit/access.
  version bigint NOT NULL DEFAULT 1,
  -- Whether Redis is known to have this version.
  in_redis boolean NOT NULL DEFAULT false,
  created_at timestamptz NOT NULL,
  updated_at timestamptz,
  UNIQUE (brand_id, kind)
);
CREATE INDEX subscriptions_not_in_redis ON subscriptions (id) WHERE NOT in_redis;

-- The people of a brand, who sign in to its web app.
CREATE TABLE people (
  id text PRIMARY KEY,
  brand_id text NOT NULL REFERENCES brands (id),
  email text NOT NULL,
  name text,
  role text NOT NULL CHECK (role IN ('owner', 'manager', 'viewer')),
  created_at timestamptz NOT NULL,
  updated_at timestamptz,
  -- The row stays after that: the audit log names the person.
  removed_at timestamptz,
  UNIQUE (brand_id, id)
);
CREATE UNIQUE INDEX people_email ON people (brand_id, lower(email)) WHERE removed_at IS NULL;
CREATE INDEX people_by_email ON people (lower(email)) WHERE removed_at IS NULL;
CREATE INDEX people_newest ON people (brand_id, created_at DESC, id DESC);

-- A session is one more kind of key: hashed, revoked through its subscription's version, named in the audit log.
CREATE TABLE api_keys (
  id text PRIMARY KEY,
  brand_id text NOT NULL REFERENCES brands (id),
  subscription_id text NOT NULL REFERENCES subscriptions (id),
  kind text NOT NULL CHECK (kind IN ('brand', 'data', 'session')),
  name text NOT NULL,
  hash bytea NOT NULL UNIQUE,
  first_characters text NOT NULL,
  last_characters text NOT NULL,
  person_id text,
  created_at timestamptz NOT NULL,
  expires_at timestamptz,
  revoked_at timestamptz,
  last_used_at timestamptz,
  -- The key that took this one's place.
  replaced_by text REFERENCES api_keys (id),
  CONSTRAINT api_keys_person CHECK ((kind = 'session') = (person_id IS NOT NULL)),
  FOREIGN KEY (brand_id, person_id) REFERENCES people (brand_id, id)
);
CREATE INDEX api_keys_brand ON api_keys (brand_id, created_at DESC, id);
CREATE INDEX api_keys_revoked ON api_keys (subscription_id) WHERE revoked_at IS NOT NULL;
CREATE INDEX api_keys_person_sessions ON api_keys (person_id) WHERE person_id IS NOT NULL;
-- Unsettled charges are looked for where a data key was used recently.
CREATE INDEX api_keys_used ON api_keys (last_used_at) WHERE kind = 'data';

-- One-time links: each works once, for minutes.
CREATE TABLE sign_in_links (
  id text PRIMARY KEY,
  brand_id text NOT NULL REFERENCES brands (id),
  person_id text NOT NULL,
  hash bytea NOT NULL UNIQUE,
  created_at timestamptz NOT NULL,
  expires_at timestamptz NOT NULL,
  used_at timestamptz,
  FOREIGN KEY (brand_id, person_id) REFERENCES people (brand_id, id)
);
CREATE INDEX sign_in_links_person ON sign_in_links (person_id, created_at DESC);

CREATE TABLE passkeys (
  id text PRIMARY KEY,
  brand_id text NOT NULL REFERENCES brands (id),
  person_id text NOT NULL,
  -- As the browser names it, base64url.
  credential_id text NOT NULL UNIQUE,
  public_key bytea NOT NULL,
  counter bigint NOT NULL,
  transports text[] NOT NULL DEFAULT '{}',
  rp_id text NOT NULL,
  -- The origin that the passkey was made on, the only one where it signs in.
  origin text NOT NULL,
  name text NOT NULL,
  created_at timestamptz NOT NULL,
  last_used_at timestamptz,
  FOREIGN KEY (brand_id, person_id) REFERENCES people (brand_id, id)
);
CREATE INDEX passkeys_person ON passkeys (person_id, created_at DESC, id);

-- What a browser must sign, once and soon.
CREATE TABLE passkey_challenges (
  id text PRIMARY KEY,
  challenge text NOT NULL,
  -- Null: a sign-in, where the person is not known yet.
  person_id text REFERENCES people (id),
  expires_at timestamptz NOT NULL
);

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

-- What agents of a brand may do. Without a row, everything but money out and data out is allowed.
CREATE TABLE agent_policies (
  brand_id text PRIMARY KEY REFERENCES brands (id),
  -- Null: every tool.
  allowed_tools text[],
  highest_rate_ppm integer,
  -- In minor units of the brand's currency.
  payouts_per_day_minor bigint,
  person_above_minor bigint,
  money_out boolean NOT NULL DEFAULT false,
  -- Whether agents may send data out without a person, such as by making a webhook.
  data_out boolean NOT NULL DEFAULT false,
  updated_at timestamptz
);

-- Changes that a caller wants to see before they are made.
CREATE TABLE plans (
  id text PRIMARY KEY,
  brand_id text NOT NULL REFERENCES brands (id),
  key_id text,
  by_agent boolean NOT NULL,
  operation text NOT NULL,
  -- The request, sealed: a body may carry secrets.
  request bytea NOT NULL,
  changes jsonb NOT NULL,
  events text[] NOT NULL,
  created_at timestamptz NOT NULL,
  expires_at timestamptz NOT NULL,
  applied_at timestamptz,
  applied_by text
);
CREATE INDEX plans_brand ON plans (brand_id, created_at DESC, id);
CREATE INDEX plans_expiry ON plans (expires_at);

-- The answer of a writing call, kept for a day under the caller's own key.
CREATE TABLE idempotency_keys (
  brand_id text NOT NULL REFERENCES brands (id),
  key text NOT NULL,
  request_hash bytea NOT NULL,
  answer bytea,
  -- An answer with a secret in it is kept encrypted: neither the table nor a dump shows the secret.
  is_sealed boolean NOT NULL DEFAULT false,
  created_at timestamptz NOT NULL,
  PRIMARY KEY (brand_id, key)
);
CREATE INDEX idempotency_keys_age ON idempotency_keys (created_at);

CREATE TABLE audit_log (
  id text PRIMARY KEY,
  brand_id text NOT NULL REFERENCES brands (id),
  key_id text REFERENCES api_keys (id),
  by_agent boolean NOT NULL DEFAULT false,
  operation text NOT NULL,
  resource_id text NOT NULL,
  old_values jsonb,
  new_values jsonb,
  request_id text,
  at timestamptz NOT NULL
);
CREATE INDEX audit_log_newest ON audit_log (brand_id, at DESC, id DESC);
CREATE INDEX audit_log_by_resource ON audit_log (brand_id, resource_id, at DESC, id DESC);

-- How far ahead of real time a sandbox's processes are. One row; only processes with ROLLCALL_SANDBOX read it.
CREATE TABLE sandbox_clock (
  only_one boolean PRIMARY KEY DEFAULT true CHECK (only_one),
  offset_ms bigint NOT NULL CHECK (offset_ms >= 0)
);

-- One row, which /readyz writes again and again to see that PostgreSQL takes writes.
CREATE TABLE readiness_writes (
  id boolean PRIMARY KEY DEFAULT true CHECK (id),
  written_at timestamptz NOT NULL
);
