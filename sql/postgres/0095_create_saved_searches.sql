-- Searches of the directory that a person keeps, by name.
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
