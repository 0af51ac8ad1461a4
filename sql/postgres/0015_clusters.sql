-- For several machines: the right to write the directory no longer depends on a session, and figures survive a failover.

-- One row decides who writes to the directory of an alias. The writer renews `held_until`; when that has passed, or on its own
-- machine when its process has ended, another may take the row.
ALTER TABLE directory_writers
  ADD COLUMN token text,
  -- The boot and process namespace of the machine, then the process.
  ADD COLUMN process text,
  ADD COLUMN held_until timestamptz;

-- Under which history of the database figures were last sent to ClickHouse: the system's identifier and the timeline. A standby
-- that was promoted has another, and may lack entries that ClickHouse has.
CREATE TABLE figures_history (
  only_one boolean PRIMARY KEY DEFAULT true CHECK (only_one),
  history text NOT NULL
);
