-- Null: a statement of before, with UTC days; its seal stays as it is.
ALTER TABLE statements ADD COLUMN time_zone text;
-- Schedules of before ran at midnight UTC.
ALTER TABLE export_schedules ADD COLUMN time_zone text NOT NULL DEFAULT 'UTC';
