-- The list of orders by commission: those that paid somebody come first. A rejected commission shows 0. Without it, each page sorted
-- all orders of the brand: 6 s of 2,200,000.
CREATE INDEX commissions_by_shown
  ON commissions (brand_id, (CASE WHEN status = 'rejected' THEN 0 ELSE commission_minor END) DESC, order_id DESC)
  WHERE order_id IS NOT NULL;
