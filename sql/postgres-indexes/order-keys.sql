CREATE INDEX CONCURRENTLY IF NOT EXISTS orders_by_subscription ON orders (brand_id, subscription_id, occurred_at)
  WHERE subscription_id IS NOT NULL;
CREATE INDEX CONCURRENTLY IF NOT EXISTS orders_by_customer_id ON orders (brand_id, customer_id_hash, occurred_at)
  WHERE customer_id_hash IS NOT NULL;
CREATE INDEX CONCURRENTLY IF NOT EXISTS orders_of_customer_row ON orders (brand_id, customer_id, occurred_at)
  WHERE customer_id IS NOT NULL;
CREATE INDEX CONCURRENTLY IF NOT EXISTS commissions_by_terms ON commissions (brand_id, terms_id)
  WHERE terms_id IS NOT NULL;
CREATE INDEX CONCURRENTLY IF NOT EXISTS commissions_by_click_id ON commissions (brand_id, click_id)
  WHERE click_id IS NOT NULL;
