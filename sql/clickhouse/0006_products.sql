-- What each product of an order has of a row, the product of the largest line first; what no product has is the row's rest.
ALTER TABLE order_figures_v1 ADD COLUMN IF NOT EXISTS products Array(String);
ALTER TABLE order_figures_v1 ADD COLUMN IF NOT EXISTS product_titles Array(String);
ALTER TABLE order_figures_v1 ADD COLUMN IF NOT EXISTS product_sales Array(Int64);
ALTER TABLE order_figures_v1 ADD COLUMN IF NOT EXISTS product_refunds Array(Int64);
ALTER TABLE order_figures_v1 ADD COLUMN IF NOT EXISTS product_commission Array(Int64);
-- Thousandths of items, for what goods cost.
ALTER TABLE order_figures_v1 ADD COLUMN IF NOT EXISTS product_items Array(Int64);
