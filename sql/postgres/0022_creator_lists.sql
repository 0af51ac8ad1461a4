-- Lists of creators of the directory, which searches keep to or leave out.

CREATE TABLE creator_lists (
  id text PRIMARY KEY,
  brand_id text NOT NULL REFERENCES brands (id),
  name text NOT NULL,
  note text,
  -- How many creators it has; kept by the statements that add and remove them.
  creators integer NOT NULL DEFAULT 0,
  -- Incremented by every change of its creators, so that searches cache by it.
  version bigint NOT NULL DEFAULT 1,
  created_at timestamptz NOT NULL,
  updated_at timestamptz,
  CONSTRAINT creator_lists_full CHECK (creators BETWEEN 0 AND 100000)
);
CREATE INDEX creator_lists_newest ON creator_lists (brand_id, created_at DESC, id DESC);

CREATE TABLE listed_creators (
  list_id text NOT NULL REFERENCES creator_lists (id) ON DELETE CASCADE,
  pk bigint NOT NULL,
  added_at timestamptz NOT NULL,
  -- The API key or session that added it.
  added_by text,
  PRIMARY KEY (list_id, pk)
);
CREATE INDEX listed_creators_newest ON listed_creators (list_id, added_at DESC, pk DESC);
