-- What creators were paid with another tool. No figure, balance or statement counts it.
CREATE TABLE past_commissions (
  id text PRIMARY KEY,
  brand_id text NOT NULL REFERENCES brands (id),
  creator_id text NOT NULL,
  -- The other tool, and its own id of what was paid.
  source text NOT NULL,
  reference text NOT NULL,
  amount_minor bigint NOT NULL CHECK (amount_minor > 0),
  currency text NOT NULL CHECK (currency ~ '^[A-Z]{3}$'),
  paid_at timestamptz NOT NULL,
  created_at timestamptz NOT NULL,
  FOREIGN KEY (brand_id, creator_id) REFERENCES creators (brand_id, id),
  CONSTRAINT past_commissions_once UNIQUE (brand_id, source, reference)
);
CREATE INDEX past_commissions_newest ON past_commissions (brand_id, paid_at DESC, id DESC);
CREATE INDEX past_commissions_creator ON past_commissions (brand_id, creator_id);
