-- What was bought in an order, as its store says: a row for the order, and one for each refund that names lines. Not sealed:
-- no payment depends on it.
CREATE TABLE order_items (
  brand_id text NOT NULL REFERENCES brands (id),
  integration_id text NOT NULL,
  order_id text NOT NULL,
  -- Empty: the lines of the order itself.
  refund_id text NOT NULL,
  items jsonb NOT NULL,
  -- The store's own time of the report; the newest counts.
  reported_at timestamptz NOT NULL,
  PRIMARY KEY (integration_id, order_id, refund_id),
  FOREIGN KEY (brand_id, integration_id) REFERENCES integrations (brand_id, id)
);
