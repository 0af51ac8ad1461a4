-- What orders add to figures, with the click that won each, and sums of clicks and orders by each dimension.

-- One row per time of a ledger entry. PostgreSQL's ledger_entries and orders stay the truth.
CREATE TABLE IF NOT EXISTS order_figures_v1 (
  brand_id String,
  seq UInt64,
  line UInt16,
  at DateTime64(3, 'UTC'),
  currency LowCardinality(String),
  -- Empty for a commission that the brand recorded itself.
  link_id String,
  creator_id String,
  store_id String,
  source LowCardinality(String),
  -- The click that won the order, and its facts; empty for an order that a code won.
  click_id String,
  kind LowCardinality(String),
  country LowCardinality(String),
  device LowCardinality(String),
  referrer_host String,
  orders UInt8,
  -- The orders that a click won.
  click_orders UInt8,
  sales Int64,
  refunds Int64,
  commission Int64
)
ENGINE = MergeTree
PARTITION BY toYYYYMM(at)
ORDER BY (brand_id, toDate(at), link_id, seq, line)
SETTINGS non_replicated_deduplication_window = 10000;

-- Parts are summed lazily, so every read sums.
CREATE TABLE IF NOT EXISTS dimension_daily_v1 (
  brand_id String,
  dimension Enum8('link' = 1, 'creator' = 2, 'country' = 3, 'device' = 4, 'referrer' = 5, 'kind' = 6, 'hour' = 7,
    'store' = 8, 'source' = 9),
  day Date,
  key String,
  currency LowCardinality(String),
  -- Counted clicks; by kind, the clicks of that kind.
  clicks SimpleAggregateFunction(sum, UInt64),
  visitors AggregateFunction(uniq, UInt64),
  orders SimpleAggregateFunction(sum, UInt64),
  click_orders SimpleAggregateFunction(sum, UInt64),
  sales SimpleAggregateFunction(sum, Int64),
  refunds SimpleAggregateFunction(sum, Int64),
  commission SimpleAggregateFunction(sum, Int64)
)
ENGINE = AggregatingMergeTree
PARTITION BY toYear(day)
ORDER BY (brand_id, dimension, day, key, currency)
SETTINGS non_replicated_deduplication_window = 10000, index_granularity = 1024;

CREATE MATERIALIZED VIEW IF NOT EXISTS dimension_daily_clicks_mv_v1 TO dimension_daily_v1 AS
SELECT brand_id, pair.1 AS dimension, toDate(at) AS day, pair.2 AS key, currency, count() AS clicks,
  uniqState(visitor) AS visitors
FROM clicks_v1
ARRAY JOIN [('link', link_id), ('creator', creator_id), ('country', toString(country)), ('device', toString(device)),
  ('referrer', referrer_host), ('kind', toString(kind)), ('hour', leftPad(toString(toHour(at)), 2, '0')),
  ('store', ''), ('source', '')] AS pair
WHERE kind = 'counted' OR pair.1 = 'kind'
GROUP BY brand_id, dimension, day, key, currency;

CREATE MATERIALIZED VIEW IF NOT EXISTS dimension_daily_orders_mv_v1 TO dimension_daily_v1 AS
SELECT brand_id, pair.1 AS dimension, toDate(at) AS day, pair.2 AS key, currency, sum(orders) AS orders,
  sum(click_orders) AS click_orders, sum(sales) AS sales, sum(refunds) AS refunds, sum(commission) AS commission
FROM order_figures_v1
ARRAY JOIN [('link', link_id), ('creator', creator_id), ('country', toString(country)), ('device', toString(device)),
  ('referrer', referrer_host), ('kind', toString(kind)), ('hour', leftPad(toString(toHour(at)), 2, '0')),
  ('store', store_id), ('source', toString(source))] AS pair
GROUP BY brand_id, dimension, day, key, currency;
