-- The writers' record of the directory, which is itself in Elasticsearch, behind an alias; and searches of it.

-- One row per index built. position is the checkpoint: Elasticsearch has acknowledged every row up to it.
CREATE TABLE directory_imports (
  id text PRIMARY KEY,
  alias text NOT NULL,
  state text NOT NULL CHECK (state IN ('queued', 'building', 'verified', 'live', 'superseded', 'rolled_back', 'failed')),
  index_name text,
  -- Identifies the content, whatever its path; an import of the same identity resumes. Null: it cannot be read again.
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
  -- When it last went live, and when another last took its place.
  swapped_at timestamptz,
  retired_at timestamptz
);
CREATE UNIQUE INDEX directory_imports_index ON directory_imports (index_name);
CREATE UNIQUE INDEX directory_imports_live ON directory_imports (alias) WHERE state = 'live';
CREATE INDEX directory_imports_state ON directory_imports (alias, state, swapped_at);

-- Upserts and deletes on a live index, which older indexes lack. Recorded before the first row is written.
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

-- Says who writes to those who wait. The right to write is an advisory lock, which dies with its holder; this is its label.
CREATE TABLE directory_writers (
  alias text PRIMARY KEY,
  command text NOT NULL,
  holder text NOT NULL,
  since timestamptz NOT NULL
);

-- Searches that a person keeps, by name.
CREATE TABLE saved_searches (
  id text PRIMARY KEY,
  brand_id text NOT NULL REFERENCES brands (id),
  person_id text NOT NULL,
  name text NOT NULL,
  -- The filters, by name.
  filters jsonb NOT NULL,
  created_at timestamptz NOT NULL,
  updated_at timestamptz,
  FOREIGN KEY (brand_id, person_id) REFERENCES people (brand_id, id)
);
CREATE UNIQUE INDEX saved_searches_name ON saved_searches (brand_id, person_id, lower(name));
CREATE INDEX saved_searches_person ON saved_searches (brand_id, person_id, created_at DESC, id DESC);
