-- Rows that workers are working on. A worker that lives renews its claims; those of a dead one run out.
CREATE TABLE work_claims (
  work text NOT NULL,
  row_id text NOT NULL,
  -- Null for work that is no brand's.
  brand_id text,
  -- Names the turn; null while the row rests after a failure.
  turn text,
  until timestamptz NOT NULL,
  -- Failures in a row.
  failures integer NOT NULL DEFAULT 0,
  PRIMARY KEY (work, row_id)
);
