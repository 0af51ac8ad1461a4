-- Customers whom creators brought: who earns on the later orders of a subscription or of a customer, and by which terms.
CREATE TABLE customers (
  id text PRIMARY KEY,
  brand_id text NOT NULL REFERENCES brands (id),
  link_id text NOT NULL,
  creator_id text NOT NULL,
  -- Copied when the row was made: later changes of the link are for later customers.
  terms jsonb NOT NULL,
  origin text NOT NULL CHECK (origin IN ('order', 'lead', 'hand', 'import')),
  first_order_id text,
  -- Of its first order, by id and SKU.
  products text[] NOT NULL,
  customer_email text,
  since timestamptz NOT NULL,
  ended_at timestamptz,
  reason text,
  created_at timestamptz NOT NULL,
  updated_at timestamptz,
  UNIQUE (brand_id, id),
  FOREIGN KEY (brand_id, link_id) REFERENCES links (brand_id, id),
  FOREIGN KEY (brand_id, creator_id) REFERENCES creators (brand_id, id),
  FOREIGN KEY (brand_id, first_order_id) REFERENCES orders (brand_id, id) DEFERRABLE INITIALLY DEFERRED
);
CREATE INDEX customers_newest ON customers (brand_id, created_at DESC, id DESC);
CREATE INDEX customers_by_creator ON customers (brand_id, creator_id);
CREATE INDEX customers_by_link ON customers (brand_id, link_id);
CREATE INDEX customers_by_first_order ON customers (brand_id, first_order_id);

-- Everything by which a customer is recognized. Ids of customers and addresses are keyed hashes.
CREATE TABLE customer_keys (
  brand_id text NOT NULL REFERENCES brands (id),
  customer_id text NOT NULL,
  kind text NOT NULL CHECK (kind IN ('subscription', 'customer_id', 'email')),
  -- Of a subscription: its store and its id there.
  key text NOT NULL,
  PRIMARY KEY (customer_id, kind, key),
  FOREIGN KEY (brand_id, customer_id) REFERENCES customers (brand_id, id)
);
CREATE INDEX customer_keys_by_key ON customer_keys (brand_id, kind, key);

CREATE TRIGGER note_written AFTER INSERT OR UPDATE OR DELETE ON customers
  FOR EACH ROW EXECUTE FUNCTION note_written(id);
CREATE TRIGGER note_written AFTER INSERT OR UPDATE OR DELETE ON customer_keys
  FOR EACH ROW EXECUTE FUNCTION note_written(customer_id, kind, key);

ALTER TABLE orders
  -- The customer whom it belongs to: who decided it, whom it began, or who kept it from paying.
  ADD COLUMN customer_id text,
  ADD CONSTRAINT orders_customer FOREIGN KEY (brand_id, customer_id) REFERENCES customers (brand_id, id) NOT VALID;

-- Null: `order_wins`.
ALTER TABLE attribution_rules ADD COLUMN customer_policy text CHECK (customer_policy IN ('order_wins', 'customer_wins'));
