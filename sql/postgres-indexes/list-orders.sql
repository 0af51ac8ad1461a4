CREATE INDEX CONCURRENTLY IF NOT EXISTS commissions_by_commission ON commissions
  (brand_id, (CASE WHEN status = 'rejected' THEN 0 ELSE commission_minor END) DESC, id DESC);
CREATE INDEX CONCURRENTLY IF NOT EXISTS payouts_by_amount ON payouts (brand_id, amount_minor DESC, id DESC);
CREATE INDEX CONCURRENTLY IF NOT EXISTS content_by_views ON content (brand_id, (coalesce(views, -1)) DESC, id DESC)
  WHERE deleted_at IS NULL;
CREATE INDEX CONCURRENTLY IF NOT EXISTS content_by_likes ON content (brand_id, (coalesce(likes, -1)) DESC, id DESC)
  WHERE deleted_at IS NULL;
CREATE INDEX CONCURRENTLY IF NOT EXISTS content_by_comments ON content (brand_id, (coalesce(comments, -1)) DESC, id DESC)
  WHERE deleted_at IS NULL;
CREATE INDEX CONCURRENTLY IF NOT EXISTS creators_by_followers ON creators
  (brand_id, (greatest(coalesce(ig_followers, -1), coalesce(tt_followers, -1))) DESC);
CREATE INDEX CONCURRENTLY IF NOT EXISTS applications_accepted_by_campaign ON applications (brand_id, campaign_id)
  WHERE status = 'accepted';
-- The list of orders by commission: those that paid somebody come first. A rejected commission shows 0. Without it, each
-- page sorted all orders of the brand: 6 s of 2,200,000.
CREATE INDEX CONCURRENTLY IF NOT EXISTS commissions_by_shown ON commissions
  (brand_id, (CASE WHEN status = 'rejected' THEN 0 ELSE commission_minor END) DESC, order_id DESC)
  WHERE order_id IS NOT NULL;
