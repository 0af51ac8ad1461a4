-- Where a brand's events are sent. A deleted one stays as long as its deliveries do.
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
  -- Whether its newest attempt was left unanswered: it is then served apart from those that answer.
  is_slow boolean NOT NULL DEFAULT false,
  -- Only events after this number of the brand's outbox are its.
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
  -- Its body is the outbox row's; a test's own stands here.
  event_id text NOT NULL,
  seq bigint,
  event text NOT NULL,
  resend integer NOT NULL DEFAULT 0,
  test_data json,
  state text NOT NULL CHECK (state IN ('pending', 'delivered', 'failed', 'cancelled')),
  -- How many were begun, and how many of these ended with the process that made them.
  attempts integer NOT NULL DEFAULT 0,
  lost_attempts integer NOT NULL DEFAULT 0,
  next_attempt_at timestamptz,
  -- Somebody attempts it until then; whoever finds it past has lost them.
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
