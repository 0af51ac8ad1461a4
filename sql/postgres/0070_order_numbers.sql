-- The number by which a shop, its customers and creators know an order. Several orders may have one.
ALTER TABLE orders ADD COLUMN order_number text;
CREATE INDEX orders_by_number ON orders (brand_id, lower(ltrim(order_number, '#'))) WHERE order_number IS NOT NULL;
