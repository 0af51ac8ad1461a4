-- Gift cards and tips of an order, which pay nobody. Null for orders without any, and for those recorded before.
ALTER TABLE orders ADD COLUMN unpaid_lines jsonb;
