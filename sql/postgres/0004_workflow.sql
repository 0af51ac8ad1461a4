-- Campaigns, creators, and the work that a brand and a creator agree on, ship, write about and hand in.

CREATE TABLE campaigns (
  id text PRIMARY KEY,
  brand_id text NOT NULL REFERENCES brands (id),
  title text NOT NULL,
  status text NOT NULL CHECK (status IN ('active', 'draft', 'paused', 'completed')),
  campaign_type text,
  description text,
  compensation_type text,
  -- A fixed amount in minor units of its currency, or a commission in millionths.
  compensation_amount_minor bigint CHECK (compensation_amount_minor >= 0),
  compensation_rate_ppm integer CHECK (compensation_rate_ppm BETWEEN 0 AND 1000000),
  compensation_currency text CHECK (compensation_currency ~ '^[A-Z]{3}$'),
  platforms text[],
  min_followers integer CHECK (min_followers >= 0),
  content_types text[],
  deliverables_count integer CHECK (deliverables_count >= 0),
  deadline timestamptz,
  created_at timestamptz NOT NULL,
  updated_at timestamptz,
  UNIQUE (brand_id, id)
);
CREATE INDEX campaigns_newest ON campaigns (brand_id, created_at DESC, id DESC);

-- One row per brand and person. Handles are stored without @ and never compared across platforms.
CREATE TABLE creators (
  id text PRIMARY KEY,
  brand_id text NOT NULL REFERENCES brands (id),
  email text,
  name text,
  ig_handle text,
  tt_handle text,
  pfp_url text,
  ig_followers bigint,
  tt_followers bigint,
  engagement_rate double precision,
  tags text[] NOT NULL DEFAULT '{}',
  -- When its public profile was read. Null while the handle is unknown to the directory, which is then asked again.
  profiled_at timestamptz,
  profile_attempts integer NOT NULL DEFAULT 0,
  profile_retry_at timestamptz,
  created_at timestamptz NOT NULL,
  updated_at timestamptz,
  UNIQUE (brand_id, id)
);
CREATE UNIQUE INDEX creators_email ON creators (brand_id, lower(email)) WHERE email IS NOT NULL;
CREATE UNIQUE INDEX creators_ig_handle ON creators (brand_id, lower(ig_handle)) WHERE ig_handle IS NOT NULL;
CREATE UNIQUE INDEX creators_tt_handle ON creators (brand_id, lower(tt_handle)) WHERE tt_handle IS NOT NULL;
CREATE INDEX creators_unprofiled ON creators (coalesce(profile_retry_at, created_at))
  WHERE profiled_at IS NULL AND (ig_handle IS NOT NULL OR tt_handle IS NOT NULL);

-- Two entries of one person that were merged. Clicks and postings keep the id they were recorded under, so figures look
-- here for whose they are now.
CREATE TABLE creator_merges (
  brand_id text NOT NULL REFERENCES brands (id),
  gone_id text NOT NULL,
  creator_id text NOT NULL,
  merged_at timestamptz NOT NULL,
  PRIMARY KEY (brand_id, gone_id),
  FOREIGN KEY (brand_id, creator_id) REFERENCES creators (brand_id, id)
);
CREATE INDEX creator_merges_of ON creator_merges (brand_id, creator_id);

CREATE TABLE roster_entries (
  id text PRIMARY KEY,
  brand_id text NOT NULL REFERENCES brands (id),
  creator_id text NOT NULL,
  status text NOT NULL CHECK (status IN ('active', 'hired', 'paused', 'removed')),
  note text,
  added_at timestamptz NOT NULL,
  updated_at timestamptz,
  UNIQUE (brand_id, creator_id),
  FOREIGN KEY (brand_id, creator_id) REFERENCES creators (brand_id, id)
);
CREATE INDEX roster_newest ON roster_entries (brand_id, added_at DESC, id DESC);

