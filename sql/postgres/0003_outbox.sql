-- What a transaction leaves behind: events in commit order, the webhooks that deliver them, and mails.

-- A brand's last numbers: one row, locked until the commit of whoever takes them, so that a brand's numbers have no gap and
-- none appears after a higher one. Its key moves on with each change: while a snapshot is held (a CSV, pg_dump), old
-- versions of the row and their index entries stay. The newest is found from the key's end and its uniqueness is checked
-- under a key of its own, so that no statement walks the others.
CREATE TABLE outbox_numbers (
  brand_id text NOT NULL REFERENCES brands (id),
  version bigint NOT NULL DEFAULT 0,
  seq bigint NOT NULL DEFAULT 0,
  -- Of the ledger's last entry.
  ledger_seq bigint NOT NULL DEFAULT 0,
  ledger_hash bytea,
  ledger_recorded_at timestamptz,
  -- Of the last seal.
  seal_seq bigint NOT NULL DEFAULT 0,
  seal_hash bytea,
  -- When an event or an entry was last written. Those who follow them ask for brands that moved, not for every brand.
  moved_at timestamptz,
  PRIMARY KEY (brand_id, version)
);
CREATE INDEX outbox_numbers_moved ON outbox_numbers (moved_at);

-- A brand has its one row from the start: of two transactions that would each insert the first, neither would see the other's.
CREATE FUNCTION begin_outbox_numbers() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO outbox_numbers (brand_id) VALUES (NEW.id);
  RETURN NULL;
END $$;
CREATE TRIGGER outbox_numbers_begin AFTER INSERT ON brands FOR EACH ROW EXECUTE FUNCTION begin_outbox_numbers();

CREATE TABLE outbox (
  brand_id text NOT NULL REFERENCES brands (id),
  seq bigint NOT NULL,
  id text NOT NULL UNIQUE,
  event text NOT NULL,
  -- These bytes are sent as they are: jsonb would sort the keys.
  data json NOT NULL,
  created_at timestamptz NOT NULL,
  PRIMARY KEY (brand_id, seq)
);
CREATE INDEX outbox_by_time ON outbox (brand_id, created_at);

-- How far each consumer has come, brand by brand.
CREATE TABLE outbox_positions (
  consumer text NOT NULL,
  brand_id text NOT NULL REFERENCES brands (id),
  seq bigint NOT NULL,
  PRIMARY KEY (consumer, brand_id)
);

-- Where a brand's events are sent. A deleted subscription stays as long as its deliveries do.
CREATE TABLE webhook_subscriptions (
  id text PRIMARY KEY,
  brand_id text NOT NULL REFERENCES brands (id),
  variant text NOT NULL CHECK (variant IN ('current', 'legacy')),
  url text NOT NULL,
  events text[] NOT NULL,
  -- Sealed under the subscription's id.
  secret bytea NOT NULL,
  secret_hint text NOT NULL,
  previous_secret bytea,
  previous_secret_expires_at timestamptz,
  description text,
  active boolean NOT NULL DEFAULT true,
  -- Why it is not active: the brand switched it off, or it failed for three days.
  disabled_reason text CHECK (disabled_reason IN ('brand', 'failures')),
  failing_since timestamptz,
  failures_in_row integer NOT NULL DEFAULT 0,
  first_failed_at timestamptz,
  -- Whether its newest attempt had no answer: it is then served apart from those that answer.
  is_slow boolean NOT NULL DEFAULT false,
  -- It receives only events after this number of the brand's outbox.
  from_seq bigint NOT NULL,
  last_triggered_at timestamptz,
  last_status_code integer,
  created_at timestamptz NOT NULL,
  updated_at timestamptz,
  deleted_at timestamptz,
  UNIQUE (brand_id, id)
);
CREATE INDEX webhook_subscriptions_newest ON webhook_subscriptions (brand_id, created_at DESC, id DESC)
  WHERE deleted_at IS NULL;

