-- Whoever knows the address can send what no store has signed: it is counted, and says nothing of the store's health.
ALTER TABLE integration_failures
  ALTER COLUMN failures SET DEFAULT 0,
  ADD COLUMN forged integer NOT NULL DEFAULT 0;
-- When a delivery that the store had signed was refused last.
ALTER TABLE integrations ADD COLUMN last_failed_at timestamptz;