CREATE TABLE applications (
  id text PRIMARY KEY,
  brand_id text NOT NULL REFERENCES brands (id),
  campaign_id text NOT NULL,
  -- Set once the brand accepts it: until then, what an application claims stays on it.
  creator_id text,
  creator_email text NOT NULL,
  creator_name text,
  creator_photo_app text,
  creator_video_app text,
  status text NOT NULL CHECK (status IN ('pending', 'accepted', 'rejected', 'shortlisted')),
  message text,
  portfolio_urls text[] NOT NULL DEFAULT '{}',
  note text,
  applied_at timestamptz NOT NULL,
  -- When it was first accepted, which is announced once.
  approved_at timestamptz,
  updated_at timestamptz,
  FOREIGN KEY (brand_id, campaign_id) REFERENCES campaigns (brand_id, id),
  FOREIGN KEY (brand_id, creator_id) REFERENCES creators (brand_id, id)
);
CREATE UNIQUE INDEX applications_once ON applications (campaign_id, lower(creator_email));
CREATE INDEX applications_newest ON applications (brand_id, applied_at DESC, id DESC);
CREATE INDEX applications_by_campaign ON applications (brand_id, campaign_id, applied_at DESC, id DESC);
CREATE INDEX applications_accepted ON applications (brand_id, creator_id) WHERE status = 'accepted';

-- What another sender gave for the address of a pending application. It takes effect only through the link mailed there.
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

-- What a brand asks creators for, and who was sent it.
CREATE TABLE briefs (
  id text PRIMARY KEY,
  brand_id text NOT NULL REFERENCES brands (id),
  campaign_id text,
  creator_id text,
  title text NOT NULL,
  status text NOT NULL CHECK (status IN ('draft', 'sent', 'in_progress', 'completed')),
  content_type text,
  platform text,
  instructions text,
  talking_points text[] NOT NULL DEFAULT '{}',
  do_not text[] NOT NULL DEFAULT '{}',
  mood_board_urls text[] NOT NULL DEFAULT '{}',
  due_date date,
  sent_at timestamptz,
  first_viewed_at timestamptz,
  completed_at timestamptz,
  link_version integer NOT NULL DEFAULT 1,
  created_at timestamptz NOT NULL,
  updated_at timestamptz,
  UNIQUE (brand_id, id),
  FOREIGN KEY (brand_id, creator_id) REFERENCES creators (brand_id, id),
  FOREIGN KEY (brand_id, campaign_id) REFERENCES campaigns (brand_id, id)
);
CREATE INDEX briefs_newest ON briefs (brand_id, created_at DESC, id DESC);
CREATE INDEX briefs_open ON briefs (brand_id, campaign_id) WHERE status IN ('sent', 'in_progress');

CREATE TABLE brief_recipients (
  brand_id text NOT NULL,
  brief_id text NOT NULL,
  creator_id text NOT NULL,
  email text NOT NULL,
  sent_at timestamptz NOT NULL,
  viewed_at timestamptz,
  PRIMARY KEY (brief_id, creator_id),
  FOREIGN KEY (brand_id, brief_id) REFERENCES briefs (brand_id, id) ON DELETE CASCADE,
  FOREIGN KEY (brand_id, creator_id) REFERENCES creators (brand_id, id)
);

-- What a brand and a creator agree on, and the work that is promised in it.

