-- Codes that no store is known to have, and of which their creators are told once an order brings them.
CREATE TABLE untold_codes (
  link_id text PRIMARY KEY REFERENCES links (id) ON DELETE CASCADE,
  brand_id text NOT NULL REFERENCES brands (id),
  created_at timestamptz NOT NULL
);
