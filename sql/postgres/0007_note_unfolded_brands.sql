-- Brands whose figures in ClickHouse lack what they had, because whoever folded them again did not get to the end.
CREATE TABLE unfolded_brands (
  brand_id text PRIMARY KEY REFERENCES brands (id),
  tried_at timestamptz NOT NULL
);
