-- For several machines: the right to write the directory no longer depends on a session.

-- One row decides who writes to the directory of an alias. The writer renews `held_until`; when that has passed, or on its own
-- machine when its process has ended, another may take the row.
ALTER TABLE directory_writers
  ADD COLUMN token text,
  -- The boot and process namespace of the machine, then the process.
  ADD COLUMN process text,
  ADD COLUMN held_until timestamptz;
