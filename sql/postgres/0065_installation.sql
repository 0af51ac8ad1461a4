-- Where this database is live. A copy finds itself elsewhere, and does not write to the world until it is told to.
CREATE TABLE installation (
  is_only boolean PRIMARY KEY DEFAULT true CHECK (is_only),
  -- The server's identity and the database's own number.
  home text NOT NULL,
  -- Since when a copy sends nothing; null: it is live.
  held_since timestamptz
);

-- Suspended by the operator: its keys and sessions are refused, and nothing of it is sent.
ALTER TABLE brands ADD COLUMN suspended_at timestamptz;
CREATE INDEX brands_suspended ON brands (id) WHERE suspended_at IS NOT NULL;

-- The most that the brand's files may have together; null: no limit.
ALTER TABLE brands ADD COLUMN max_storage_bytes bigint CHECK (max_storage_bytes >= 0);

-- Paused by the operator.
ALTER TABLE export_schedules ADD COLUMN paused_at timestamptz;
ALTER TABLE reports ADD COLUMN paused_at timestamptz;
ALTER TABLE alerts ADD COLUMN paused_at timestamptz;
