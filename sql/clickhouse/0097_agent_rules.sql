-- The rule that decided if a program made the click; empty where none did, and for earlier clicks.
ALTER TABLE clicks_v1 ADD COLUMN IF NOT EXISTS rule LowCardinality(String);
