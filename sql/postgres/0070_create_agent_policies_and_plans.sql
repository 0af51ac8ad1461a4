-- What agents of a brand may do. No row: money out is off, everything else is allowed.
CREATE TABLE agent_policies (
  brand_id text PRIMARY KEY REFERENCES brands (id),
  -- Null: every tool.
  allowed_tools text[],
  highest_rate_ppm integer,
  -- In minor units of the brand's currency.
  payouts_per_day_minor bigint,
  person_above_minor bigint,
  money_out boolean NOT NULL DEFAULT false,
  updated_at timestamptz
);

-- Changes that somebody wants to see before they are made.
CREATE TABLE plans (
  id text PRIMARY KEY,
  brand_id text NOT NULL REFERENCES brands (id),
  key_id text,
  by_agent boolean NOT NULL,
  operation text NOT NULL,
  -- What was sent, sealed: a body may carry secrets.
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

ALTER TABLE audit_log ADD COLUMN by_agent boolean NOT NULL DEFAULT false;
