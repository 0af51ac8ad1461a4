-- Reading in what a store sold before it was connected.
CREATE TABLE store_backfills (
  integration_id text PRIMARY KEY REFERENCES integrations (id),
  brand_id text NOT NULL REFERENCES brands (id),
  -- Orders that changed since are read by sweeps.
  before timestamptz NOT NULL,
  -- Where it begins when it has no cursor.
  since timestamptz NOT NULL,
  cursor text,
  -- The latest change that was read.
  reached_at timestamptz,
  -- Failures in a row.
  failures integer NOT NULL DEFAULT 0,
  -- When the next page is read. While a worker reads it: when its claim ends. Null: it is over.
  due_at timestamptz,
  problem text,
  orders_read bigint NOT NULL DEFAULT 0,
  orders_recorded bigint NOT NULL DEFAULT 0,
  orders_unread bigint NOT NULL DEFAULT 0,
  started_at timestamptz NOT NULL,
  finished_at timestamptz
);
CREATE INDEX store_backfills_due ON store_backfills (due_at) WHERE due_at IS NOT NULL;
