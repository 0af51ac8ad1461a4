-- What a brand does about suspicious orders, where it differs from the defaults.
CREATE TABLE fraud_rules (
  brand_id text PRIMARY KEY REFERENCES brands (id),
  rules jsonb NOT NULL,
  -- When its codes were last searched for leaks.
  searched_at timestamptz,
  updated_at timestamptz
);

-- Commissions whose clicks' referrers are still to be compared with the forbidden ones: none approves itself before.
CREATE TABLE referrer_checks (
  commission_id text PRIMARY KEY REFERENCES commissions (id),
  brand_id text NOT NULL REFERENCES brands (id),
  created_at timestamptz NOT NULL,
  due_at timestamptz NOT NULL
);
CREATE INDEX referrer_checks_due ON referrer_checks (due_at);

-- Codes that are probably public, as of the last look at the orders of a brand that flags them.
CREATE TABLE code_leaks (
  link_id text PRIMARY KEY REFERENCES links (id),
  brand_id text NOT NULL REFERENCES brands (id),
  score integer NOT NULL CHECK (score BETWEEN 1 AND 100),
  found_at timestamptz NOT NULL
);
CREATE INDEX code_leaks_by_brand ON code_leaks (brand_id);
