-- The mails that a person of the brand has switched off.
ALTER TABLE people ADD COLUMN mails_off text[] NOT NULL DEFAULT '{}'
  CHECK (mails_off <@ array['applications', 'replies', 'contracts']);
