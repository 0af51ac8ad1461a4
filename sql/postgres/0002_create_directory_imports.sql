-- The writers' own record of the directory; the directory itself is in Elasticsearch, behind an alias.

-- One row per index built. position is the checkpoint: every row up to it has been acknowledged by Elasticsearch.
CREATE TABLE directory_imports (
  id text PRIMARY KEY,
  alias text NOT NULL,
  state text NOT NULL CHECK (state IN ('queued', 'building', 'verified', 'live', 'superseded', 'rolled_back', 'failed')),
  index_name text,
  -- What is imported, whatever its path; the same identity goes on where it stopped. Null: cannot be read again.
  identity text,
  files text[] NOT NULL,
  max_rejects text NOT NULL,
  rejects_file text NOT NULL,
  enqueued boolean NOT NULL,
  position bigint NOT NULL,
  -- How far into the files, 0 to 1; null where their size is unknown.
  progress double precision,
  accepted bigint NOT NULL,
  rejected bigint NOT NULL,
  documents bigint,
  failure text,
  started_at timestamptz NOT NULL,
  updated_at timestamptz NOT NULL,
  -- When it last went live, and when it last ceased to be.
  swapped_at timestamptz,
  retired_at timestamptz
);
CREATE UNIQUE INDEX directory_imports_index ON directory_imports (index_name);
CREATE UNIQUE INDEX directory_imports_live ON directory_imports (alias) WHERE state = 'live';
CREATE INDEX directory_imports_state ON directory_imports (alias, state, swapped_at);

-- Upserts and deletes on a live index, which an older index does not have. Recorded before the first row is written.
CREATE TABLE directory_writes (
  id text PRIMARY KEY,
  alias text NOT NULL,
  index_name text NOT NULL,
  kind text NOT NULL CHECK (kind IN ('upsert', 'delete')),
  file text NOT NULL,
  rows bigint NOT NULL,
  -- The highest document version it may have used: the next one starts above it.
  last_version bigint NOT NULL,
  started_at timestamptz NOT NULL,
  finished_at timestamptz
);
CREATE INDEX directory_writes_index ON directory_writes (index_name, started_at);

-- Who writes, for those who wait. The right to write is an advisory lock, which dies with its holder; this is its label.
CREATE TABLE directory_writers (
  alias text PRIMARY KEY,
  command text NOT NULL,
  holder text NOT NULL,
  since timestamptz NOT NULL
);
