-- What a brand asks creators for, and who was sent it.

CREATE TABLE briefs (
  id text PRIMARY KEY,
  brand_id text NOT NULL REFERENCES brands (id),
  campaign_id text,
  creator_id text,
  title text NOT NULL,
  status text NOT NULL CHECK (status IN ('draft', 'sent', 'in_progress', 'completed')),
  content_type text,
  platform text,
  instructions text,
  talking_points text[] NOT NULL DEFAULT '{}',
  do_not text[] NOT NULL DEFAULT '{}',
  mood_board_urls text[] NOT NULL DEFAULT '{}',
  due_date date,
  sent_at timestamptz,
  first_viewed_at timestamptz,
  completed_at timestamptz,
  link_version integer NOT NULL DEFAULT 1,
  created_at timestamptz NOT NULL,
  updated_at timestamptz,
  UNIQUE (brand_id, id),
  FOREIGN KEY (brand_id, creator_id) REFERENCES creators (brand_id, id),
  FOREIGN KEY (brand_id, campaign_id) REFERENCES campaigns (brand_id, id)
);
CREATE INDEX briefs_newest ON briefs (brand_id, created_at DESC, id DESC);
CREATE INDEX briefs_open ON briefs (brand_id, campaign_id) WHERE status IN ('sent', 'in_progress');

CREATE TABLE brief_recipients (
  brand_id text NOT NULL,
  brief_id text NOT NULL,
  creator_id text NOT NULL,
  email text NOT NULL,
  sent_at timestamptz NOT NULL,
  viewed_at timestamptz,
  PRIMARY KEY (brief_id, creator_id),
  FOREIGN KEY (brand_id, brief_id) REFERENCES briefs (brand_id, id) ON DELETE CASCADE,
  FOREIGN KEY (brand_id, creator_id) REFERENCES creators (brand_id, id)
);
