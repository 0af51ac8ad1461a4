-- Saved searches of brand keys, shared ones, and the creators that each has found since it was saved.

-- A search of a key belongs to no person, and is always shared.
ALTER TABLE saved_searches ALTER COLUMN person_id DROP NOT NULL;
ALTER TABLE saved_searches
  ADD COLUMN shared boolean NOT NULL DEFAULT false,
  -- Incremented when the filters change.
  ADD COLUMN version bigint NOT NULL DEFAULT 1,
  -- False if new matches are not looked for: the search ranks, or it matched too many creators.
  ADD COLUMN tracked boolean NOT NULL DEFAULT true,
  -- The batch of directory_changes up to which new matches were looked for; null before the first look.
  ADD COLUMN seq bigint,
  -- When that batch was reported.
  ADD COLUMN seq_at timestamptz,
  -- Why the search cannot be run, such as a list that was deleted.
  ADD COLUMN problem text,
  -- The number of the last match.
  ADD COLUMN found bigint NOT NULL DEFAULT 0,
  ADD COLUMN alert_every text CHECK (alert_every IN ('import', 'day', 'week')),
  ADD COLUMN alert_mail text[] NOT NULL DEFAULT '{}',
  -- The last match that a mail counted, and the end of the last period that had its mail.
  ADD COLUMN alerted bigint NOT NULL DEFAULT 0,
  ADD COLUMN alerted_at timestamptz,
  ADD CONSTRAINT saved_searches_of_keys CHECK (person_id IS NOT NULL OR shared);
CREATE UNIQUE INDEX saved_searches_name_of_keys ON saved_searches (brand_id, lower(name)) WHERE person_id IS NULL;
CREATE INDEX saved_searches_newest ON saved_searches (brand_id, created_at DESC, id DESC);
CREATE INDEX saved_searches_tracked ON saved_searches (seq) WHERE tracked;
CREATE INDEX saved_searches_to_alert ON saved_searches (id) WHERE alert_every IS NOT NULL AND found > alerted;

-- Creators who matched when the search was saved, in parts in the order of pk. They are never new.
CREATE TABLE saved_search_known (
  search_id text NOT NULL REFERENCES saved_searches (id) ON DELETE CASCADE,
  first bigint NOT NULL,
  last bigint NOT NULL,
  pks bigint[] NOT NULL,
  PRIMARY KEY (search_id, first)
);

-- Creators who began to match since, each once.
CREATE TABLE saved_search_matches (
  search_id text NOT NULL REFERENCES saved_searches (id) ON DELETE CASCADE,
  pk bigint NOT NULL,
  -- Its place in the order in which matches were found.
  number bigint NOT NULL,
  first_matched_at timestamptz NOT NULL,
  PRIMARY KEY (search_id, pk)
);
CREATE UNIQUE INDEX saved_search_matches_number ON saved_search_matches (search_id, number);
CREATE INDEX saved_search_matches_pk ON saved_search_matches (pk);

-- How far each person has looked.
CREATE TABLE saved_search_looks (
  search_id text NOT NULL REFERENCES saved_searches (id) ON DELETE CASCADE,
  person_id text NOT NULL,
  number bigint NOT NULL,
  PRIMARY KEY (search_id, person_id)
);
