-- The workflow that attribution stands on: brands, campaigns, creators, roster, applications; and what every
-- writing operation leaves behind: its idempotent answer, its audit line, its events.

ALTER TABLE brands
  ADD COLUMN logo text,
  ADD COLUMN contact_name text,
  ADD COLUMN contact_email text,
  ADD COLUMN website text,
  ADD COLUMN industry text,
  ADD COLUMN description text,
  ADD COLUMN auto_approve_commissions boolean NOT NULL DEFAULT false,
  -- Millionths: 12.5 % is 125000.
  ADD COLUMN default_commission_rate_ppm integer NOT NULL DEFAULT 0 CHECK (default_commission_rate_ppm BETWEEN 0 AND 1000000),
  ADD COLUMN currency text NOT NULL DEFAULT 'USD' CHECK (currency ~ '^[A-Z]{3}$');

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
  -- When its public profile was read; null while nobody knows the handle, which is then asked for again and again.
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
  creator_id text NOT NULL,
  creator_email text NOT NULL,
  creator_name text,
  creator_photo_app text,
  creator_video_app text,
  status text NOT NULL CHECK (status IN ('pending', 'accepted', 'rejected', 'shortlisted')),
  message text,
  portfolio_urls text[] NOT NULL DEFAULT '{}',
  note text,
  applied_at timestamptz NOT NULL,
  updated_at timestamptz,
  FOREIGN KEY (brand_id, campaign_id) REFERENCES campaigns (brand_id, id),
  FOREIGN KEY (brand_id, creator_id) REFERENCES creators (brand_id, id)
);
CREATE UNIQUE INDEX applications_once ON applications (campaign_id, lower(creator_email));
CREATE INDEX applications_newest ON applications (brand_id, applied_at DESC, id DESC);
CREATE INDEX applications_by_campaign ON applications (brand_id, campaign_id, applied_at DESC, id DESC);
CREATE INDEX applications_accepted ON applications (brand_id, creator_id) WHERE status = 'accepted';

-- The answer of a writing call, kept for a day under the caller's own key.
CREATE TABLE idempotency_keys (
  brand_id text NOT NULL REFERENCES brands (id),
  key text NOT NULL,
  request_hash bytea NOT NULL,
  answer bytea,
  created_at timestamptz NOT NULL,
  PRIMARY KEY (brand_id, key)
);
CREATE INDEX idempotency_keys_age ON idempotency_keys (created_at);

CREATE TABLE audit_log (
  id text PRIMARY KEY,
  brand_id text NOT NULL REFERENCES brands (id),
  key_id text REFERENCES api_keys (id),
  operation text NOT NULL,
  resource_id text NOT NULL,
  old_values jsonb,
  new_values jsonb,
  request_id text,
  at timestamptz NOT NULL
);
CREATE INDEX audit_log_newest ON audit_log (brand_id, at DESC, id DESC);
CREATE INDEX audit_log_by_resource ON audit_log (brand_id, resource_id, at DESC, id DESC);

-- Events in commit order. The head's row is taken as the last statement of a transaction and held until its commit,
-- so a brand's numbers have no gap and no number appears after a higher one was seen.
CREATE TABLE outbox_heads (
  brand_id text PRIMARY KEY REFERENCES brands (id),
  seq bigint NOT NULL
);
CREATE TABLE outbox (
  brand_id text NOT NULL REFERENCES brands (id),
  seq bigint NOT NULL,
  id text NOT NULL UNIQUE,
  event text NOT NULL,
  data jsonb NOT NULL,
  created_at timestamptz NOT NULL,
  PRIMARY KEY (brand_id, seq)
);
-- How far each consumer has come, brand by brand.
CREATE TABLE outbox_positions (
  consumer text NOT NULL,
  brand_id text NOT NULL REFERENCES brands (id),
  seq bigint NOT NULL,
  PRIMARY KEY (consumer, brand_id)
);
