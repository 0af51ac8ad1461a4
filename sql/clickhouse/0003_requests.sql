-- What keys did: one row a call, written beside the calls in batches. It decides nothing, so that rows may be lost.
CREATE TABLE IF NOT EXISTS requests_v1 (
  brand_id String,
  -- When the call began.
  at DateTime64(3, 'UTC'),
  key_id String,
  request_id String,
  -- Empty if there is no such operation.
  operation LowCardinality(String),
  status UInt16,
  -- The error's code; empty if there is none.
  code LowCardinality(String),
  credits UInt32,
  micros UInt64,
  results Nullable(UInt32),
  -- Of a search: its kind, the names of its filters, and a keyed digest of them with their values. Empty for other calls.
  search LowCardinality(String),
  filters Array(LowCardinality(String)),
  fingerprint String,
  INDEX by_request request_id TYPE bloom_filter(0.01) GRANULARITY 1
)
ENGINE = MergeTree
PARTITION BY toDate(at)
ORDER BY (brand_id, at, request_id, micros)
TTL toDateTime(at) + INTERVAL 14 DAY
SETTINGS non_replicated_deduplication_window = 10000, ttl_only_drop_parts = 1;

-- Their sums by hour, which outlive them. Parts are summed lazily, so every read sums.
CREATE TABLE IF NOT EXISTS requests_hourly_v1 (
  brand_id String,
  hour DateTime('UTC'),
  key_id String,
  operation LowCardinality(String),
  status UInt16,
  calls UInt64,
  credits UInt64
)
ENGINE = SummingMergeTree((calls, credits))
PARTITION BY toYYYYMM(hour)
ORDER BY (brand_id, hour, key_id, operation, status)
TTL hour + INTERVAL 400 DAY
SETTINGS non_replicated_deduplication_window = 10000, index_granularity = 1024;

CREATE MATERIALIZED VIEW IF NOT EXISTS requests_hourly_mv_v1 TO requests_hourly_v1 AS
SELECT
  brand_id, toStartOfHour(toDateTime(at, 'UTC')) AS hour, key_id, operation, status,
  count() AS calls, sum(credits) AS credits
FROM requests_v1
GROUP BY brand_id, hour, key_id, operation, status;
