-- Credits by month. Ids of charges begin with their time, so each month's are one range, and a partition of its own; a job makes
-- the next ones. What was there before stays where it is, as the default partition, with grants, whose ids have no time.

-- Ranges of ids are ranges of times only byte by byte. This rebuilds the primary key's index.
SET LOCAL statement_timeout = 0;
ALTER TABLE credit_entries ALTER COLUMN charge_id TYPE text COLLATE "C";

ALTER TABLE credit_entries RENAME TO credit_entries_rest;
ALTER INDEX credit_entries_pkey RENAME TO credit_entries_rest_pkey;
ALTER INDEX credit_entries_period RENAME TO credit_entries_rest_period;
ALTER INDEX credit_entries_request RENAME TO credit_entries_rest_request;
ALTER INDEX credit_entries_key_time RENAME TO credit_entries_rest_key_time;

-- Months have no foreign keys: to add one locks subscriptions and keys, which a job may not do. Neither is ever deleted.
CREATE TABLE credit_entries (
  LIKE credit_entries_rest INCLUDING CONSTRAINTS,
  PRIMARY KEY (charge_id, kind)
) PARTITION BY RANGE (charge_id);
CREATE INDEX credit_entries_period ON credit_entries (subscription_id, period_start, kind);
CREATE INDEX credit_entries_request ON credit_entries (request_id) WHERE request_id IS NOT NULL;
CREATE INDEX credit_entries_key_time ON credit_entries (key_id, occurred_at);
ALTER TABLE credit_entries ATTACH PARTITION credit_entries_rest DEFAULT;

-- Months whose entries are summed. If `emptied_at` is set, their entries were removed, and the sums count instead.
CREATE TABLE credit_months (
  month text PRIMARY KEY CHECK (month ~ '^\d{4}-\d{2}$'),
  entries bigint NOT NULL,
  charged bigint NOT NULL,
  refunded bigint NOT NULL,
  -- Over the hashes of its sums.
  sha256 bytea NOT NULL,
  summed_at timestamptz NOT NULL,
  emptied_at timestamptz
);

-- What a subscription used in a month, for each billing month that it touches.
CREATE TABLE credit_sums (
  month text NOT NULL REFERENCES credit_months (month),
  brand_id text NOT NULL REFERENCES brands (id),
  subscription_id text NOT NULL REFERENCES subscriptions (id),
  period_start timestamptz NOT NULL,
  entries bigint NOT NULL,
  charged bigint NOT NULL,
  -- Refunds whose charge exists.
  refunded bigint NOT NULL,
  -- Over the hashes of its entries, in the order of their ids.
  sha256 bytea NOT NULL,
  PRIMARY KEY (subscription_id, period_start, month)
);
CREATE INDEX credit_sums_month ON credit_sums (month);

-- An emptied month is closed: an entry that comes later would be counted beside the sum that has it already.
CREATE FUNCTION ignore_emptied_credits() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RETURN NULL;
END $$;
