-- The last of each brand's seals whose orders are in ClickHouse's table of customers.
CREATE TABLE customer_positions (
  brand_id text PRIMARY KEY REFERENCES brands (id),
  seq bigint NOT NULL
);
INSERT INTO customer_positions SELECT brand_id, seal_seq FROM outbox_numbers;

-- What came before is not in it: the worker rebuilds the figures of these brands.
INSERT INTO unfolded_brands (brand_id, tried_at)
SELECT id, now() - interval '1 day' FROM brands WHERE EXISTS (SELECT FROM orders WHERE orders.brand_id = brands.id)
ON CONFLICT (brand_id) DO NOTHING;

-- Orders without an e-mail address, read in the same pages as those of customers.
CREATE INDEX orders_anonymous ON orders (brand_id, id)
  WHERE customer_hash IS NULL AND paid_at IS NOT NULL AND is_test IS NOT TRUE;
