-- Mails to creators and brands. Written in the transaction of the change that they tell of; a worker sends what is due.
CREATE TABLE mails (
  id text PRIMARY KEY,
  brand_id text NOT NULL REFERENCES brands,
  kind text NOT NULL,
  to_email text NOT NULL,
  creator_id text,
  -- What the mail is about, such as a brief's id. With the kind and the address it is written once.
  subject_row text NOT NULL,
  -- What the template is filled with. A link is no part of it: it is made when the mail is sent.
  params json NOT NULL,
  state text NOT NULL CHECK (state IN ('queued', 'sent', 'failed', 'suppressed')),
  attempts int NOT NULL DEFAULT 0,
  -- When the next try is due; null when there is none.
  next_attempt_at timestamptz,
  claimed_until timestamptz,
  message_id text,
  error text,
  created_at timestamptz NOT NULL,
  sent_at timestamptz,
  CHECK ((state = 'queued') = (next_attempt_at IS NOT NULL))
);
CREATE UNIQUE INDEX mails_once ON mails (kind, subject_row, lower(to_email));
CREATE INDEX mails_due ON mails (next_attempt_at) WHERE state = 'queued';
CREATE INDEX mails_listed ON mails (brand_id, created_at DESC, id DESC);
CREATE INDEX mails_state ON mails (state);

-- Addresses that want no more mail of a brand.
CREATE TABLE mail_suppressions (
  brand_id text NOT NULL REFERENCES brands,
  email text NOT NULL,
  created_at timestamptz NOT NULL,
  PRIMARY KEY (brand_id, email)
);
