-- The utm_ values that a click brought to the shop, and those of the click that won an order; empty for earlier ones.
ALTER TABLE clicks_v1 ADD COLUMN IF NOT EXISTS utm_source LowCardinality(String);
ALTER TABLE clicks_v1 ADD COLUMN IF NOT EXISTS utm_medium LowCardinality(String);
ALTER TABLE clicks_v1 ADD COLUMN IF NOT EXISTS utm_campaign LowCardinality(String);
ALTER TABLE clicks_v1 ADD COLUMN IF NOT EXISTS utm_term LowCardinality(String);
ALTER TABLE clicks_v1 ADD COLUMN IF NOT EXISTS utm_content LowCardinality(String);
ALTER TABLE order_figures_v1 ADD COLUMN IF NOT EXISTS utm_source LowCardinality(String);
ALTER TABLE order_figures_v1 ADD COLUMN IF NOT EXISTS utm_medium LowCardinality(String);
ALTER TABLE order_figures_v1 ADD COLUMN IF NOT EXISTS utm_campaign LowCardinality(String);
ALTER TABLE order_figures_v1 ADD COLUMN IF NOT EXISTS utm_term LowCardinality(String);
ALTER TABLE order_figures_v1 ADD COLUMN IF NOT EXISTS utm_content LowCardinality(String);
