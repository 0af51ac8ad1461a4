-- The bytes of an event's data are those that are sent: jsonb would sort its keys.
ALTER TABLE outbox ALTER COLUMN data TYPE json;
CREATE INDEX outbox_by_time ON outbox (brand_id, created_at);

-- How far the ledger has come into batches for ClickHouse. It numbers entries, not events, so it is no outbox position.
CREATE TABLE ledger_positions (
  brand_id text PRIMARY KEY REFERENCES brands (id),
  seq bigint NOT NULL
);
INSERT INTO ledger_positions (brand_id, seq) SELECT brand_id, seq FROM outbox_positions WHERE consumer = 'figures';
DELETE FROM outbox_positions WHERE consumer = 'figures';
