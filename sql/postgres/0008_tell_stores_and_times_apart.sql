-- When its store first told that an order was cancelled: one that tells no time of it tells that of each later edit.
ALTER TABLE orders ADD COLUMN first_cancelled_at timestamptz;

-- From when on an assignment had a code that it had before: an order placed earlier does not count for it. Null: as long
-- as there was the assignment, or from before this was kept.
ALTER TABLE link_past_codes ADD COLUMN since timestamptz;

-- Several stores may share a host, and a store may move to another one.
DROP INDEX integrations_store;
CREATE INDEX integrations_store ON integrations (brand_id, provider, base_url);
