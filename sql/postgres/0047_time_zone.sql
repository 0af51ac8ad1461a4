-- The IANA time zone of the brand, in which the app shows times and a campaign's deadline ends.
ALTER TABLE brands ADD COLUMN time_zone text NOT NULL DEFAULT 'UTC';
