-- Work that takes longer than a call. The row is the truth: the queue only wakes workers, and may be lost.
CREATE TABLE jobs (
  id text PRIMARY KEY,
  brand_id text NOT NULL REFERENCES brands (id),
  kind text NOT NULL,
  -- What was requested, without secrets.
  request jsonb NOT NULL,
  status text NOT NULL CHECK (status IN ('queued', 'running', 'done', 'failed', 'cancelled')),
  -- Where the next turn begins; null before the first.
  cursor jsonb,
  rows bigint NOT NULL DEFAULT 0,
  total_rows bigint,
  error text,
  -- Failures in a row.
  failures integer NOT NULL DEFAULT 0,
  -- The schedule that made it.
  schedule_id text,
  -- The turn that is under way: what it did is stored only while the job has its claim.
  claim text,
  -- Turns that ended without a word, because their worker died. They may have left a file.
  lost_claims text[] NOT NULL DEFAULT '{}',
  -- When a turn may begin; during one, when it counts as lost.
  due_at timestamptz NOT NULL,
  started_at timestamptz,
  ended_at timestamptz,
  files_end_at timestamptz,
  created_at timestamptz NOT NULL,
  updated_at timestamptz,
  UNIQUE (brand_id, id),
  CHECK ((ended_at IS NOT NULL) = (status IN ('done', 'failed', 'cancelled')))
);
CREATE INDEX jobs_newest ON jobs (brand_id, created_at DESC, id DESC);
CREATE INDEX jobs_due ON jobs (due_at) WHERE status IN ('queued', 'running');
-- Ended jobs whose files are still in the storage.
CREATE INDEX jobs_with_files ON jobs (files_end_at) WHERE files_end_at IS NOT NULL;

CREATE TABLE job_files (
  job_id text NOT NULL,
  brand_id text NOT NULL REFERENCES brands (id),
  number integer NOT NULL,
  name text NOT NULL,
  mime_type text NOT NULL,
  -- Null for a file in the brand's own bucket.
  storage_key text,
  rows bigint NOT NULL,
  size_bytes bigint NOT NULL,
  sha256 bytea NOT NULL,
  created_at timestamptz NOT NULL,
  PRIMARY KEY (job_id, number),
  FOREIGN KEY (brand_id, job_id) REFERENCES jobs (brand_id, id)
);

-- When a brand's jobs last had a turn: the brand that waited longest is next.
CREATE TABLE job_turns (
  brand_id text PRIMARY KEY REFERENCES brands (id),
  at timestamptz NOT NULL
);

-- Exports into a brand's own bucket, each day what was recorded since the last one.
CREATE TABLE export_schedules (
  id text PRIMARY KEY,
  brand_id text NOT NULL REFERENCES brands (id),
  of text NOT NULL,
  format text NOT NULL CHECK (format IN ('parquet', 'ndjson', 'csv')),
  columns text[],
  bucket text NOT NULL,
  prefix text NOT NULL,
  endpoint text NOT NULL,
  region text NOT NULL,
  -- The access key and its secret, sealed.
  credentials bytea NOT NULL,
  -- What was recorded before this time has been delivered; null: nothing yet.
  until_at timestamptz,
  next_at timestamptz NOT NULL,
  -- Since when it fails, which was mailed; null while it works.
  failing_since timestamptz,
  error text,
  created_at timestamptz NOT NULL,
  updated_at timestamptz,
  deleted_at timestamptz,
  UNIQUE (brand_id, id)
);
CREATE INDEX export_schedules_newest ON export_schedules (brand_id, created_at DESC, id DESC) WHERE deleted_at IS NULL;
CREATE INDEX export_schedules_due ON export_schedules (next_at) WHERE deleted_at IS NULL;

-- Exports of orders by the time at which they were recorded.
CREATE INDEX orders_recorded ON orders (brand_id, created_at, id);
