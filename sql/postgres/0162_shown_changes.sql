-- Rows of many lists show their creator's email and name, and are given again when one of them changes.
ALTER TABLE creators ADD COLUMN renamed_at timestamptz;
CREATE INDEX creators_renamed ON creators (brand_id, renamed_at) WHERE renamed_at IS NOT NULL;
CREATE INDEX commissions_clawed_back ON commissions (brand_id, clawed_back_at) WHERE clawed_back_at IS NOT NULL;
