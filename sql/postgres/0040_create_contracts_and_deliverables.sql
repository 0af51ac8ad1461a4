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
  -- Null: asked for outside of any contract.
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
  -- How often something was submitted.
  version integer NOT NULL DEFAULT 0,
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
  -- What became of this version.
  feedback text,
  UNIQUE (deliverable_id, n),
  FOREIGN KEY (brand_id, deliverable_id) REFERENCES deliverables (brand_id, id)
);
