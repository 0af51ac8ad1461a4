-- How far the turn of a job under way is. `rows` has what ended turns did, where the turn after a lost one goes on.
ALTER TABLE jobs ADD COLUMN seen_rows bigint;
