-- What changed in the directory, in the order in which searches began to see it.

-- The name that an operator gives to where its rows come from.
ALTER TABLE directory_imports ADD COLUMN source text;

ALTER TABLE directory_writes DROP CONSTRAINT directory_writes_kind_check;
ALTER TABLE directory_writes ADD CONSTRAINT directory_writes_kind_check CHECK (kind IN ('upsert', 'patch', 'delete'));

-- Batches of changes on their way to ClickHouse. A batch is written before its changes; seq and at are set once searches
-- see them. A swap of the alias always has a batch, also if nothing changed.
CREATE SEQUENCE directory_changes_seq;
CREATE TABLE directory_changes (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  alias text NOT NULL,
  kind text NOT NULL CHECK (kind IN ('import', 'rollback', 'upsert', 'patch', 'delete', 'forget')),
  -- The index that has the changes.
  version text NOT NULL,
  seq bigint UNIQUE,
  at timestamptz,
  -- One change a line: pk, type, fields and the document's version, separated by tabs. Null once ClickHouse has them.
  lines text
);
CREATE INDEX directory_changes_pending ON directory_changes (alias, id) WHERE seq IS NULL;
CREATE INDEX directory_changes_unsent ON directory_changes (seq) WHERE lines IS NOT NULL;
CREATE INDEX directory_changes_at ON directory_changes (alias, at, seq);
CREATE INDEX directory_changes_version ON directory_changes (alias, version, seq);
