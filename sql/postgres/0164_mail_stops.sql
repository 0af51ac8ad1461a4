-- What is left of a deleted mail, so that its link still stops the brand's mails: whose it was, and its address as a salted hash.
CREATE TABLE mail_stops (
  id text PRIMARY KEY,
  brand_id text NOT NULL REFERENCES brands,
  address text NOT NULL,
  forgotten_at timestamptz NOT NULL
);
CREATE INDEX mail_stops_forgotten ON mail_stops (forgotten_at);
