-- Payouts, the ledger of all amounts, and the statements that creators are given.

CREATE TABLE payouts (
  id text PRIMARY KEY,
  brand_id text NOT NULL REFERENCES brands (id),
  creator_id text NOT NULL,
  amount_minor bigint NOT NULL CHECK (amount_minor > 0),
  currency text NOT NULL CHECK (currency ~ '^[A-Z]{3}$'),
  method text NOT NULL CHECK (method IN ('wallet', 'bank_transfer', 'manual')),
  wallet_email text,
  status text NOT NULL CHECK (status IN ('completed', 'paid')),
  note text,
  reference text,
  paid_at timestamptz,
  -- Of the commissions it paid, and of the adjustments taken off them.
  allocated_minor bigint NOT NULL DEFAULT 0 CHECK (allocated_minor >= 0),
  -- Below zero: it returned what an earlier payout had netted for a refund that the store then took back.
  netted_minor bigint NOT NULL DEFAULT 0,
  -- The part of a paid amount that paid nothing yet and is there for later approvals; none of a fee.
  unallocated_minor bigint NOT NULL DEFAULT 0 CHECK (unallocated_minor >= 0),
  -- Paid for something other than commissions.
  is_fee boolean NOT NULL DEFAULT false,
  -- The commissions that it paid when it was settled; later approvals may use up the rest.
  settled_ids text[],
  created_at timestamptz NOT NULL,
  updated_at timestamptz,
  UNIQUE (brand_id, id),
  CHECK (allocated_minor - netted_minor <= amount_minor),
  FOREIGN KEY (brand_id, creator_id) REFERENCES creators (brand_id, id)
);
CREATE INDEX payouts_newest ON payouts (brand_id, created_at DESC, id DESC);
CREATE INDEX payouts_unallocated ON payouts (brand_id, creator_id, currency, paid_at, id) WHERE unallocated_minor > 0;
CREATE INDEX payouts_by_creator ON payouts (brand_id, creator_id, currency);

-- What a payout paid of a commission. Several payouts may pay one.
CREATE TABLE payout_allocations (
  commission_id text NOT NULL,
  brand_id text NOT NULL REFERENCES brands (id),
  payout_id text NOT NULL,
  amount_minor bigint NOT NULL CHECK (amount_minor >= 0),
  at timestamptz NOT NULL,
  PRIMARY KEY (commission_id, payout_id),
  FOREIGN KEY (brand_id, commission_id) REFERENCES commissions (brand_id, id),
  FOREIGN KEY (brand_id, payout_id) REFERENCES payouts (brand_id, id)
);
CREATE INDEX payout_allocations_by_payout ON payout_allocations (brand_id, payout_id);

-- Double-entry, in minor units: the postings of an entry add up to zero. Numbered and chained in outbox_numbers.
CREATE TABLE ledger_entries (
  brand_id text NOT NULL REFERENCES brands (id),
  seq bigint NOT NULL,
  id text NOT NULL UNIQUE,
  kind text NOT NULL CHECK (kind IN
    ('sale', 'refund', 'approval', 'rejection', 'payment', 'adjustment', 'payout', 'manual')),
  currency text NOT NULL,
  creator_id text NOT NULL,
  link_id text,
  order_id text,
  commission_id text,
  payout_id text,
  -- [{"account", "amount_minor", "at"}]
  postings jsonb NOT NULL,
  recorded_at timestamptz NOT NULL,
  -- SHA-256 over the hash of the entry before it and this entry's own facts.
  hash bytea NOT NULL,
  PRIMARY KEY (brand_id, seq)
);
CREATE INDEX ledger_entries_by_commission ON ledger_entries (brand_id, commission_id);
CREATE INDEX ledger_entries_by_creator ON ledger_entries (brand_id, creator_id, seq);
CREATE INDEX ledger_entries_by_payout ON ledger_entries (brand_id, payout_id) WHERE payout_id IS NOT NULL;
CREATE INDEX ledger_entries_by_time ON ledger_entries (brand_id, recorded_at, seq);

CREATE FUNCTION refuse_ledger_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'the ledger is append-only';
END $$;
CREATE TRIGGER ledger_is_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON ledger_entries
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_ledger_change();

-- What is sent to ClickHouse in one insert. Fixed before it is sent, so that a retry sends the same rows.
CREATE TABLE ledger_batches (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  -- [{"brand_id", "from", "to"}], both included
  ranges jsonb NOT NULL,
  created_at timestamptz NOT NULL,
  sent_at timestamptz
);
CREATE INDEX ledger_batches_unsent ON ledger_batches (id) WHERE sent_at IS NULL;

-- How far the ledger has come into batches for ClickHouse. It numbers entries, not events, so it is no outbox position.
CREATE TABLE ledger_positions (
  brand_id text PRIMARY KEY REFERENCES brands (id),
  seq bigint NOT NULL
);

-- Brands whose figures in ClickHouse are incomplete, because a rebuild of them did not finish.
CREATE TABLE unfolded_brands (
  brand_id text PRIMARY KEY REFERENCES brands (id),
  tried_at timestamptz NOT NULL
);

-- A creator's statement of a period, summed from the ledger's entries up to a number, whose hash is kept.
CREATE TABLE statements (
  id text PRIMARY KEY,
  brand_id text NOT NULL REFERENCES brands (id),
  creator_id text NOT NULL,
  from_at timestamptz NOT NULL,
  -- Excluded.
  until_at timestamptz NOT NULL,
  -- As requested: a day or a time.
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

-- What a creator asks about a line of a statement.
CREATE TABLE disputes (
  id text PRIMARY KEY,
  brand_id text NOT NULL REFERENCES brands (id),
  creator_id text NOT NULL,
  -- Exactly one of the two: where the question was asked.
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
-- One open question per line.
CREATE UNIQUE INDEX disputes_once ON disputes (brand_id, coalesce(statement_id, payout_id), coalesce(line_id, '')) WHERE status = 'open';
