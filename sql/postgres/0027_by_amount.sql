-- Lists of orders and commissions by amount.
CREATE INDEX orders_by_amount ON orders (brand_id, base_minor DESC, id DESC);
CREATE INDEX commissions_by_amount ON commissions (brand_id, amount_minor DESC, id DESC);
