-- An order that its store deleted before it told of it, and until when the refunds that it has were all told.
ALTER TABLE order_heads ADD COLUMN deleted_at timestamptz;
ALTER TABLE order_heads ADD COLUMN refunds_listed_at timestamptz;

-- A refund that a newer list lacks was taken back. One in another currency than its order's does not count.
ALTER TABLE order_refunds ADD COLUMN told_at timestamptz;
ALTER TABLE order_refunds ADD COLUMN currency text;

-- How much of it was known when its commission was paid: the rest is taken back, not prorated. Null, from before this was
-- kept: all of it or nothing, as after_payment says.
ALTER TABLE order_refunds ADD COLUMN prorated_minor bigint;

-- Codes that assignments had before, and until when: an order counts for whose code it was as the order was placed.
CREATE TABLE link_past_codes (
  brand_id text NOT NULL REFERENCES brands (id),
  link_id text NOT NULL,
  code text NOT NULL,
  until timestamptz NOT NULL,
  PRIMARY KEY (link_id, code, until),
  FOREIGN KEY (brand_id, link_id) REFERENCES links (brand_id, id)
);
CREATE INDEX link_past_codes_by_code ON link_past_codes (brand_id, lower(code), until);
