-- Clicks and the ledger's postings as they happened, and their sums per day, per link and per brand.
-- Every table remembers insert tokens: one that did not would count a retried batch again.

-- The truth of clicks. Bots, prefetches, HEADs and repeats are kept, and not counted. On the disk before it is
-- acknowledged, for then Redis forgets it; what the other tables lose with the power is folded again.
CREATE TABLE IF NOT EXISTS clicks_v1 (
  click_id String,
  brand_id String,
  link_id String,
  creator_id String,
  -- The link's own, so that clicks stand on the row of its money.
  currency LowCardinality(String),
  at DateTime64(3, 'UTC'),
  kind Enum8('counted' = 1, 'repeat' = 2, 'bot' = 3, 'prefetch' = 4, 'head' = 5),
  -- Keyed hash; no address is kept.
  visitor UInt64,
  country LowCardinality(String),
  device LowCardinality(String),
  referrer_host String
)
ENGINE = MergeTree
PARTITION BY toYYYYMM(at)
ORDER BY (brand_id, toDate(at), link_id, click_id)
SETTINGS non_replicated_deduplication_window = 10000, fsync_after_insert = 1, fsync_part_directory = 1;

-- One row per posting of PostgreSQL's ledger_entries, which stays the truth.
CREATE TABLE IF NOT EXISTS ledger_v1 (
  brand_id String,
  seq UInt64,
  line UInt8,
  kind LowCardinality(String),
  account LowCardinality(String),
  -- Debits positive, credits negative.
  amount_minor Int64,
  currency LowCardinality(String),
  -- Empty where the entry has none.
  link_id String,
  creator_id String,
  at DateTime64(3, 'UTC'),
  recorded_at DateTime64(3, 'UTC')
)
ENGINE = MergeTree
PARTITION BY toYYYYMM(recorded_at)
ORDER BY (brand_id, seq, line)
SETTINGS non_replicated_deduplication_window = 10000;

-- Amounts are minor units; parts are summed lazily, so every read sums.
CREATE TABLE IF NOT EXISTS link_daily_v1 (
  brand_id String,
  day Date,
  link_id String,
  creator_id String,
  currency LowCardinality(String),
  clicks UInt64,
  conversions UInt64,
  sales Int64,
  refunds Int64,
  pending Int64,
  approved Int64,
  paid Int64,
  refund_adjustment Int64
)
ENGINE = SummingMergeTree((clicks, conversions, sales, refunds, pending, approved, paid, refund_adjustment))
PARTITION BY toYear(day)
ORDER BY (brand_id, day, link_id, creator_id, currency)
SETTINGS non_replicated_deduplication_window = 10000;

CREATE TABLE IF NOT EXISTS link_life_v1 (
  brand_id String,
  link_id String,
  creator_id String,
  currency LowCardinality(String),
  clicks UInt64,
  conversions UInt64,
  sales Int64,
  refunds Int64,
  pending Int64,
  approved Int64,
  paid Int64,
  refund_adjustment Int64
)
ENGINE = SummingMergeTree((clicks, conversions, sales, refunds, pending, approved, paid, refund_adjustment))
ORDER BY (brand_id, link_id, creator_id, currency)
SETTINGS non_replicated_deduplication_window = 10000, index_granularity = 1024;

-- A brand's totals by day: what it costs to read them does not grow with its links.
CREATE TABLE IF NOT EXISTS brand_daily_v1 (
  brand_id String,
  day Date,
  currency LowCardinality(String),
  clicks UInt64,
  conversions UInt64,
  sales Int64,
  refunds Int64,
  pending Int64,
  approved Int64,
  paid Int64,
  refund_adjustment Int64
)
ENGINE = SummingMergeTree((clicks, conversions, sales, refunds, pending, approved, paid, refund_adjustment))
PARTITION BY toYear(day)
ORDER BY (brand_id, day, currency)
SETTINGS non_replicated_deduplication_window = 10000, index_granularity = 1024;

CREATE MATERIALIZED VIEW IF NOT EXISTS link_life_mv_v1 TO link_life_v1 AS
SELECT
  brand_id, link_id, creator_id, currency,
  sum(clicks) AS clicks, sum(conversions) AS conversions, sum(sales) AS sales, sum(refunds) AS refunds,
  sum(pending) AS pending, sum(approved) AS approved, sum(paid) AS paid, sum(refund_adjustment) AS refund_adjustment
FROM link_daily_v1
GROUP BY brand_id, link_id, creator_id, currency;

CREATE MATERIALIZED VIEW IF NOT EXISTS brand_daily_mv_v1 TO brand_daily_v1 AS
SELECT
  brand_id, day, currency,
  sum(clicks) AS clicks, sum(conversions) AS conversions, sum(sales) AS sales, sum(refunds) AS refunds,
  sum(pending) AS pending, sum(approved) AS approved, sum(paid) AS paid, sum(refund_adjustment) AS refund_adjustment
FROM link_daily_v1
GROUP BY brand_id, day, currency;

CREATE MATERIALIZED VIEW IF NOT EXISTS link_daily_clicks_mv_v1 TO link_daily_v1 AS
SELECT brand_id, toDate(at) AS day, link_id, creator_id, currency, count() AS clicks
FROM clicks_v1
WHERE kind = 'counted'
GROUP BY brand_id, day, link_id, creator_id, currency;

-- An entry's first posting counts the entry.
CREATE MATERIALIZED VIEW IF NOT EXISTS link_daily_ledger_mv_v1 TO link_daily_v1 AS
SELECT
  brand_id, toDate(at) AS day, link_id, creator_id, currency,
  countIf(kind = 'sale' AND line = 0) AS conversions,
  -sumIf(amount_minor, account = 'sales') AS sales,
  sumIf(amount_minor, account = 'sales_refunds') AS refunds,
  -sumIf(amount_minor, account = 'commission_pending') AS pending,
  -sumIf(amount_minor, account = 'commission_approved') AS approved,
  -sumIf(amount_minor, account = 'commission_paid') AS paid,
  -sumIf(amount_minor, account = 'refund_adjustment') AS refund_adjustment
FROM ledger_v1
WHERE link_id != ''
GROUP BY brand_id, day, link_id, creator_id, currency;

-- A commission that the brand recorded itself has no link: it counts as its creator's commission only. Other money without a
-- link is in no figure.
CREATE MATERIALIZED VIEW IF NOT EXISTS link_daily_manual_mv_v1 TO link_daily_v1 AS
SELECT
  brand_id, toDate(at) AS day, link_id, creator_id, currency,
  -sumIf(amount_minor, account = 'commission_pending') AS pending,
  -sumIf(amount_minor, account = 'commission_approved') AS approved,
  -sumIf(amount_minor, account = 'commission_paid') AS paid
FROM ledger_v1
WHERE link_id = '' AND account IN ('commission_pending', 'commission_approved', 'commission_paid')
GROUP BY brand_id, day, link_id, creator_id, currency;

-- What was done since this server started, hence in memory: a server that was killed may lack a batch that it had stored.
CREATE TABLE IF NOT EXISTS mending_v1 (
  step Enum8('waiting' = 1, 'done' = 2),
  -- What was on its way when the server was first met: the clicks' batch and the ledger's.
  claim String,
  batch UInt64
)
ENGINE = Memory;

-- What /readyz writes to see that ClickHouse takes writes.
CREATE TABLE IF NOT EXISTS readiness_writes_v1 (written_at DateTime('UTC'))
ENGINE = MergeTree ORDER BY written_at TTL written_at + INTERVAL 1 HOUR;