CREATE TABLE contracts (
  id text PRIMARY KEY,
  brand_id text NOT NULL REFERENCES brands (id),
  creator_id text NOT NULL,
  campaign_id text,
  title text NOT NULL,
  status text NOT NULL CHECK (status IN ('draft', 'sent', 'signed', 'expired')),
  compensation_type text,
  compensation_amount_minor bigint CHECK (compensation_amount_minor >= 0),
  compensation_rate_ppm integer CHECK (compensation_rate_ppm BETWEEN 0 AND 1000000),
  compensation_currency text CHECK (compensation_currency ~ '^[A-Z]{3}$'),
  usage_rights text,
  -- Where, how long and from when the work may be used: read by the rights of the files that come of it.
  terms json,
  expires_at timestamptz,
  sent_at timestamptz,
  -- The text that is signed, canonical JSON as of the first sending, and its SHA-256.
  document text,
  content_hash bytea,
  signed_at timestamptz,
  signer_name text,
  signer_ip_sealed bytea,
  signer_agent_sealed bytea,
  expired_at timestamptz,
  expired_reason text CHECK (expired_reason IN ('expired', 'voided')),
  -- Raised by each sending: links of an earlier one are dead.
  link_version integer NOT NULL DEFAULT 0,
  created_at timestamptz NOT NULL,
  updated_at timestamptz,
  UNIQUE (brand_id, id),
  FOREIGN KEY (brand_id, creator_id) REFERENCES creators (brand_id, id),
  FOREIGN KEY (brand_id, campaign_id) REFERENCES campaigns (brand_id, id),
  CHECK ((status = 'signed') = (signed_at IS NOT NULL)),
  CHECK ((status = 'expired') = (expired_at IS NOT NULL)),
  CHECK (status = 'draft' OR expired_reason IS NOT NULL OR document IS NOT NULL)
);
CREATE INDEX contracts_newest ON contracts (brand_id, created_at DESC, id DESC);
CREATE INDEX contracts_by_creator ON contracts (brand_id, creator_id);
CREATE INDEX contracts_expiring ON contracts (expires_at) WHERE status IN ('draft', 'sent');

CREATE TABLE contract_items (
  brand_id text NOT NULL,
  contract_id text NOT NULL,
  position integer NOT NULL,
  type text NOT NULL,
  platform text,
  quantity integer NOT NULL CHECK (quantity BETWEEN 1 AND 100),
  due_date date,
  PRIMARY KEY (contract_id, position),
  FOREIGN KEY (brand_id, contract_id) REFERENCES contracts (brand_id, id)
);

CREATE TABLE deliverables (
  id text PRIMARY KEY,
  brand_id text NOT NULL REFERENCES brands (id),
  -- Null: requested outside of any contract.
  contract_id text,
  position integer NOT NULL DEFAULT 0,
  campaign_id text,
  creator_id text NOT NULL,
  type text NOT NULL,
  platform text,
  instructions text,
  status text NOT NULL CHECK (status IN
    ('pending', 'in_progress', 'submitted', 'approved', 'revision_requested', 'declined', 'cancelled')),
  content_url text,
  caption text,
  asset_ids text[] NOT NULL DEFAULT '{}',
  due_date date,
  submitted_at timestamptz,
  approved_at timestamptz,
  declined_reason text,
  feedback text,
  -- How many versions were submitted.
  version integer NOT NULL DEFAULT 0,
  -- Whether the post that was handed in is tracked once it is approved.
  track boolean NOT NULL DEFAULT false,
  -- Of one outside of a contract; the others have their contract's.
  link_version integer NOT NULL DEFAULT 1,
  created_at timestamptz NOT NULL,
  updated_at timestamptz,
  UNIQUE (brand_id, id),
  FOREIGN KEY (brand_id, contract_id) REFERENCES contracts (brand_id, id),
  FOREIGN KEY (brand_id, creator_id) REFERENCES creators (brand_id, id),
  FOREIGN KEY (brand_id, campaign_id) REFERENCES campaigns (brand_id, id)
);
CREATE INDEX deliverables_newest ON deliverables (brand_id, created_at DESC, id DESC);
CREATE INDEX deliverables_by_contract ON deliverables (contract_id) WHERE contract_id IS NOT NULL;
CREATE INDEX deliverables_by_creator ON deliverables (brand_id, creator_id, campaign_id);

-- Every version that was handed in.
CREATE TABLE deliverable_submissions (
  id text PRIMARY KEY,
  brand_id text NOT NULL,
  deliverable_id text NOT NULL,
  n integer NOT NULL,
  content_url text,
  caption text,
  asset_ids text[] NOT NULL DEFAULT '{}',
  is_late boolean NOT NULL,
  at timestamptz NOT NULL,
  -- The brand's answer to this version.
  feedback text,
  UNIQUE (deliverable_id, n),
  FOREIGN KEY (brand_id, deliverable_id) REFERENCES deliverables (brand_id, id)
);

