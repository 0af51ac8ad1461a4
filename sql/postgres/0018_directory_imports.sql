-- Imports are compared with the live directory; one that is too far from it is held until an operator decides.

ALTER TABLE directory_imports DROP CONSTRAINT directory_imports_state_check;
ALTER TABLE directory_imports ADD CONSTRAINT directory_imports_state_check CHECK (state IN
  ('queued', 'building', 'verified', 'held', 'live', 'superseded', 'rolled_back', 'discarded', 'failed'));
-- How far it may be from the live directory, and searches that must go on finding what they find.
ALTER TABLE directory_imports ADD COLUMN bounds jsonb;
-- By field: the share of rows that have a value.
ALTER TABLE directory_imports ADD COLUMN fill jsonb;
-- How it differs from the index that was live when it was built; null for a first import.
ALTER TABLE directory_imports ADD COLUMN comparison jsonb;
-- Why it was held, a sentence each.
ALTER TABLE directory_imports ADD COLUMN reasons text[];
CREATE UNIQUE INDEX directory_imports_held ON directory_imports (alias) WHERE state = 'held';
