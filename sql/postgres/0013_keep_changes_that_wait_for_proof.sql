-- What another sender gave for the address of a pending application. It takes effect only through the link that was mailed there.
CREATE TABLE application_changes (
  id text PRIMARY KEY,
  brand_id text NOT NULL REFERENCES brands (id),
  application_id text NOT NULL REFERENCES applications (id) ON DELETE CASCADE,
  creator_name text,
  creator_photo_app text,
  creator_video_app text,
  message text,
  portfolio_urls text[] NOT NULL,
  confirmed_at timestamptz,
  created_at timestamptz NOT NULL
);
CREATE INDEX application_changes_of ON application_changes (brand_id, application_id, created_at);
