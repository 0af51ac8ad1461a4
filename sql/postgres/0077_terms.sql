-- Terms as they were set, and what decides the commissions that they price. Columns are null for a percentage alone, so that rows
-- of before keep their seals.
CREATE TABLE terms (
  id text PRIMARY KEY,
  brand_id text NOT NULL REFERENCES brands (id),
  place text NOT NULL CHECK (place IN ('link', 'group', 'campaign', 'brand')),
  place_id text NOT NULL,
  terms jsonb NOT NULL,
  -- SHA-256 of the canonical text.
  hash text NOT NULL,
  created_at timestamptz NOT NULL,
  replaced_at timestamptz,
  UNIQUE (brand_id, id)
);
CREATE INDEX terms_of_place ON terms (brand_id, place, place_id, created_at DESC, id DESC);
CREATE TRIGGER note_written AFTER INSERT OR UPDATE OR DELETE ON terms
  FOR EACH ROW EXECUTE FUNCTION note_written(id);

ALTER TABLE links
  -- Its own terms; null: its percentage and whether it pays renewals are all.
  ADD COLUMN terms_id text,
  ADD CONSTRAINT links_terms FOREIGN KEY (brand_id, terms_id) REFERENCES terms (brand_id, id) NOT VALID;

ALTER TABLE customers ADD COLUMN terms_id text;

ALTER TABLE commissions
  ADD COLUMN terms_id text,
  -- What conditions are compared with, as it was when the order was decided.
  ADD COLUMN decided_facts jsonb,
  -- What other orders left of a cap or the budget, as it was when the order was first known as paid.
  ADD COLUMN room jsonb,
  ADD CONSTRAINT commissions_terms FOREIGN KEY (brand_id, terms_id) REFERENCES terms (brand_id, id) NOT VALID;

-- What each rule of its terms decided of a commission.
CREATE TABLE commission_parts (
  brand_id text NOT NULL REFERENCES brands (id),
  commission_id text NOT NULL,
  -- The number of the rule from 0, or `base`.
  rule text NOT NULL,
  name text,
  amount_minor bigint NOT NULL,
  refunded_minor bigint NOT NULL,
  commission_minor bigint NOT NULL,
  PRIMARY KEY (commission_id, rule)
);
CREATE TRIGGER note_written AFTER INSERT OR UPDATE OR DELETE ON commission_parts
  FOR EACH ROW EXECUTE FUNCTION note_written(commission_id, rule);
