-- Figures by mail: reports of each period, and alerts about figures that leave their bounds. What is due is decided by the
-- row: one statement takes a period and moves on, in the transaction that queues its mails.
CREATE TABLE reports (
  id text PRIMARY KEY,
  brand_id text NOT NULL REFERENCES brands (id),
  name text,
  operation text NOT NULL,
  parameters jsonb NOT NULL,
  every text NOT NULL CHECK (every IN ('day', 'week', 'month')),
  -- The time of day of its mails, such as 08:00, in its time zone.
  at text NOT NULL,
  timezone text NOT NULL,
  recipients text[] NOT NULL,
  -- The first day after the period that is mailed next.
  ends_on date NOT NULL,
  -- When that period is mailed; later while its figures cannot be read.
  due_at timestamptz NOT NULL,
  sent_at timestamptz,
  error text,
  created_at timestamptz NOT NULL,
  updated_at timestamptz
);
CREATE INDEX reports_newest ON reports (brand_id, created_at DESC, id DESC);
CREATE INDEX reports_due ON reports (due_at);

-- "window" and "by" are words of SQL.
CREATE TABLE alerts (
  id text PRIMARY KEY,
  brand_id text NOT NULL REFERENCES brands (id),
  name text,
  metric text NOT NULL,
  dimension text,
  condition text NOT NULL CHECK (condition IN ('above', 'below', 'change_percent', 'unusual')),
  threshold double precision NOT NULL,
  span text NOT NULL CHECK (span IN ('hour', 'day', 'week')),
  currency text NOT NULL,
  timezone text NOT NULL,
  recipients text[] NOT NULL,
  -- The end of the window that is checked next.
  until_at timestamptz NOT NULL,
  due_at timestamptz NOT NULL,
  checked_at timestamptz,
  error text,
  created_at timestamptz NOT NULL,
  updated_at timestamptz,
  UNIQUE (brand_id, id)
);
CREATE INDEX alerts_newest ON alerts (brand_id, created_at DESC, id DESC);
CREATE INDEX alerts_due ON alerts (due_at);

-- What an alert has mailed and not ended. The key is empty if the alert is about the whole brand.
CREATE TABLE alert_firings (
  alert_id text NOT NULL,
  brand_id text NOT NULL REFERENCES brands (id),
  key text NOT NULL,
  began_at timestamptz NOT NULL,
  PRIMARY KEY (alert_id, key),
  FOREIGN KEY (brand_id, alert_id) REFERENCES alerts (brand_id, id) ON DELETE CASCADE
);
