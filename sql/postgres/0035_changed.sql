-- `updated_after` of the lists that grow without end.
CREATE INDEX orders_changed ON orders (brand_id, greatest(created_at, updated_at));
CREATE INDEX commissions_changed ON commissions (brand_id, greatest(created_at, synced_at, status_updated_at));

-- Orders of customers, as figures count them, read without the table.
CREATE INDEX orders_counted ON orders (brand_id, customer_hash, occurred_at, id)
  WHERE customer_hash IS NOT NULL AND paid_at IS NOT NULL AND is_test IS NOT TRUE;
