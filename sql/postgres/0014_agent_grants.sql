-- What an owner allowed a host of agents, by OAuth. Its access token is one API key, renewed in place.
CREATE TABLE agent_grants (
  id text PRIMARY KEY,
  brand_id text NOT NULL REFERENCES brands (id),
  person_id text NOT NULL,
  -- SHA-256 of the client id; the id itself says the client's name and addresses.
  client_hash bytea NOT NULL,
  client_name text NOT NULL,
  redirect_uri text NOT NULL,
  -- Toolsets, and `readonly`.
  scopes text[] NOT NULL,
  code_hash bytea NOT NULL UNIQUE,
  code_challenge text NOT NULL,
  code_expires_at timestamptz NOT NULL,
  code_used_at timestamptz,
  key_id text UNIQUE REFERENCES api_keys (id),
  refresh_hash bytea UNIQUE,
  -- Used once already: whoever sends it again has stolen it, or was stolen from.
  spent_refresh_hash bytea,
  refresh_expires_at timestamptz,
  created_at timestamptz NOT NULL,
  FOREIGN KEY (brand_id, person_id) REFERENCES people (brand_id, id)
);
CREATE INDEX agent_grants_brand ON agent_grants (brand_id, created_at);
CREATE INDEX agent_grants_spent ON agent_grants (spent_refresh_hash) WHERE spent_refresh_hash IS NOT NULL;
