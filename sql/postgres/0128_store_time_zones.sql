-- The store's own time zone, which is offered for a brand in UTC. Null: the store did not say, or was connected before.
ALTER TABLE integrations ADD COLUMN time_zone text;
