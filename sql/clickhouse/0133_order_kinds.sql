-- The part that an order plays in a subscription; empty for a commission without an order, and for earlier orders until their
-- figures are rebuilt.
ALTER TABLE order_figures_v1 ADD COLUMN IF NOT EXISTS order_kind LowCardinality(String);
