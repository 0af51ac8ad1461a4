-- The page that each creator keeps, and the mail of what was approved in a week.

-- Incrementing it revokes the links to the creator's page.
ALTER TABLE creators ADD COLUMN link_version integer NOT NULL DEFAULT 1;

-- Creators with commissions that were approved in the week before due_at, until they are mailed.
CREATE TABLE approvals_to_mail (
  brand_id text NOT NULL REFERENCES brands (id),
  creator_id text NOT NULL REFERENCES creators (id),
  due_at timestamptz NOT NULL,
  PRIMARY KEY (creator_id, due_at)
);
CREATE INDEX approvals_to_mail_due ON approvals_to_mail (due_at, creator_id);
