-- Creators who opted out of the directory. Nothing here names them: values are stored as hashes under a key of their own.

-- Sealed under the installation's secret, so that it survives a new one.
CREATE TABLE directory_forgotten_key (
  only_one boolean PRIMARY KEY DEFAULT true CHECK (only_one),
  key bytea NOT NULL
);

CREATE TABLE directory_forgotten (
  id text PRIMARY KEY,
  -- What was named; a pk or a username names one creator, an e-mail everyone who shows it.
  named text NOT NULL CHECK (named IN ('pk', 'username', 'email')),
  reason text NOT NULL,
  requested_by text NOT NULL CHECK (requested_by IN ('operator', 'page')),
  created_at timestamptz NOT NULL,
  -- When every version that was kept had lost them; null until then.
  finished_at timestamptz,
  -- When an operator took it back. Its hashes are gone then.
  remembered_at timestamptz,
  -- The pks that were found, sealed JSON; null before the first was.
  pks bytea,
  -- What was removed: the index and how many creators.
  removed jsonb NOT NULL DEFAULT '[]',
  -- What brands keep of them: the brand's and the creator's ids. It is the brands', and stays.
  kept jsonb NOT NULL DEFAULT '[]'
);
CREATE INDEX directory_forgotten_newest ON directory_forgotten (created_at DESC, id DESC);
CREATE INDEX directory_forgotten_unfinished ON directory_forgotten (created_at) WHERE finished_at IS NULL;

CREATE TABLE directory_forgotten_hashes (
  forgotten_id text NOT NULL REFERENCES directory_forgotten (id),
  kind text NOT NULL CHECK (kind IN ('pk', 'username', 'email')),
  hash bytea NOT NULL,
  -- 24 bits under the key, which tell most rows of an import apart without the hash.
  tag integer NOT NULL,
  is_named boolean NOT NULL,
  PRIMARY KEY (forgotten_id, kind, hash)
);
CREATE UNIQUE INDEX directory_forgotten_named ON directory_forgotten_hashes (kind, hash) WHERE is_named;

-- How many creators opt-outs have taken from the index; `documents` no longer counts them.
ALTER TABLE directory_imports ADD COLUMN forgotten bigint NOT NULL DEFAULT 0;

-- Requests on the page: a link is mailed to the address, and its button opts out. Rows go when their links end.
CREATE TABLE directory_forget_requests (
  id text PRIMARY KEY,
  email bytea NOT NULL,
  -- Bounds the mails to one address.
  address_hash bytea NOT NULL,
  created_at timestamptz NOT NULL,
  expires_at timestamptz NOT NULL,
  attempts integer NOT NULL DEFAULT 0,
  -- When the mail is due; null once it is sent or given up.
  next_attempt_at timestamptz
);
CREATE INDEX directory_forget_requests_due ON directory_forget_requests (next_attempt_at) WHERE next_attempt_at IS NOT NULL;
CREATE INDEX directory_forget_requests_address ON directory_forget_requests (address_hash, created_at);
CREATE INDEX directory_forget_requests_expired ON directory_forget_requests (expires_at);
