-- Who bought: the orders that count, with what their customers bought before and after, and their sums by day. Both keep the
-- newest version of a row by its key, so that a row may be sent twice.

CREATE TABLE IF NOT EXISTS customer_orders_v1 (
  brand_id String,
  day Date MATERIALIZED toDate(intDiv(at, 86400000)),
  order_id String,
  -- The last of the brand's seals whose changes it includes.
  version UInt64,
  -- Of an order without an e-mail address it is the order's own.
  customer Int64,
  -- 0: the order no longer counts, and nothing else of the row does.
  counts UInt8,
  is_known UInt8,
  -- Of its customer: ever, and in its month and week.
  is_first UInt8,
  is_first_of_month UInt8,
  is_first_of_week UInt8,
  -- Times are milliseconds since 1970; -1 is none.
  at Int64,
  first_at Int64,
  currency LowCardinality(String),
  -- Empty where an order has none.
  store_id LowCardinality(String),
  link_id LowCardinality(String),
  creator_id LowCardinality(String),
  campaign_id LowCardinality(String),
  -- Who won the customer's first order.
  first_creator_id LowCardinality(String),
  -- The customer's order before it in the same currency, of the same store, link, creator or campaign.
  before_of_store Int64,
  before_of_link Int64,
  before_of_creator Int64,
  before_of_campaign Int64,
  worth Int64,
  -- Of a first order: whether another one came within so many days, and what all of 90 days are worth in its currency.
  again_30 UInt8,
  again_60 UInt8,
  again_90 UInt8,
  worth_90 Int64
)
ENGINE = ReplacingMergeTree(version)
PARTITION BY toYear(day)
ORDER BY (brand_id, day, order_id)
SETTINGS index_granularity = 1024;

-- A day's sums by one dimension, which replace those of an earlier version as a whole: an element for each key, currency and
-- day since.
CREATE TABLE IF NOT EXISTS customer_days_v1 (
  brand_id String,
  dimension Enum8('store' = 1, 'link' = 2, 'creator' = 3, 'campaign' = 4, 'first_creator' = 5),
  day Date,
  version UInt64,
  keys Array(LowCardinality(String)),
  currencies Array(LowCardinality(String)),
  -- The day of the customers' order before in that dimension, as the number of days since 1970; by the first creator, the day
  -- of their first order. -1 is none.
  since Array(Int32),
  orders Array(UInt32),
  known Array(UInt32),
  worth Array(Int64),
  firsts Array(UInt32),
  firsts_of_month Array(UInt32),
  firsts_of_week Array(UInt32),
  first_worth Array(Int64),
  again_30 Array(UInt32),
  again_60 Array(UInt32),
  again_90 Array(UInt32),
  worth_90 Array(Int64)
)
ENGINE = ReplacingMergeTree(version)
PARTITION BY toYear(day)
ORDER BY (brand_id, dimension, day)
SETTINGS index_granularity = 128;