CREATE TABLE webhook_deliveries (
  id text PRIMARY KEY,
  brand_id text NOT NULL,
  subscription_id text NOT NULL,
  event_id text NOT NULL,
  seq bigint,
  event text NOT NULL,
  resend integer NOT NULL DEFAULT 0,
  -- What it carries where that is not the event's data unchanged: a test's sample, or the item in its older form.
  own_data json,
  state text NOT NULL CHECK (state IN ('pending', 'delivered', 'failed', 'cancelled')),
  -- How many attempts began, and how many of these ended with the process that made them.
  attempts integer NOT NULL DEFAULT 0,
  lost_attempts integer NOT NULL DEFAULT 0,
  next_attempt_at timestamptz,
  -- A worker attempts it until then; past that time the attempts count as lost.
  claimed_until timestamptz,
  last_status_code integer,
  last_error text,
  created_at timestamptz NOT NULL,
  finished_at timestamptz,
  UNIQUE (subscription_id, event_id, resend),
  FOREIGN KEY (brand_id, subscription_id) REFERENCES webhook_subscriptions (brand_id, id)
);
CREATE INDEX webhook_deliveries_due ON webhook_deliveries (subscription_id, next_attempt_at, seq)
  WHERE state = 'pending';
-- Workers ask twice a second whether any delivery is due, however many wait for a later attempt.
CREATE INDEX webhook_deliveries_next ON webhook_deliveries (next_attempt_at) WHERE state = 'pending';
CREATE INDEX webhook_deliveries_claimed ON webhook_deliveries (subscription_id, claimed_until)
  WHERE state = 'pending' AND claimed_until IS NOT NULL;
CREATE INDEX webhook_deliveries_newest ON webhook_deliveries (brand_id, subscription_id, created_at DESC, id DESC);
CREATE INDEX webhook_deliveries_finished ON webhook_deliveries (finished_at) WHERE finished_at IS NOT NULL;

CREATE TABLE webhook_attempts (
  delivery_id text NOT NULL REFERENCES webhook_deliveries (id) ON DELETE CASCADE,
  n integer NOT NULL,
  started_at timestamptz NOT NULL,
  duration_ms integer NOT NULL,
  outcome text NOT NULL CHECK (outcome IN ('answered', 'timeout', 'network', 'tls', 'refused', 'unknown')),
  status_code integer,
  error text,
  response_excerpt text,
  PRIMARY KEY (delivery_id, n)
);
CREATE INDEX webhook_attempts_by_time ON webhook_attempts (started_at);

-- Mails to creators and brands, written in the transaction of the change that they are about; a worker sends what is due.
CREATE TABLE mails (
  id text PRIMARY KEY,
  brand_id text NOT NULL REFERENCES brands,
  kind text NOT NULL,
  to_email text NOT NULL,
  creator_id text,
  -- What the mail is about, such as a brief's id. A kind goes to an address once for each.
  subject_row text NOT NULL,
  -- What fills the template. Links are not part of it: they are made when the mail is sent.
  params json NOT NULL,
  -- A mail is judged once, before it goes out: it is admitted, waits, or is held until an operator releases it.
  state text NOT NULL CHECK (state IN ('queued', 'sent', 'failed', 'suppressed', 'held')),
  -- When it was counted against the limits of its brand and address; null until then.
  admitted_at timestamptz,
  -- Why it waits or is held.
  reason text CHECK (reason IN
    ('imitation', 'foreign_link', 'stranger_limit', 'invitation_limit', 'recipient_limit', 'brand_limit')),
  -- The address had never answered the brand; the mail says who sends it and how to stop it.
  to_stranger boolean NOT NULL DEFAULT false,
  attempts int NOT NULL DEFAULT 0,
  -- When the next attempt is due; null when there is none.
  next_attempt_at timestamptz,
  claimed_until timestamptz,
  message_id text,
  error text,
  created_at timestamptz NOT NULL,
  sent_at timestamptz,
  CHECK ((state = 'queued') = (next_attempt_at IS NOT NULL)),
  CHECK (state <> 'held' OR reason IS NOT NULL)
);
CREATE UNIQUE INDEX mails_once ON mails (kind, subject_row, lower(to_email));
CREATE INDEX mails_due ON mails (next_attempt_at) WHERE state = 'queued';
CREATE INDEX mails_listed ON mails (brand_id, created_at DESC, id DESC);
CREATE INDEX mails_state ON mails (state);
CREATE INDEX mails_admitted_of_brand ON mails (brand_id, admitted_at) WHERE admitted_at IS NOT NULL;
CREATE INDEX mails_admitted_to ON mails (lower(to_email), admitted_at) WHERE admitted_at IS NOT NULL;
-- Finished mails are deleted after a time.
CREATE INDEX mails_done ON mails (coalesce(sent_at, created_at)) WHERE state IN ('sent', 'suppressed');

-- Addresses that unsubscribed from a brand's mails.
CREATE TABLE mail_suppressions (
  brand_id text NOT NULL REFERENCES brands,
  email text NOT NULL,
  created_at timestamptz NOT NULL,
  PRIMARY KEY (brand_id, email)
);
