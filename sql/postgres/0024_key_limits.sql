-- What a key may spend, how often it may call, from where, and within which filters; null for no limits.
ALTER TABLE api_keys ADD COLUMN limits jsonb;
CREATE INDEX api_keys_limited ON api_keys (subscription_id) WHERE limits IS NOT NULL;
