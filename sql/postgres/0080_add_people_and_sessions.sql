-- The people of a brand, who sign in to its web app. A session of theirs is one more kind of key: hashed, revoked by
-- the same version of the same subscription, named in the audit log.

CREATE TABLE people (
  id text PRIMARY KEY,
  brand_id text NOT NULL REFERENCES brands (id),
  email text NOT NULL,
  name text,
  role text NOT NULL CHECK (role IN ('owner', 'manager', 'viewer')),
  created_at timestamptz NOT NULL,
  updated_at timestamptz,
  -- Kept after that: the audit log names them.
  removed_at timestamptz,
  UNIQUE (brand_id, id)
);
CREATE UNIQUE INDEX people_email ON people (brand_id, lower(email)) WHERE removed_at IS NULL;
CREATE INDEX people_by_email ON people (lower(email)) WHERE removed_at IS NULL;
CREATE INDEX people_newest ON people (brand_id, created_at DESC, id DESC);

ALTER TABLE api_keys
  ADD COLUMN person_id text,
  -- A key that another took the place of.
  ADD COLUMN replaced_by text REFERENCES api_keys (id),
  ADD FOREIGN KEY (brand_id, person_id) REFERENCES people (brand_id, id),
  DROP CONSTRAINT api_keys_kind_check,
  ADD CONSTRAINT api_keys_kind_check CHECK (kind IN ('brand', 'data', 'session')),
  ADD CONSTRAINT api_keys_person CHECK ((kind = 'session') = (person_id IS NOT NULL));
CREATE INDEX api_keys_person_sessions ON api_keys (person_id) WHERE person_id IS NOT NULL;

-- One-time links: used once, for minutes.
CREATE TABLE sign_in_links (
  id text PRIMARY KEY,
  brand_id text NOT NULL REFERENCES brands (id),
  person_id text NOT NULL,
  hash bytea NOT NULL UNIQUE,
  created_at timestamptz NOT NULL,
  expires_at timestamptz NOT NULL,
  used_at timestamptz,
  FOREIGN KEY (brand_id, person_id) REFERENCES people (brand_id, id)
);
CREATE INDEX sign_in_links_person ON sign_in_links (person_id, created_at DESC);

CREATE TABLE passkeys (
  id text PRIMARY KEY,
  brand_id text NOT NULL REFERENCES brands (id),
  person_id text NOT NULL,
  -- As the browser names it, base64url.
  credential_id text NOT NULL UNIQUE,
  public_key bytea NOT NULL,
  counter bigint NOT NULL,
  transports text[] NOT NULL DEFAULT '{}',
  rp_id text NOT NULL,
  name text NOT NULL,
  created_at timestamptz NOT NULL,
  last_used_at timestamptz,
  FOREIGN KEY (brand_id, person_id) REFERENCES people (brand_id, id)
);
CREATE INDEX passkeys_person ON passkeys (person_id, created_at DESC, id);

-- What a browser must answer, once and soon; also what a person was asked to sign in with.
CREATE TABLE passkey_challenges (
  id text PRIMARY KEY,
  challenge text NOT NULL,
  -- Null: for signing in, before anybody knows who.
  person_id text REFERENCES people (id),
  expires_at timestamptz NOT NULL
);
