-- What an application claims stays on it: it refers to a creator only once the brand has accepted it.
ALTER TABLE applications ALTER COLUMN creator_id DROP NOT NULL;

-- Two entries of one person that were joined. Clicks and postings keep the id they were recorded under, so figures are
-- told whose they are now.
CREATE TABLE creator_merges (
  brand_id text NOT NULL REFERENCES brands (id),
  gone_id text NOT NULL,
  creator_id text NOT NULL,
  merged_at timestamptz NOT NULL,
  PRIMARY KEY (brand_id, gone_id),
  FOREIGN KEY (brand_id, creator_id) REFERENCES creators (brand_id, id)
);
CREATE INDEX creator_merges_of ON creator_merges (brand_id, creator_id);
