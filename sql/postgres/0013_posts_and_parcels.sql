-- A figure that was never read is unknown, not zero.
ALTER TABLE content
  ALTER COLUMN views DROP DEFAULT,
  ALTER COLUMN likes DROP DEFAULT,
  ALTER COLUMN comments DROP DEFAULT,
  ALTER COLUMN shares DROP DEFAULT,
  ALTER COLUMN saves DROP DEFAULT;
UPDATE content SET views = NULL, likes = NULL, comments = NULL, shares = NULL, saves = NULL WHERE last_refreshed IS NULL;

-- Posts that short links lead to: a platform makes a new short link each time that a post is shared.
CREATE TABLE content_short_links (
  brand_id text NOT NULL REFERENCES brands (id),
  short_key text NOT NULL,
  canonical_key text NOT NULL,
  PRIMARY KEY (brand_id, short_key)
);
CREATE INDEX content_short_links_of_post ON content_short_links (brand_id, canonical_key);

-- Why the tracking provider does not follow the parcel.
ALTER TABLE shipments ADD COLUMN tracking_error text;