-- What a brand and a creator write to each other: one conversation per pair, its messages numbered.

CREATE TABLE conversations (
  id text PRIMARY KEY,
  brand_id text NOT NULL REFERENCES brands (id),
  creator_id text NOT NULL,
  -- Also the number of the last message.
  message_count integer NOT NULL CHECK (message_count >= 0),
  last_message_at timestamptz NOT NULL,
  brand_unread integer NOT NULL DEFAULT 0 CHECK (brand_unread >= 0),
  creator_unread integer NOT NULL DEFAULT 0 CHECK (creator_unread >= 0),
  link_version integer NOT NULL DEFAULT 1,
  created_at timestamptz NOT NULL,
  UNIQUE (brand_id, id),
  UNIQUE (brand_id, creator_id),
  FOREIGN KEY (brand_id, creator_id) REFERENCES creators (brand_id, id)
);
CREATE INDEX conversations_newest ON conversations (brand_id, last_message_at DESC, id DESC);
CREATE INDEX conversations_unread ON conversations (brand_id, last_message_at DESC, id DESC) WHERE brand_unread > 0;

CREATE TABLE messages (
  id text PRIMARY KEY,
  brand_id text NOT NULL REFERENCES brands (id),
  conversation_id text NOT NULL,
  number integer NOT NULL,
  sender text NOT NULL CHECK (sender IN ('creator', 'brand')),
  subject text,
  body text NOT NULL,
  sent_at timestamptz NOT NULL,
  read_at timestamptz,
  email_state text NOT NULL CHECK (email_state IN ('none', 'queued', 'suppressed')),
  UNIQUE (conversation_id, number) DEFERRABLE INITIALLY IMMEDIATE,
  FOREIGN KEY (brand_id, conversation_id) REFERENCES conversations (brand_id, id)
);

-- When two records of a creator are merged, the brand may have written to both: one conversation then takes the messages
-- of the other, ordered by time, and the other is deleted.
CREATE FUNCTION join_conversations() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  kept conversations;
BEGIN
  SELECT * INTO kept FROM conversations
    WHERE brand_id = NEW.brand_id AND creator_id = NEW.creator_id AND id <> NEW.id FOR UPDATE;
  IF NOT FOUND THEN
    RETURN NEW;
  END IF;
  SET CONSTRAINTS messages_conversation_id_number_key DEFERRED;
  UPDATE messages SET conversation_id = kept.id, number = number + kept.message_count WHERE conversation_id = OLD.id;
  UPDATE messages SET number = ordered.number
    FROM (
      SELECT id, row_number() OVER (ORDER BY sent_at, number) AS number FROM messages WHERE conversation_id = kept.id
    ) AS ordered
    WHERE messages.id = ordered.id;
  SET CONSTRAINTS messages_conversation_id_number_key IMMEDIATE;
  UPDATE conversations SET
    message_count = kept.message_count + OLD.message_count,
    last_message_at = greatest(kept.last_message_at, OLD.last_message_at),
    brand_unread = kept.brand_unread + OLD.brand_unread,
    creator_unread = kept.creator_unread + OLD.creator_unread
    WHERE id = kept.id;
  DELETE FROM conversations WHERE id = OLD.id;
  RETURN NULL;
END
$$;

CREATE TRIGGER conversations_join BEFORE UPDATE OF creator_id ON conversations
  FOR EACH ROW WHEN (OLD.creator_id <> NEW.creator_id) EXECUTE FUNCTION join_conversations();

