-- Products have the commissions of their own lines, and refunds by line, which ClickHouse does not have so far: the worker rebuilds the
-- figures of these brands.
INSERT INTO unfolded_brands (brand_id, tried_at)
SELECT id, now() - interval '1 day' FROM brands WHERE EXISTS (SELECT FROM orders WHERE orders.brand_id = brands.id)
ON CONFLICT (brand_id) DO NOTHING;
