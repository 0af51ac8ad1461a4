-- Ids with zeros before them, which spreadsheets drop, are met without them, too.
CREATE INDEX orders_with_zeros ON orders (integration_id, ltrim(order_id, '0')) WHERE order_id LIKE '0%';
