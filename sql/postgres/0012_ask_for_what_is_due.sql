-- When a brand last put anything into its outbox or ledger: whoever follows them asks for those, not for every brand.
ALTER TABLE outbox_heads ADD COLUMN moved_at timestamptz;
CREATE INDEX outbox_heads_moved ON outbox_heads (moved_at);

-- Charges on their way are looked for where a key was used of late.
CREATE INDEX api_keys_used ON api_keys (last_used_at) WHERE kind = 'data';

-- Whether Redis is known to have this version of the subscription.
ALTER TABLE subscriptions ADD COLUMN in_redis boolean NOT NULL DEFAULT false;
CREATE INDEX subscriptions_not_in_redis ON subscriptions (id) WHERE NOT in_redis;
