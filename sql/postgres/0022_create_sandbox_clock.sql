-- How far ahead of the real time the processes of a sandbox are. One row; only processes with ROLLCALL_SANDBOX read it.
CREATE TABLE sandbox_clock (
  only_one boolean PRIMARY KEY DEFAULT true CHECK (only_one),
  offset_ms bigint NOT NULL CHECK (offset_ms >= 0)
);
