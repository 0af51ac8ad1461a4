-- What /readyz writes to see that ClickHouse takes writes.
CREATE TABLE IF NOT EXISTS readiness_writes_v1 (written_at DateTime('UTC'))
ENGINE = MergeTree ORDER BY written_at TTL written_at + INTERVAL 1 HOUR;
