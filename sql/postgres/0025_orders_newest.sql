-- Lists of orders, by the time at which they were placed.
CREATE INDEX orders_newest ON orders (brand_id, occurred_at DESC, id DESC);
