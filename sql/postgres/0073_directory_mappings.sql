-- How files of a source of the directory are read: accepted once, used again for files with the same header.
CREATE TABLE directory_mappings (
  alias text NOT NULL,
  source text NOT NULL,
  header_hash text NOT NULL,
  mapping jsonb NOT NULL,
  updated_at timestamptz NOT NULL,
  PRIMARY KEY (alias, source, header_hash)
);

-- The mapping of an import's files; null if their columns are called like our fields.
ALTER TABLE directory_imports ADD COLUMN mapping jsonb;
