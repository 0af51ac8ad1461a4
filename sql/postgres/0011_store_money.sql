-- What stores say of money beyond goods and refunds. Null where nothing was said, so that rows of before keep their seals.

-- Whether the assignment earns on renewals of a subscription; null: it does not.
ALTER TABLE links ADD COLUMN pays_renewals boolean;

ALTER TABLE orders
  -- Placed to try the store: it pays nobody.
  ADD COLUMN is_test boolean,
  -- A later order of a subscription.
  ADD COLUMN is_renewal boolean,
  -- Since when the customer's bank has taken the money back; null while no dispute is lost.
  ADD COLUMN dispute_lost_at timestamptz;

-- What a customer's bank disputes, by dispute; one may be reported before its order.
CREATE TABLE order_disputes (
  brand_id text NOT NULL REFERENCES brands (id),
  integration_id text NOT NULL,
  order_id text NOT NULL,
  dispute_id text NOT NULL,
  status text NOT NULL CHECK (status IN ('open', 'won', 'lost')),
  -- When the store last reported it: of two reports the newer counts.
  told_at timestamptz NOT NULL,
  -- When it was first reported as lost.
  lost_at timestamptz,
  created_at timestamptz NOT NULL,
  PRIMARY KEY (integration_id, order_id, dispute_id),
  FOREIGN KEY (brand_id, integration_id) REFERENCES integrations (brand_id, id)
);
CREATE TRIGGER note_written AFTER INSERT OR UPDATE OR DELETE ON order_disputes
  FOR EACH ROW EXECUTE FUNCTION note_written(integration_id, order_id, dispute_id);

-- Orders of Shopify that paid nobody, and when their customer's journey is asked for next. Not sealed: what follows from it is.
CREATE TABLE order_journeys (
  order_id text PRIMARY KEY,
  brand_id text NOT NULL REFERENCES brands (id),
  integration_id text NOT NULL,
  store_order_id text NOT NULL,
  -- How often the store answered.
  answers integer NOT NULL DEFAULT 0,
  due_at timestamptz NOT NULL,
  FOREIGN KEY (brand_id, order_id) REFERENCES orders (brand_id, id),
  FOREIGN KEY (brand_id, integration_id) REFERENCES integrations (brand_id, id)
);
CREATE INDEX order_journeys_due ON order_journeys (due_at);
