-- A file of another tool: how it is read, and what is recorded of it once a person confirmed the reading.
CREATE TABLE imports (
  id text PRIMARY KEY,
  brand_id text NOT NULL REFERENCES brands (id),
  of text NOT NULL CHECK (of IN ('orders', 'commissions', 'roster', 'payouts')),
  status text NOT NULL CHECK (status IN ('reading', 'needs_answers', 'ready', 'refused', 'running', 'done', 'failed',
    'stopped', 'undoing', 'undone', 'expired')),
  -- Where the records come from, in the brand's words.
  source text NOT NULL,
  file_name text NOT NULL,
  size_bytes bigint NOT NULL,
  sha256 bytea NOT NULL,
  -- Null once the file was removed.
  storage_key text,
  -- What the caller says about the file, and the number of times that it was said.
  mapping jsonb NOT NULL,
  options jsonb NOT NULL,
  revision integer NOT NULL,
  -- The reading of that revision, and the plan by which its records are read again; null while it is read.
  reading jsonb,
  plan jsonb,
  -- The mapping that an earlier import left for this source and header.
  stored jsonb,
  reading_id text,
  job_id text,
  -- Records that were written or refused: the run goes on behind them.
  handled bigint NOT NULL DEFAULT 0,
  result jsonb,
  error text,
  key_id text,
  created_at timestamptz NOT NULL,
  updated_at timestamptz,
  confirmed_at timestamptz,
  ended_at timestamptz,
  undone_at timestamptz,
  -- When it expires unconfirmed, or its file and lines are removed; null once they are.
  due_at timestamptz,
  UNIQUE (brand_id, id)
);
CREATE INDEX imports_newest ON imports (brand_id, created_at DESC, id DESC);
CREATE INDEX imports_due ON imports (due_at) WHERE due_at IS NOT NULL;
CREATE INDEX imports_open ON imports (brand_id) WHERE status IN ('reading', 'needs_answers', 'ready');

-- Lines of the last reading, some thousands of each outcome.
CREATE TABLE import_lines (
  import_id text NOT NULL,
  brand_id text NOT NULL REFERENCES brands (id),
  revision integer NOT NULL,
  number bigint NOT NULL,
  outcome text NOT NULL CHECK (outcome IN ('new', 'known', 'differs', 'repeated', 'left_out', 'refused')),
  kind text,
  -- The line as the API shows it.
  content jsonb NOT NULL,
  PRIMARY KEY (import_id, revision, number),
  FOREIGN KEY (brand_id, import_id) REFERENCES imports (brand_id, id)
);
CREATE INDEX import_lines_outcome ON import_lines (import_id, revision, outcome, number);

-- What an import wrote, so that it can be undone.
CREATE TABLE import_writes (
  import_id text NOT NULL,
  brand_id text NOT NULL REFERENCES brands (id),
  noun text NOT NULL CHECK (noun IN ('order', 'past_commission', 'creator', 'roster_entry', 'link', 'payout')),
  row_id text NOT NULL,
  PRIMARY KEY (import_id, noun, row_id),
  FOREIGN KEY (brand_id, import_id) REFERENCES imports (brand_id, id)
);

-- What a confirmed import said about files with its header, for the next one of its source.
CREATE TABLE import_mappings (
  id text PRIMARY KEY,
  brand_id text NOT NULL REFERENCES brands (id),
  of text NOT NULL CHECK (of IN ('orders', 'commissions', 'roster', 'payouts')),
  source text NOT NULL,
  headers text[] NOT NULL,
  header_hash text NOT NULL,
  mapping jsonb NOT NULL,
  created_at timestamptz NOT NULL,
  updated_at timestamptz,
  UNIQUE (brand_id, id),
  UNIQUE (brand_id, of, source, header_hash)
);
CREATE INDEX import_mappings_newest ON import_mappings (brand_id, created_at DESC, id DESC);

-- A past commission of a file is known by its creator as well, and by its place among those of one reference.
ALTER TABLE past_commissions ADD COLUMN known_by text;
ALTER TABLE past_commissions DROP CONSTRAINT past_commissions_once;
CREATE UNIQUE INDEX past_commissions_once
  ON past_commissions (brand_id, source, coalesce(known_by, 'reference ' || reference));
CREATE INDEX past_commissions_reference ON past_commissions (brand_id, source, reference);
