-- The creators that a job works on one by one. Each has a transaction that also stores its outcome, so that a job whose worker
-- dies does nothing twice.
CREATE TABLE job_lines (
  brand_id text NOT NULL REFERENCES brands (id),
  job_id text NOT NULL,
  creator_id text NOT NULL,
  -- Empty for work that is about all of the creator's currencies.
  currency text NOT NULL,
  -- What the job knew of the creator when it was started.
  planned jsonb,
  -- What has been done so far; null until then.
  outcome jsonb,
  is_done boolean NOT NULL DEFAULT false,
  PRIMARY KEY (job_id, creator_id, currency),
  FOREIGN KEY (brand_id, job_id) REFERENCES jobs (brand_id, id)
);
CREATE INDEX job_lines_open ON job_lines (job_id, creator_id, currency) WHERE NOT is_done;

-- The key or session that started the job, for the audit log of what it does.
ALTER TABLE jobs ADD COLUMN key_id text;
