-- What changed in the directory, creator by creator. A batch that is sent again replaces its own rows.
CREATE TABLE IF NOT EXISTS directory_changes_v1 (
  alias LowCardinality(String),
  -- The batch of PostgreSQL's directory_changes, and the row in it.
  seq UInt64,
  line UInt32,
  pk UInt64,
  type Enum8('added' = 1, 'updated' = 2, 'removed' = 3, 'opted_out' = 4),
  -- The fields that an update changed.
  changed Array(LowCardinality(String)),
  at DateTime64(3, 'UTC'),
  version LowCardinality(String)
)
ENGINE = ReplacingMergeTree
PARTITION BY toYYYYMM(at)
ORDER BY (alias, seq, line)
TTL toDateTime(at) + INTERVAL 90 DAY
SETTINGS non_replicated_deduplication_window = 10000;
