-- Hosts of agents refresh one grant from several sessions: a token goes on living when the next is issued.
CREATE TABLE access_tokens (
  hash bytea PRIMARY KEY,
  key_id text NOT NULL REFERENCES api_keys (id) ON DELETE CASCADE,
  expires_at timestamptz NOT NULL
);
CREATE INDEX access_tokens_key ON access_tokens (key_id, expires_at);
CREATE TABLE spent_refresh_tokens (
  hash bytea PRIMARY KEY,
  grant_id text NOT NULL REFERENCES agent_grants (id) ON DELETE CASCADE,
  spent_at timestamptz NOT NULL,
  -- The refresh token that was answered, sealed under the one that was sent.
  sealed_next bytea NOT NULL
);
CREATE INDEX spent_refresh_tokens_grant ON spent_refresh_tokens (grant_id, spent_at);
