-- When a click arrived here, for exports in increments. Earlier clicks have the time at which they happened.
ALTER TABLE clicks_v1 ADD COLUMN IF NOT EXISTS recorded_at DateTime64(3, 'UTC') DEFAULT at;
ALTER TABLE clicks_v1 ADD INDEX IF NOT EXISTS by_recorded recorded_at TYPE minmax GRANULARITY 1;
