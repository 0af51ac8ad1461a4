-- A batch of ledger entries also goes to ClickHouse's table of orders, once the clicks that won them are there.
ALTER TABLE ledger_batches ADD COLUMN orders_sent_at timestamptz;
UPDATE ledger_batches SET orders_sent_at = sent_at;
CREATE INDEX ledger_batches_orders_unsent ON ledger_batches (id) WHERE orders_sent_at IS NULL;

-- What ClickHouse has so far is not in its new tables: the worker rebuilds the figures of these brands.
INSERT INTO unfolded_brands (brand_id, tried_at)
SELECT id, now() - interval '1 day' FROM brands
WHERE EXISTS (SELECT FROM links WHERE links.brand_id = brands.id)
  OR EXISTS (SELECT FROM ledger_entries AS entry WHERE entry.brand_id = brands.id)
ON CONFLICT (brand_id) DO NOTHING;
