-- A creator's statement of a period, as the ledger stood when it was made: its entries up to a number, whose hash is kept.
CREATE TABLE statements (
  id text PRIMARY KEY,
  brand_id text NOT NULL REFERENCES brands (id),
  creator_id text NOT NULL,
  from_at timestamptz NOT NULL,
  -- Excluded.
  until_at timestamptz NOT NULL,
  -- As it was asked for: a day or a time.
  from_text text NOT NULL,
  to_text text NOT NULL,
  ledger_seq bigint NOT NULL,
  ledger_hash bytea,
  link_version integer NOT NULL DEFAULT 1,
  created_at timestamptz NOT NULL,
  UNIQUE (brand_id, id),
  CHECK (from_at < until_at),
  FOREIGN KEY (brand_id, creator_id) REFERENCES creators (brand_id, id)
);
CREATE INDEX statements_newest ON statements (brand_id, created_at DESC, id DESC);
CREATE INDEX ledger_entries_by_creator ON ledger_entries (brand_id, creator_id, seq);

-- What a creator asks about a line of a statement.
CREATE TABLE disputes (
  id text PRIMARY KEY,
  brand_id text NOT NULL REFERENCES brands (id),
  creator_id text NOT NULL,
  -- The one of them that the question was asked on.
  statement_id text,
  payout_id text,
  -- The commission or payout of the line; null: the whole.
  line_id text,
  message text NOT NULL,
  status text NOT NULL CHECK (status IN ('open', 'answered', 'closed')),
  answer text,
  answered_at timestamptz,
  created_at timestamptz NOT NULL,
  updated_at timestamptz,
  UNIQUE (brand_id, id),
  CHECK (num_nonnulls(statement_id, payout_id) = 1),
  FOREIGN KEY (brand_id, creator_id) REFERENCES creators (brand_id, id),
  FOREIGN KEY (brand_id, statement_id) REFERENCES statements (brand_id, id),
  FOREIGN KEY (brand_id, payout_id) REFERENCES payouts (brand_id, id)
);
CREATE INDEX disputes_newest ON disputes (brand_id, created_at DESC, id DESC);
-- Of a line one question is open at a time.
CREATE UNIQUE INDEX disputes_once ON disputes (brand_id, coalesce(statement_id, payout_id), coalesce(line_id, '')) WHERE status = 'open';