-- Products on their way to creators, and the public pages that show them.
CREATE TABLE shipments (
  id text PRIMARY KEY,
  brand_id text NOT NULL REFERENCES brands (id),
  creator_id text NOT NULL REFERENCES creators (id),
  campaign_id text REFERENCES campaigns (id),
  carrier text,
  tracking_number text,
  estimated_arrival date,
  product_description text,
  products json,
  shipping_address json,
  notes text,
  status text NOT NULL CHECK (status IN ('created', 'pending', 'shipped', 'delivered', 'returned')),
  tracking_status text,
  tracking_events json NOT NULL DEFAULT '[]',
  -- The carrier client's own id of this parcel, where it has one, and when it is asked next.
  tracking_ref text,
  track_at timestamptz,
  creator_confirmed_receipt boolean NOT NULL DEFAULT FALSE,
  confirmed_at timestamptz,
  reported_missing_at timestamptz,
  shipped_at timestamptz,
  delivered_at timestamptz,
  link_version integer NOT NULL DEFAULT 1,
  created_at timestamptz NOT NULL,
  updated_at timestamptz
);
CREATE INDEX shipments_of_brand ON shipments (brand_id, created_at DESC, id DESC);
CREATE INDEX shipments_of_creator ON shipments (brand_id, creator_id);
CREATE INDEX shipments_to_track ON shipments (track_at) WHERE track_at IS NOT NULL;

CREATE TABLE shipment_shares (
  share_id text PRIMARY KEY,
  brand_id text NOT NULL REFERENCES brands (id),
  campaign_id text REFERENCES campaigns (id),
  title text,
  campaign_name text,
  logo_url text,
  created_at timestamptz NOT NULL,
  revoked_at timestamptz
);
CREATE INDEX shipment_shares_of_brand ON shipment_shares (brand_id, created_at DESC);

-- Posts whose figures are tracked, and those figures day by day.
CREATE TABLE content (
  id text PRIMARY KEY,
  brand_id text NOT NULL REFERENCES brands (id),
  url text NOT NULL,
  -- The platform and the post's own id there: the same for every form of its address.
  canonical_key text NOT NULL,
  platform text NOT NULL,
  type text,
  creator_id text REFERENCES creators (id),
  campaign_id text REFERENCES campaigns (id),
  views bigint DEFAULT 0,
  likes bigint DEFAULT 0,
  comments bigint DEFAULT 0,
  shares bigint DEFAULT 0,
  saves bigint DEFAULT 0,
  followers bigint,
  caption text,
  posted_at timestamptz,
  paid_partnership boolean,
  status text NOT NULL CHECK (status IN ('tracking', 'refreshing')),
  tracked_at timestamptz NOT NULL,
  last_refreshed timestamptz,
  -- When a refresh was last requested: for an hour after that, another request does nothing.
  refresh_requested_at timestamptz,
  -- When the running refresh began, requested or scheduled.
  refresh_began_at timestamptz,
  refresh_error text,
  next_refresh_at timestamptz,
  deleted_at timestamptz
);
CREATE UNIQUE INDEX content_once ON content (brand_id, canonical_key) WHERE deleted_at IS NULL;
CREATE INDEX content_of_brand ON content (brand_id, tracked_at DESC, id DESC) WHERE deleted_at IS NULL;
CREATE INDEX content_to_refresh ON content (next_refresh_at) WHERE deleted_at IS NULL AND next_refresh_at IS NOT NULL;

CREATE INDEX content_being_refreshed ON content (refresh_began_at) WHERE status = 'refreshing';

CREATE TABLE content_metrics (
  content_id text NOT NULL REFERENCES content (id),
  date date NOT NULL,
  views bigint,
  likes bigint,
  comments bigint,
  shares bigint,
  saves bigint,
  PRIMARY KEY (content_id, date)
);

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

-- A file without an asset yet: recorded before its first byte is written, deleted by the change that makes the asset.
-- Rows that stay were given up, and their files are removed.
CREATE TABLE asset_uploads (
  storage_key text PRIMARY KEY,
  brand_id text NOT NULL REFERENCES brands (id),
  begun_at timestamptz NOT NULL,
  -- After that no asset can take it.
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
  -- {channels[], territory, days, starts}; json keeps the order of keys.
  rights json,
  rights_expires_at timestamptz,
  -- The last notice that the brand was sent: 14, 3 or 0 days before the end.
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
