-- A commission that the brand recorded itself has no link: it counts as its creator's commission, and as nothing else.
CREATE MATERIALIZED VIEW IF NOT EXISTS link_daily_manual_mv_v1 TO link_daily_v1 AS
SELECT
  brand_id, toDate(at) AS day, link_id, creator_id, currency,
  -sumIf(amount_minor, account = 'commission_pending') AS pending,
  -sumIf(amount_minor, account = 'commission_approved') AS approved,
  -sumIf(amount_minor, account = 'commission_paid') AS paid
FROM ledger_v1
WHERE link_id = '' AND account IN ('commission_pending', 'commission_approved', 'commission_paid')
GROUP BY brand_id, day, link_id, creator_id, currency;
