-- A mail is judged once, before it goes out: it is admitted, waits, or is held back until an operator releases it.
ALTER TABLE mails
  DROP CONSTRAINT mails_state_check,
  ADD CONSTRAINT mails_state_check CHECK (state IN ('queued', 'sent', 'failed', 'suppressed', 'held')),
  -- When it was counted against the limits of its brand and address; null until then.
  ADD COLUMN admitted_at timestamptz,
  -- Why it waits or is held back.
  ADD COLUMN reason text CHECK (reason IN
    ('imitation', 'foreign_link', 'stranger_limit', 'invitation_limit', 'recipient_limit', 'brand_limit')),
  -- The address had never answered the brand; the mail says who sends it and how to stop it.
  ADD COLUMN to_stranger boolean NOT NULL DEFAULT false,
  ADD CHECK (state <> 'held' OR reason IS NOT NULL);
CREATE INDEX mails_admitted_of_brand ON mails (brand_id, admitted_at) WHERE admitted_at IS NOT NULL;
CREATE INDEX mails_admitted_to ON mails (lower(to_email), admitted_at) WHERE admitted_at IS NOT NULL;
-- The operator vouches for this brand's name and links.
ALTER TABLE brands ADD COLUMN mail_trusted_at timestamptz;
