-- The inbox of stores: what a store sent under its signature, stored before it is answered and read by workers.

CREATE TABLE store_deliveries (
  id text PRIMARY KEY,
  -- Both as `integrations` had them when it was stored: the insert selects them there, so no foreign key looks again.
  brand_id text NOT NULL,
  integration_id text NOT NULL,
  -- What it is about, as the store names it; null until the body of a generic store is read.
  topic text,
  -- The store's own headers, without its signature.
  headers jsonb NOT NULL,
  -- As it came, sealed under the row's id.
  body bytea NOT NULL,
  state text NOT NULL DEFAULT 'waiting' CHECK (state IN ('waiting', 'done', 'ignored', 'failed')),
  attempts integer NOT NULL DEFAULT 0,
  next_attempt_at timestamptz,
  -- When the last attempt was.
  tried_at timestamptz,
  -- Why the last attempt failed: code, field and message.
  reason jsonb,
  -- What was left out while reading.
  notes jsonb NOT NULL DEFAULT '[]',
  order_id text,
  received_at timestamptz NOT NULL,
  finished_at timestamptz,
  CHECK ((state = 'waiting') = (next_attempt_at IS NOT NULL))
);
-- Sealed bytes do not compress.
ALTER TABLE store_deliveries ALTER COLUMN body SET STORAGE EXTERNAL;
CREATE INDEX store_deliveries_due ON store_deliveries (brand_id, next_attempt_at, id) WHERE state = 'waiting';
CREATE INDEX store_deliveries_newest ON store_deliveries (brand_id, integration_id, received_at DESC, id DESC);
-- For the removal of old ones. Rows lie in about the order in which they came.
CREATE INDEX store_deliveries_received ON store_deliveries USING brin (received_at);

-- Which worker folds a brand's deliveries, and until when at most. A worker that was killed leaves its claim to run out.
CREATE TABLE store_delivery_claims (
  brand_id text PRIMARY KEY REFERENCES brands (id),
  owner text NOT NULL,
  claimed_until timestamptz NOT NULL
);

-- Stores that were connected just now: their waiting deliveries are due again.
CREATE INDEX integrations_connected ON integrations (connected_at);
