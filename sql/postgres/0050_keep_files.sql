-- The content library: files that lie in the storage, each with its row, and the folders they are in.

CREATE TABLE asset_folders (
  id text PRIMARY KEY,
  brand_id text NOT NULL REFERENCES brands (id),
  name text NOT NULL,
  parent_id text,
  created_at timestamptz NOT NULL,
  updated_at timestamptz,
  UNIQUE (brand_id, id),
  FOREIGN KEY (brand_id, parent_id) REFERENCES asset_folders (brand_id, id)
);
CREATE UNIQUE INDEX asset_folders_name ON asset_folders (brand_id, coalesce(parent_id, ''), lower(name));
CREATE INDEX asset_folders_newest ON asset_folders (brand_id, created_at DESC, id DESC);
CREATE INDEX asset_folders_parent ON asset_folders (brand_id, parent_id);

-- A file whose asset is not made yet: noted before its first byte is written, forgotten by the change that makes the
-- asset. What is left here was given up, and its file is removed.
CREATE TABLE asset_uploads (
  storage_key text PRIMARY KEY,
  brand_id text NOT NULL REFERENCES brands (id),
  begun_at timestamptz NOT NULL,
  -- From here on no asset can take it.
  given_up_at timestamptz
);
CREATE INDEX asset_uploads_begun ON asset_uploads (begun_at);

CREATE TABLE assets (
  id text PRIMARY KEY,
  brand_id text NOT NULL REFERENCES brands (id),
  name text NOT NULL,
  type text NOT NULL CHECK (type IN ('image', 'video', 'document', 'audio', 'other')),
  mime_type text NOT NULL,
  size_bytes bigint NOT NULL CHECK (size_bytes >= 0),
  sha256 bytea NOT NULL,
  storage_key text NOT NULL UNIQUE,
  width integer,
  height integer,
  thumbnail_key text,
  thumbnail_state text NOT NULL CHECK (thumbnail_state IN ('none', 'due', 'made', 'failed')),
  thumbnail_attempts integer NOT NULL DEFAULT 0,
  thumbnail_retry_at timestamptz,
  folder_id text,
  campaign_id text,
  creator_id text,
  source text NOT NULL CHECK (source IN ('upload', 'deliverable', 'tracked_content')),
  tags text[] NOT NULL DEFAULT '{}',
  usage_rights text,
  -- {channels[], territory, days, starts}; json, so that it is answered as it was given.
  rights json,
  rights_expires_at timestamptz,
  -- The last of 14, 3 and 0 days before the end of which the brand was told.
  rights_notice_days integer,
  created_at timestamptz NOT NULL,
  updated_at timestamptz,
  deleted_at timestamptz,
  -- When the files of a deleted asset were removed from the storage.
  purged_at timestamptz,
  UNIQUE (brand_id, id),
  FOREIGN KEY (brand_id, folder_id) REFERENCES asset_folders (brand_id, id),
  FOREIGN KEY (brand_id, campaign_id) REFERENCES campaigns (brand_id, id),
  FOREIGN KEY (brand_id, creator_id) REFERENCES creators (brand_id, id)
);
CREATE INDEX assets_newest ON assets (brand_id, created_at DESC, id DESC) WHERE deleted_at IS NULL;
CREATE INDEX assets_in_folder ON assets (brand_id, folder_id) WHERE deleted_at IS NULL;
CREATE INDEX assets_without_thumbnail ON assets (coalesce(thumbnail_retry_at, created_at))
  WHERE thumbnail_state = 'due' AND deleted_at IS NULL;
CREATE INDEX assets_rights_end ON assets (rights_expires_at)
  WHERE rights_expires_at IS NOT NULL AND deleted_at IS NULL AND rights_notice_days IS DISTINCT FROM 0;
CREATE INDEX assets_to_purge ON assets (deleted_at) WHERE deleted_at IS NOT NULL AND purged_at IS NULL;
