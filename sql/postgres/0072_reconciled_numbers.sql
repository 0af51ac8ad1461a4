-- The number of an order that a file lists without an id.
ALTER TABLE reconciled_orders ADD COLUMN order_number text;
CREATE INDEX reconciled_orders_number ON reconciled_orders (job_id, lower(ltrim(order_number, '#')))
  WHERE order_number IS NOT NULL;
