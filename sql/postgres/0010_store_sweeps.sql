-- Orders are also read from their stores, which records what no webhook reported.

ALTER TABLE integrations
  -- When the store's orders are read next. While a worker reads them: when its claim runs out. Null: never.
  ADD COLUMN sweep_at timestamptz,
  -- When all changes of its orders were last read.
  ADD COLUMN swept_at timestamptz,
  -- Since when orders are found that no webhook reported.
  ADD COLUMN silent_since timestamptz,
  -- When it was last noticed that webhooks do not arrive, in an episode that the brand was mailed about. Null: they do.
  ADD COLUMN webhook_trouble_at timestamptz;

UPDATE integrations SET sweep_at = now() WHERE status = 'connected' AND octet_length(secrets) > 0;

CREATE INDEX integrations_sweep ON integrations (sweep_at) WHERE status = 'connected' AND sweep_at IS NOT NULL;

-- How far the orders of a store are read. One sweep reads what changed since the one before it, page by page.
CREATE TABLE store_sweeps (
  integration_id text PRIMARY KEY REFERENCES integrations (id),
  brand_id text NOT NULL REFERENCES brands (id),
  -- What was changed since then is read in this sweep, or in the next.
  since timestamptz NOT NULL,
  -- Null between sweeps.
  started_at timestamptz,
  cursor text,
  -- The latest change that this sweep has read.
  reached_at timestamptz,
  -- Orders that this sweep found and no webhook reported.
  missed integer NOT NULL DEFAULT 0,
  -- A change that this sweep left to its webhook is looked at again then.
  again_at timestamptz,
  -- Failures in a row.
  failures integer NOT NULL DEFAULT 0,
  sweeps bigint NOT NULL DEFAULT 0,
  failed bigint NOT NULL DEFAULT 0,
  orders_read bigint NOT NULL DEFAULT 0,
  orders_missed bigint NOT NULL DEFAULT 0,
  orders_unread bigint NOT NULL DEFAULT 0
);
