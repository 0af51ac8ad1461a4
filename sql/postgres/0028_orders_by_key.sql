-- A shop whose orders are reported with a key of the brand's, by its name. Null for a store that is connected.
ALTER TABLE integrations ADD COLUMN source_name text;
CREATE UNIQUE INDEX integrations_by_source ON integrations (brand_id, source_name) WHERE source_name IS NOT NULL;
